import { describe, expect, it } from 'vitest';
import { readComments, scoreOf } from '../src/comments';
import { readEntry, readPgn, writePgn } from '../src/pgn';
import { splitPgn } from '../src/pgnFile';
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
    expect(writePgn(game)).toContain('{ illegal: Qh8 }');
    expect(movesTo(game, endOfLine(game, ROOT))).toEqual(['e2e4', 'e7e5']);
  });

  it('that cannot be read is refused with a sentence', () => {
    expect(() => readPgn('hello there')).toThrow(/neither/);
    expect(() => readPgn('[Variant "Atomic"]\n\n1. e4')).toThrow(/Atomic/);
  });

  it('keeps what came: headers, result, glyphs, clocks, comments, null moves, equal variations', () => {
    const text =
      '[Event "A \\"B\\" C"]\n[Date "1999.??.??"]\n[Result "1/2-1/2"]\n[Custom "x\\\\y"]\n\n' +
      '{ before } { twice } 1. e4 $1 $14 { [%clk 0:03:02.5] [%eval 0.31,22] good } ( { first } 1. e4 e5 ) ' +
      '1... -- { pass } 2. Nf3 { [%csl Ge4][%cal Gg1f3] } 1/2-1/2\n';
    const { game, skipped } = readPgn(text);
    expect(skipped).toBe(0);
    expect(writePgn(game)).toBe(text);
    const e4 = nodeOf(game, 1);
    expect(scoreOf(e4)).toEqual({ cp: 31, mate: null });
    expect(readComments(e4.comments)).toMatchObject({ text: 'good', clock: 182.5 });
  });

  it('has its comments after semicolons too', () => {
    const { game } = readPgn('1. e4 ; the best {move}\n% escape\ne5 *');
    expect(readComments(nodeOf(game, 1).comments).text).toBe('the best {move)');
  });

  it('gets the evaluations of a judged game, in place of those that it has', () => {
    const { game } = readPgn('1. e4 { [%eval 0.10] best } e5 { reply } *');
    const judgement = { cp: -25, mate: null, value: 0, visits: 9 };
    Object.assign(nodeOf(game, 1), { isJudged: true, judgement });
    Object.assign(nodeOf(game, 2), { isJudged: true, judgement: { ...judgement, mate: -3 } });
    expect(writePgn(game)).toBe('1. e4 { [%eval -0.25] best } e5 { [%eval #-3] reply } *\n');
  });
});

describe('a file of games', () => {
  it('is split at headers and after results, and keeps each text', () => {
    const games = splitPgn(
      '\uFEFF[White "A"]\r\n\r\n1. e4 {a\n\n[White "no header"]} e5\n\n2. Nf3 *\n\n' +
        '1. d4 *\n\n[White "B "q" C"]\n\n1. c4 1-0',
    );
    expect(games.map((game) => game.headers['White'])).toEqual(['A', undefined, 'B "q" C']);
    expect(games[1]?.text).toBe('1. d4 *\n');
    const first = readEntry(games[0] ?? { text: '', headers: {}, moves: '' }).game;
    expect(movesTo(first, endOfLine(first, ROOT))).toEqual(['e2e4', 'e7e5', 'g1f3']);
  });

  it('may be empty', () => {
    expect(splitPgn('\n\n')).toEqual([]);
  });
});
