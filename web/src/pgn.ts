// Reads and writes PGN, with variations and comments. Illegal moves are skipped.
import type { Node, PgnNodeData } from 'chessops/pgn';
import { ChildNode, defaultGame, makePgn, parsePgn, parseVariant, startingPosition } from 'chessops/pgn';
import { fenOf, RulesError, START } from './rules';
import type { Game } from './tree';
import { addMove, newGame, nodeOf, ROOT } from './tree';

const MAX_LENGTH = 200_000;

/** The first game of a text, and the number of illegal moves that were skipped. */
export function readPgn(text: string): { game: Game; skipped: number } {
  if (text.length > MAX_LENGTH) throw new RulesError('That PGN is too long.');
  const parsed = parsePgn(text, () => new Map())[0];
  if (!parsed) throw new RulesError('That is not a PGN.');
  const name = parsed.headers.get('Variant') ?? 'chess';
  const is960 = /960|fischer/i.test(name);
  const rules = is960 ? 'chess' : parseVariant(name);
  if (rules !== 'chess' && rules !== 'crazyhouse') {
    throw new RulesError(`The board plays chess and crazyhouse, not ${name}.`);
  }
  const start = startingPosition(
    new Map([...parsed.headers, ['Variant', rules === 'chess' ? 'Standard' : 'Crazyhouse']]),
  );
  if (start.isErr) throw new RulesError('The position where that PGN begins cannot be used.');
  const game = newGame(rules, fenOf(start.value), is960);
  for (const [key, value] of parsed.headers) game.headers[key] = value;
  let skipped = 0;
  const copy = (from: Node<PgnNodeData>, to: number): void => {
    for (const child of from.children) {
      const node = addMove(game, to, child.data.san);
      if (!node) {
        skipped += 1;
        continue;
      }
      const comment = child.data.comments?.join(' ').trim();
      if (comment) node.comment = comment;
      copy(child, node.id);
    }
  };
  copy(parsed.moves, ROOT);
  if (game.nextId === 1 && parsed.headers.size === 0)
    throw new RulesError('That is neither a FEN nor a PGN.');
  return { game, skipped };
}

export function writePgn(game: Game, result = '*'): string {
  const headers = new Map(Object.entries({ Event: 'Anabranch', Site: '-', ...game.headers }));
  headers.set('Result', result);
  headers.delete('FEN');
  headers.delete('SetUp');
  headers.delete('Variant');
  if (game.variant === 'crazyhouse') headers.set('Variant', 'Crazyhouse');
  else if (game.chess960) headers.set('Variant', 'Chess960');
  const fen = nodeOf(game, ROOT).fen;
  if (fen !== START[game.variant] || game.chess960) {
    headers.set('SetUp', '1');
    headers.set('FEN', fen);
  }
  const written = defaultGame<PgnNodeData>(() => headers);
  const copy = (from: number, to: Node<PgnNodeData>): void => {
    for (const id of nodeOf(game, from).children) {
      const node = nodeOf(game, id);
      const child = new ChildNode<PgnNodeData>({
        san: node.san,
        comments: node.comment ? [node.comment] : [],
      });
      to.children.push(child);
      copy(id, child);
    }
  };
  copy(ROOT, written.moves);
  return makePgn(written);
}
