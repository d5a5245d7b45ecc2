import { expect, it } from 'vitest';
import { paced } from '../src/pace';
import type { Order } from '../src/protocol';

function analyse(id: number): Order {
  return {
    type: 'analyse',
    id,
    game: { variant: 'chess', chess960: false, fen: '', moves: [] },
    recipes: [],
    lines: 1,
    view: null,
  };
}

it('sends the first at once, then only the newest of many', () => {
  let now = 1000;
  const sent: Order[] = [];
  const waiting: { at: number; act: () => void }[] = [];
  const say = paced((order) => sent.push(order), {
    now: () => now,
    later: (act, ms) => waiting.push({ at: now + ms, act }),
  });
  const pass = (ms: number): void => {
    now += ms;
    for (const due of waiting.splice(0)) due.act();
  };
  for (let id = 1; id <= 50; id++) say(analyse(id));
  say({ type: 'watch', view: null });
  expect(sent).toEqual([analyse(1)]);
  pass(200);
  expect(sent).toEqual([analyse(1), analyse(50), { type: 'watch', view: null }]);
  say(analyse(51));
  say({ type: 'stop' });
  pass(200);
  expect(sent.slice(3)).toEqual([{ type: 'stop' }]);
  pass(200);
  say(analyse(52));
  expect(sent.at(-1)).toEqual(analyse(52));
});
