import { describe, expect, it } from 'vitest';
import {
  chess960Start,
  destinations,
  dropSquares,
  outcomeOf,
  fenOf,
  playOn,
  positionOf,
  readMove,
  RulesError,
  samePositionKey,
  sanLine,
  START,
} from '../src/rules';

describe('moves', () => {
  it('are in the notation of the engine', () => {
    const fen = 'r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1';
    expect(playOn('chess', false, fen, 'O-O')?.uci).toBe('e1g1');
    expect(playOn('chess', false, fen, 'e1c1')?.san).toBe('O-O-O');
    expect(playOn('chess', false, fen, 'e1h1')?.uci).toBe('e1g1');
    expect(playOn('chess', true, fen, 'O-O')?.uci).toBe('e1h1');
  });

  it('that are illegal are undefined', () => {
    expect(playOn('chess', false, START.chess, 'e2e5')).toBeUndefined();
    expect(playOn('chess', false, START.chess, 'Qh5')).toBeUndefined();
    expect(playOn('chess', false, START.chess, 'rubbish')).toBeUndefined();
  });

  it('can be drops of pieces in the pocket', () => {
    const fen = '4k3/8/8/8/8/8/8/4K3[Qn] w - - 0 1';
    expect(playOn('crazyhouse', false, fen, 'Q@e7')?.san).toBe('Q@e7+');
    expect(playOn('crazyhouse', false, fen, 'N@e7')).toBeUndefined();
    const position = positionOf('crazyhouse', '4k3/8/8/8/8/8/8/4K3[P] w - - 0 1');
    expect(dropSquares(position, 'pawn')).toHaveLength(48);
    expect(dropSquares(position, 'queen')).toEqual([]);
  });

  it('promote, and a captured promoted piece is a pawn again', () => {
    const fen = '4k3/P7/8/8/8/8/8/4K2r[] w - - 0 1'.replace('K2r', 'K2R');
    const played = playOn('crazyhouse', false, fen, 'a7a8q');
    expect(played?.san).toBe('a8=Q+');
    expect(played?.fen).toContain('Q~');
  });

  it('become a line of SAN', () => {
    expect(sanLine('chess', START.chess, ['e2e4', 'e7e5', 'g1f3', 'e1e8'])).toEqual(['e4', 'e5', 'Nf3']);
  });

  it('are read with zeros for castling', () => {
    const position = positionOf('chess', 'r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1');
    expect(readMove(position, '0-0')).toBeDefined();
  });
});

describe('positions', () => {
  it('that are invalid are refused with a sentence', () => {
    expect(() => positionOf('chess', 'nothing')).toThrow(RulesError);
    expect(() => positionOf('chess', '8/8/8/8/8/8/8/8 w - - 0 1')).toThrow(/king|empty/);
    expect(() => positionOf('chess', '4k3/8/8/8/8/8/8/4K2P w - - 0 1')).toThrow(/pawns/);
  });

  it('of Chess960 have the usual numbers', () => {
    expect(chess960Start(518, 'chess')).toBe(START.chess);
    expect(chess960Start(0, 'chess')).toMatch(/^bbqnnrkr\//);
    expect(chess960Start(959, 'chess')).toMatch(/^rkrnnqbb\//);
    const all = new Set(Array.from({ length: 960 }, (_, index) => chess960Start(index, 'crazyhouse')));
    expect(all.size).toBe(960);
    for (const fen of all) expect(fenOf(positionOf('crazyhouse', fen)).split(' ')[0]).toBe(fen.split(' ')[0]);
  });

  it('have destinations for both ways to castle', () => {
    const position = positionOf('chess', 'r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1');
    expect(destinations(position, false).get('e1')).toEqual(expect.arrayContaining(['g1', 'h1', 'c1', 'a1']));
    expect(destinations(position, true).get('e1')).not.toContain('g1');
  });
});

describe('outcomes', () => {
  it('are found by the rules', () => {
    const mate = positionOf('chess', 'rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3');
    expect(outcomeOf(mate, [])).toEqual({ winner: 'black', reason: 'checkmate' });
    expect(outcomeOf(positionOf('chess', '7k/5Q2/6K1/8/8/8/8/8 b - - 0 1'), [])?.reason).toBe('stalemate');
    expect(outcomeOf(positionOf('chess', '7k/8/8/8/8/8/8/K7 w - - 0 1'), [])?.reason).toBe(
      'insufficient material',
    );
    expect(outcomeOf(positionOf('chess', '7k/8/8/8/8/8/R7/K7 w - - 100 80'), [])?.reason).toBe('fifty moves');
    expect(outcomeOf(positionOf('crazyhouse', '7k/8/8/8/8/8/R7/K7[] w - - 100 80'), [])).toBeNull();
  });

  it('include the third repetition, whatever the counters are', () => {
    const again = [START.chess, START.chess.replace('0 1', '4 3')];
    expect(outcomeOf(positionOf('chess', START.chess.replace('0 1', '8 5')), again)?.reason).toBe(
      'threefold repetition',
    );
    expect(outcomeOf(positionOf('chess', START.chess), [START.chess])).toBeNull();
    expect(samePositionKey('a b c d 1 2')).toBe('a b c d');
  });
});
