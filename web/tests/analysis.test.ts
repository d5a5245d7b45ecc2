import { expect, it } from 'vitest';
import * as analysis from '../src/analysis';
import type { App } from '../src/app';
import { gamePgn } from '../src/collection';
import * as game from '../src/game';
import { onJudged, onJudging, startJudging } from '../src/judge';
import type { ClientMessage } from '../src/protocol';
import { initialState } from '../src/state';
import { lineThrough } from '../src/tree';

function setUp(): { app: App; sent: ClientMessage[] } {
  const state = initialState();
  Object.assign(state, { mode: 'analyse', connection: 'open' });
  const sent: ClientMessage[] = [];
  let id = 0;
  const app: App = {
    state,
    send: (message) => sent.push(message),
    redraw: () => undefined,
    nextId: () => ++id,
    now: () => 0,
    resetBoard: () => undefined,
    sound: () => undefined,
  };
  return { app, sent };
}

it('follows the board while it is on, and after a position was solved', () => {
  const { app, sent } = setUp();
  game.play(app, 'e4');
  expect(sent).toEqual([]);
  analysis.start(app);
  game.play(app, 'e5');
  expect(sent.map((order) => order.type === 'analyse' && order.game.moves)).toEqual([
    ['e2e4'],
    ['e2e4', 'e7e5'],
  ]);
  analysis.onDone(app, 'solved');
  expect(app.state.analysis.running).toBe(false);
  game.back(app);
  expect(sent).toHaveLength(3);
  analysis.stop(app);
  game.back(app);
  expect(sent.slice(3)).toEqual([{ type: 'stop' }]);
});

it('stays off after a stop or at the time limit', () => {
  const { app, sent } = setUp();
  analysis.start(app);
  analysis.onDone(app, 'time');
  game.play(app, 'e4');
  expect(sent).toHaveLength(1);
});

const SUMMARY = { moves: 1, accuracy: 90, mean_loss: 1, inaccuracies: 0, mistakes: 0, blunders: 1 };

it('judges the line on the board, and keeps deeper evaluations and glyphs of others', () => {
  const { app, sent } = setUp();
  for (const move of ['f3', 'e5', 'g4', 'Qh4#']) game.play(app, move);
  startJudging(app);
  expect(sent).toMatchObject([{ type: 'judge', game: { moves: ['f2f3', 'e7e5', 'g2g4', 'd8h4'] } }]);
  const line = lineThrough(app.state.game, 0);
  const [, f3, e5, g4, mate] = line;
  if (!f3 || !e5 || !g4 || !mate) throw new Error('no line');
  f3.judgement = { value: 0.5, cp: 50, mate: null, visits: 1000 };
  e5.nags = [1];
  onJudging(app, 0, { value: 0.1, cp: 10, mate: null, visits: 100 });
  expect(app.state.analysis.sweep).toHaveLength(4);
  const evaluations = line.map((_, ply) => ({ value: 0, cp: 0, mate: null, visits: ply < 4 ? 100 : 0 }));
  const move = { loss: 0, name: null, best: false, nags: [], missed: null, lines: [] };
  onJudged(app, {
    evaluations,
    moves: [
      { ...move, nags: [6] },
      { ...move, nags: [2] },
      { ...move, nags: [4], missed: 'mate in 2 missed: e4', lines: [['e2e4', 'g8f6']] },
      { ...move, best: true },
    ],
    white: SUMMARY,
    black: SUMMARY,
  });
  expect(f3).toMatchObject({ judgement: { cp: 50, visits: 1000 }, nags: [6], isJudged: true });
  expect(e5.nags).toEqual([1]);
  expect(g4).toMatchObject({ nags: [4], comments: ['mate in 2 missed: e4'] });
  expect(mate).toMatchObject({ isBest: true, isJudged: false });
  expect(mate.judgement).toBeUndefined();
  expect(gamePgn(app.state)).toContain(
    '2. g4 $4 { [%eval 0.00] mate in 2 missed: e4 } ( 2. e4 Nf6 ) 2... Qh4#',
  );
  expect(app.state.request).toBeNull();
});
