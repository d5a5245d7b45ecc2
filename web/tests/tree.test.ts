import { describe, expect, it } from 'vitest';
import { readPgn, writePgn } from '../src/pgn';
import {
  addMove,
  endOfLine,
  lineThrough,
  movesTo,
  newGame,
  nodeOf,
  pathTo,
  promote,
  remove,
  ROOT,
} from '../src/tree';

function played(moves: string): { game: ReturnType<typeof newGame>; at: number } {
  const game = newGame('chess');
  let at = ROOT;
  for (const san of moves.split(' ')) at = addMove(game, at, san)?.id ?? -1;
  return { game, at };
}

describe('the tree', () => {
  it('finds a move that it has already', () => {
    const { game } = played('e4 e5');
    const again = addMove(game, ROOT, 'e2e4');
    expect(again?.id).toBe(nodeOf(game, ROOT).children[0]);
    expect(nodeOf(game, ROOT).children).toHaveLength(1);
  });

  it('grows variations, makes them the main line and drops them', () => {
    const { game, at } = played('e4 e5 Nf3');
    const other = addMove(game, ROOT, 'd4');
    expect(movesTo(game, at)).toEqual(['e2e4', 'e7e5', 'g1f3']);
    expect(other && lineThrough(game, other.id).map((node) => node.san)).toEqual(['', 'd4']);
    if (!other) throw new Error('no move');
    promote(game, other.id);
    expect(endOfLine(game, ROOT)).toBe(other.id);
    expect(remove(game, other.id)).toBe(ROOT);
    expect(endOfLine(game, ROOT)).toBe(at);
    expect(game.nodes[other.id]).toBeUndefined();
    remove(game, nodeOf(game, ROOT).children[0] ?? 0);
    expect(Object.keys(game.nodes)).toEqual(['0']);
  });

  it('refuses illegal moves', () => {
    const { game, at } = played('e4');
    expect(addMove(game, at, 'e4')).toBeUndefined();
  });
});

describe('PGN', () => {
  it('survives a round trip, with variations and comments', () => {
    const text = '[White "A"]\n\n1. e4 {best by test} e5 (1... c5 2. Nf3 (2. c3 d5)) 2. Nf3 *';
    const { game, skipped } = readPgn(text);
    expect(skipped).toBe(0);
    const once = writePgn(game);
    expect(once).toContain('best by test');
    expect(once).toMatch(/1\.\.\. c5 2\. Nf3 \( 2\. c3 d5 \)|\(1\.\.\. c5 2\. Nf3 \(2\. c3 d5\)\)/);
    expect(writePgn(readPgn(once).game)).toBe(once);
    expect(pathTo(game, endOfLine(game, ROOT)).map((node) => node.san)).toEqual(['', 'e4', 'e5', 'Nf3']);
  });

  it('keeps variant and position', () => {
    const game = newGame('crazyhouse', '4k3/8/8/8/8/8/8/4K3[Qn] w - - 0 1');
    addMove(game, ROOT, 'Q@e7');
    const text = writePgn(game, '1-0');
    expect(text).toContain('[Variant "Crazyhouse"]');
    expect(text).toContain('[SetUp "1"]');
    const back = readPgn(text).game;
    expect(back.variant).toBe('crazyhouse');
    expect(movesTo(back, endOfLine(back, ROOT))).toEqual(['Q@e7']);
    const shuffled = newGame('chess', 'bbqnnrkr/pppppppp/8/8/8/8/PPPPPPPP/BBQNNRKR w KQkq - 0 1', true);
    expect(readPgn(writePgn(shuffled)).game.chess960).toBe(true);
  });

  it('with illegal moves is read without them', () => {
    const { game, skipped } = readPgn('1. e4 e5 2. Qh8 *');
    expect(skipped).toBe(1);
    expect(movesTo(game, endOfLine(game, ROOT))).toEqual(['e2e4', 'e7e5']);
  });

  it('that cannot be read is refused with a sentence', () => {
    expect(() => readPgn('hello there')).toThrow(/neither/);
    expect(() => readPgn('[Variant "Atomic"]\n\n1. e4')).toThrow(/Atomic/);
    expect(() => readPgn('x'.repeat(300_000))).toThrow(/long/);
  });
});
