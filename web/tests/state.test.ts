import { describe, expect, it } from 'vitest';
import { outOfTime, stopClock, timeLeft, newClock, pressClock } from '../src/clock';
import { skippedText } from '../src/files';
import { clockText, count, score, signed, verdictText } from '../src/numbers';
import { OPENINGS } from '../src/openings';
import { spoken } from '../src/rules';
import { initialState, serialize, deserialize } from '../src/state';
import { addMove, newGame, ROOT } from '../src/tree';

describe('the state', () => {
  it('survives a reload', () => {
    const state = initialState();
    state.current = addMove(state.game, ROOT, 'e4')?.id ?? 0;
    state.theme = 'dark';
    state.analysis.lines = 5;
    const again = deserialize(serialize(state));
    expect(again.game).toEqual(state.game);
    expect(again.current).toBe(state.current);
    expect(again.theme).toBe('dark');
    expect(again.analysis.lines).toBe(5);
    expect(again.request).toBeNull();
  });

  it('is the initial one where the saved one cannot be read', () => {
    const first = JSON.stringify(initialState());
    for (const text of [null, '', '{', '{"version":0}', '{"version":1,"game":{"nodes":{}},"current":3}']) {
      expect(JSON.stringify(deserialize(text))).toBe(first);
    }
  });
});

describe('an imported game', () => {
  it('has its illegal moves counted', () => {
    expect([0, 1, 2].map(skippedText)).toEqual([
      '',
      '1 illegal move is in a comment, with what follows.',
      '2 illegal moves are in a comment, with what follows.',
    ]);
  });
});

describe('the clock', () => {
  it('runs for one side, adds the increment and runs out', () => {
    let clock = newClock(1, 2);
    expect(clock.running).toBeNull();
    clock = pressClock(clock, 'white', 100);
    expect(timeLeft(clock, 'white', 105)).toBe(60);
    expect(timeLeft(clock, 'black', 105)).toBe(55);
    clock = pressClock(clock, 'black', 110);
    expect(clock.left.black).toBe(52);
    expect(outOfTime(clock, 169)).toBeNull();
    expect(outOfTime(clock, 170)).toBe('white');
    expect(stopClock(clock, 120).left.white).toBe(50);
  });

  it('is formatted', () => {
    expect([9.96, 65, 3600, 0].map(clockText)).toEqual(['10.0', '1:05', '1:00:00', '0.0']);
  });
});

describe('numbers', () => {
  it('are short', () => {
    expect([999, 12345, 123456, 1234567].map(count)).toEqual(['999', '12.3k', '123k', '1.23M']);
    expect([signed(-0.004, 2), signed(0.5, 1), signed(-1, 0)]).toEqual(['+0.00', '+0.5', '−1']);
    expect([score(35, null), score(-1234, null), score(0, 3), score(0, -2)]).toEqual([
      '+0.35',
      '−12.3',
      '#3',
      '−#2',
    ]);
  });

  it('include verdicts in words', () => {
    expect(verdictText('win', 5)).toBe('win in 3');
    expect(verdictText('loss', 4)).toBe('loss in 2');
    expect(verdictText('tb-draw', null)).toBe('tablebase draw');
    expect(verdictText('unknown', null)).toBe('');
  });
});

describe('words', () => {
  it('spell moves for screen readers', () => {
    expect(spoken('Nxf7+')).toBe('knight takes f7 check');
    expect(spoken('O-O')).toBe('castles kingside');
    expect(spoken('e8=Q#')).toBe('e8 promotes to queen  checkmate');
    expect(spoken('P@e4')).toBe('pawn to e4');
  });

  it('openings are legal', () => {
    for (const variant of ['chess', 'crazyhouse'] as const) {
      for (const opening of OPENINGS[variant]) {
        const game = newGame(variant);
        let at: number | undefined = ROOT;
        for (const san of opening.moves.split(' '))
          at = at === undefined ? undefined : addMove(game, at, san)?.id;
        expect(at, opening.name).toBeDefined();
      }
    }
  });
});
