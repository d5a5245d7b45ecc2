// Formats numbers, scores and verdicts for display.
import type { Line, Report, Verdict } from './protocol';
import type { Color } from './rules';

export function count(number: number): string {
  if (number < 10_000) return number.toLocaleString('en-GB');
  if (number < 1_000_000) return `${(number / 1000).toFixed(number < 100_000 ? 1 : 0)}k`;
  return `${(number / 1_000_000).toFixed(number < 10_000_000 ? 2 : 1)}M`;
}

export function signed(number: number, digits: number): string {
  const text = Math.abs(number).toFixed(digits);
  return number < 0 && Number(text) !== 0 ? `−${text}` : `+${text}`;
}

export function percent(share: number): string {
  return `${(100 * share).toFixed(share < 0.0995 ? 1 : 0)}%`;
}

/** A score in pawns, or a mate. */
export function score(cp: number, mate: number | null): string {
  if (mate !== null) return mate < 0 ? `−#${-mate}` : `#${mate}`;
  return signed(cp / 100, Math.abs(cp) >= 1000 ? 1 : 2);
}

/** How many moves of a line are shown: all that lead to a proven mate, else the first ones. */
export function shownMoves(line: Line): number {
  return line.mate === null ? 14 : line.moves.length;
}

/** A verdict in words, for the side to move. */
export function verdictText(state: Verdict, plies: number | null): string {
  switch (state) {
    case 'unknown':
      return '';
    case 'win':
      return plies === null ? 'win' : `win in ${Math.ceil(plies / 2)}`;
    case 'loss':
      return plies === null ? 'loss' : `loss in ${Math.floor(plies / 2)}`;
    case 'draw':
      return 'draw';
    case 'tb-win':
      return 'tablebase win';
    case 'tb-loss':
      return 'tablebase loss';
    case 'tb-draw':
      return 'tablebase draw';
  }
}

/** A score for White from one for the side to move. */
export function forWhite(turn: Color, number: number): number {
  return turn === 'white' ? number : -number;
}

/** The score of the best line for White. */
export function whiteScore(report: Report, turn: Color): { cp: number; mate: number | null; value: number } {
  const line: Line | undefined = report.lines[0];
  const mate = report.solved?.mate ?? line?.mate ?? null;
  return {
    cp: forWhite(turn, line?.cp ?? report.cp ?? 0),
    mate: mate === null ? null : forWhite(turn, mate),
    value: forWhite(turn, line?.value ?? report.value),
  };
}

/** The number before a move: of every move of White, and of one of Black where the text begins with it. */
export function moveNumber(ply: number, isFirst: boolean): string {
  const isWhite = ply % 2 === 0;
  return isWhite || isFirst ? `${Math.floor(ply / 2) + 1}${isWhite ? '.' : '…'}` : '';
}

export function megabytes(bytes: number): string {
  return `${(bytes / (1 << 20)).toFixed(bytes < 10 << 20 ? 1 : 0)} MB`;
}

export function clockText(seconds: number): string {
  const left = Math.max(0, seconds);
  if (left < 10) return left.toFixed(1);
  const whole = Math.ceil(left);
  const hours = Math.floor(whole / 3600);
  const minutes = Math.floor((whole % 3600) / 60);
  const rest = String(whole % 60).padStart(2, '0');
  return hours ? `${hours}:${String(minutes).padStart(2, '0')}:${rest}` : `${minutes}:${rest}`;
}
