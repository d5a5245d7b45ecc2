// Splits the text of a PGN file into games. Each game keeps its text as it came; headers are read here, the
// moves are read by `pgn.ts` when the game is opened. Knows nothing of the rules.

export interface PgnEntry {
  /** The game as it came. */
  text: string;
  /** As they are written, with their escapes: some programs write quotes without. */
  headers: Record<string, string>;
  /** The moves without headers, with all comments in braces. */
  moves: string;
}

const HEADER = /^\s*\[\s*([A-Za-z0-9][A-Za-z0-9_+#=:-]*)\s+"(.*)"\s*\]\s*$/;
const RESULT = /(?:1-0|0-1|1\/2-1\/2|\*)\s*$/;

/** The games of a text. Text without headers or moves is none. */
export function splitPgn(text: string): PgnEntry[] {
  const found: PgnEntry[] = [];
  let lines: string[] = [];
  let moves: string[] = [];
  let headers: Record<string, string> = {};
  let isOpen = false; // inside a comment
  let isEnded = false; // the moves end with a result

  const finish = (): void => {
    if (moves.length || Object.keys(headers).length)
      found.push({ text: `${lines.join('\n').trim()}\n`, headers, moves: moves.join('\n') });
    lines = [];
    moves = [];
    headers = {};
    isEnded = false;
  };

  for (const line of text.replace(/^\uFEFF/, '').split(/\r\n|\n|\r/)) {
    const header = isOpen ? null : HEADER.exec(line);
    if (header && moves.length) finish();
    if (header) headers[header[1] ?? ''] = header[2] ?? '';
    else if (isOpen || (line.trim() && !line.startsWith('%'))) {
      if (!isOpen && isEnded) finish();
      const read = braced(line, isOpen);
      isOpen = read.isOpen;
      moves.push(read.text);
    } else if (!line.trim()) isEnded = !!moves.length && RESULT.test(moves.at(-1) ?? '');
    lines.push(line);
  }
  finish();
  return found;
}

/** A line of moves with a comment after a semicolon put in braces, and whether a brace stays open. */
function braced(line: string, wasOpen: boolean): { text: string; isOpen: boolean } {
  let isOpen = wasOpen;
  for (let at = 0; at < line.length; at++) {
    const sign = line[at];
    if (isOpen) isOpen = sign !== '}';
    else if (sign === '{') isOpen = true;
    else if (sign === ';') {
      const comment = line
        .slice(at + 1)
        .replaceAll('}', ')')
        .trim();
      return { text: `${line.slice(0, at)}{${comment}}`, isOpen: false };
    }
  }
  return { text: line, isOpen };
}
