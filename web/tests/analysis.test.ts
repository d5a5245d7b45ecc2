import { expect, it } from 'vitest';
import * as analysis from '../src/analysis';
import type { App } from '../src/app';
import * as game from '../src/game';
import type { ClientMessage } from '../src/protocol';
import { initialState } from '../src/state';

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

it('judges every position of a line, and then stops', () => {
  const { app, sent } = setUp();
  for (const move of ['f3', 'e5', 'g4', 'Qh4#']) game.play(app, move);
  analysis.startSweep(app);
  for (let step = 0; step < 4; step++) analysis.onDone(app, 'time');
  expect(sent).toHaveLength(4); // not the mate
  expect(app.state.request).toBeNull();
});
