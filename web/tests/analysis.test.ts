import { expect, it } from 'vitest';
import * as analysis from '../src/analysis';
import type { App } from '../src/app';
import * as game from '../src/game';
import type { Order } from '../src/protocol';
import { firstState } from '../src/state';

function setUp(): { app: App; said: Order[] } {
  const state = firstState();
  Object.assign(state, { mode: 'analyse', line: 'open' });
  const said: Order[] = [];
  let id = 0;
  const app: App = {
    state,
    say: (order) => said.push(order),
    redraw: () => undefined,
    nextId: () => ++id,
    now: () => 0,
    resetBoard: () => undefined,
    sound: () => undefined,
  };
  return { app, said };
}

it('follows the board while it is on, and after a position was solved', () => {
  const { app, said } = setUp();
  game.play(app, 'e4');
  expect(said).toEqual([]);
  analysis.start(app);
  game.play(app, 'e5');
  expect(said.map((order) => order.type === 'analyse' && order.game.moves)).toEqual([
    ['e2e4'],
    ['e2e4', 'e7e5'],
  ]);
  analysis.done(app, 'solved');
  expect(app.state.analysis.running).toBe(false);
  game.back(app);
  expect(said).toHaveLength(3);
  analysis.stop(app);
  game.back(app);
  expect(said.slice(3)).toEqual([{ type: 'stop' }]);
});

it('stays off after a stop or at the time limit', () => {
  const { app, said } = setUp();
  analysis.start(app);
  analysis.done(app, 'time');
  game.play(app, 'e4');
  expect(said).toHaveLength(1);
});

it('judges every position of a line, and then stops', () => {
  const { app, said } = setUp();
  for (const move of ['f3', 'e5', 'g4', 'Qh4#']) game.play(app, move);
  analysis.sweep(app);
  for (let step = 0; step < 4; step++) analysis.done(app, 'time');
  expect(said).toHaveLength(4); // not the mate
  expect(app.state.order).toBeNull();
});
