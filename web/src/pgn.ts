// Reads and writes the PGN of a game. What came in goes out again: headers, comments, glyphs, variations,
// null moves. An illegal move cannot be shown; it is kept in a comment, with the moves after it.
import type { Position } from 'chessops/chess';
import type { Node, PgnNodeData } from 'chessops/pgn';
import { ChildNode, defaultGame, makePgn, parsePgn, parseVariant, startingPosition } from 'chessops/pgn';
import { withEvaluation } from './comments';
import type { PgnEntry } from './pgnFile';
import { splitPgn } from './pgnFile';
import type { Variant } from './rules';
import { fenOf, playFrom, RulesError, START } from './rules';
import type { Game } from './tree';
import { attach, newGame, nodeOf, ROOT } from './tree';

/** The first game of a text, and the number of illegal moves. */
export function readPgn(text: string): { game: Game; skipped: number } {
  const entry = splitPgn(text)[0];
  if (!entry) throw new RulesError('That is not a PGN.');
  return readEntry(entry);
}

/** Variant and Chess960 of the headers of a game. */
export function variantOf(headers: Record<string, string>): { variant: Variant; chess960: boolean } {
  const name = headers['Variant'] ?? 'chess';
  const chess960 = /960|fischer/i.test(name);
  const rules = /crazyhouse/i.test(name) ? 'crazyhouse' : chess960 ? 'chess' : parseVariant(name);
  if (rules !== 'chess' && rules !== 'crazyhouse')
    throw new RulesError(`The board plays chess and crazyhouse, not ${name}.`);
  return { variant: rules, chess960 };
}

export function readEntry(entry: PgnEntry): { game: Game; skipped: number } {
  const { variant, chess960 } = variantOf(entry.headers);
  const { FEN: fen } = entry.headers;
  const start = startingPosition(
    new Map([
      ['Variant', variant === 'chess' ? 'Standard' : 'Crazyhouse'],
      ...(fen === undefined ? [] : [['FEN', fen] as const]),
    ]),
  );
  if (start.isErr) throw new RulesError('The position where that PGN begins cannot be used.');
  const game = newGame(variant, fenOf(start.value), chess960);
  Object.assign(game.headers, entry.headers);
  game.isImported = true;
  const parsed = parsePgn(entry.moves, () => new Map())[0];
  const result = parsed?.headers.get('Result');
  if (result && result !== '*' && (game.headers['Result'] ?? '*') === '*') game.headers['Result'] = result;
  if (parsed?.comments) nodeOf(game, ROOT).comments = parsed.comments;
  let skipped = 0;
  const copy = (from: Node<PgnNodeData>, to: number, position: Position): void => {
    for (const child of from.children) {
      const { san, comments, startingComments, nags } = child.data;
      const next = from.children.length > 1 ? position.clone() : position;
      const played = playFrom(next, chess960, san);
      if (played) {
        const node = attach(game, nodeOf(game, to), played);
        if (comments) node.comments = comments;
        if (startingComments) node.startingComments = startingComments;
        if (nags) node.nags = [...new Set(nags)];
        copy(child, node.id, next);
      } else {
        skipped += 1;
        const parent = nodeOf(game, to);
        parent.comments = [...(parent.comments ?? []), `illegal: ${lostText(child)}`];
      }
    }
  };
  if (parsed) copy(parsed.moves, ROOT, start.value);
  if (game.nextId === 1 && Object.keys(entry.headers).length === 0)
    throw new RulesError('That is neither a FEN nor a PGN.');
  return { game, skipped };
}

/** An illegal move and what follows it, as text for a comment. */
function lostText(node: ChildNode<PgnNodeData>): string {
  const { san, nags = [], comments = [] } = node.data;
  const rest = node.children.map((child, index) => (index ? `(${lostText(child)})` : lostText(child)));
  return [san, ...nags.map((nag) => `$${nag}`), ...comments.map((text) => `(${text})`), ...rest].join(' ');
}

/** The PGN of a game. A given result is the one of a match that was played here. */
export function writePgn(game: Game, result?: string): string {
  const headers: Record<string, string> = game.isImported
    ? { ...game.headers }
    : { Event: 'Anabranch', Site: '-', ...game.headers };
  if (result !== undefined && (!game.isImported || result !== '*')) headers['Result'] = result;
  if (!game.isImported) headers['Result'] ??= '*';
  if (game.variant === 'crazyhouse') headers['Variant'] ??= 'Crazyhouse';
  else if (game.chess960) headers['Variant'] ??= 'Chess960';
  const { fen, comments } = nodeOf(game, ROOT);
  if (headers['FEN'] === undefined && (fen !== START[game.variant] || game.chess960)) {
    headers['SetUp'] = '1';
    headers['FEN'] = fen;
  }
  const written = defaultGame<PgnNodeData>(() => new Map([['Result', headers['Result'] ?? '*']]));
  written.headers.set('FEN', fen); // for the move numbers
  written.comments = comments ?? [];
  const copy = (from: number, to: Node<PgnNodeData>): void => {
    for (const id of nodeOf(game, from).children) {
      const node = nodeOf(game, id);
      const child = new ChildNode<PgnNodeData>({
        san: node.san,
        comments: node.isJudged ? withEvaluation(node.comments, node.judgement) : (node.comments ?? []),
        startingComments: node.startingComments ?? [],
        nags: node.nags ?? [],
      });
      to.children.push(child);
      copy(id, child);
    }
  };
  copy(ROOT, written.moves);
  const body = makePgn(written).replace(/^(?:\[.*\]\n)+\n/, '');
  const head = Object.entries(headers).map(
    ([name, value]) => `[${name} "${game.isImported ? value : escaped(value)}"]\n`,
  );
  return `${head.join('')}${head.length ? '\n' : ''}${body}`;
}

function escaped(value: string): string {
  return value.replace(/[\\"]/g, '\\$&');
}
