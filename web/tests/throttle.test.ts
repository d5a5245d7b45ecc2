import { expect, it } from 'vitest';
import { throttle } from '../src/throttle';
import type { ClientMessage } from '../src/protocol';

function analyse(id: number): ClientMessage {
  return {
    type: 'analyse',
    id,
    game: { variant: 'chess', chess960: false, fen: '', moves: [] },
    configs: [],
    machine: { threads: null, memory: null, tablebases: true },
    lines: 1,
    view: null,
  };
}

it('sends the first message at once, then only the newest of many', () => {
  let now = 1000;
  const sent: ClientMessage[] = [];
  const waiting: { at: number; act: () => void }[] = [];
  const send = throttle((message) => sent.push(message), {
    now: () => now,
    later: (act, ms) => waiting.push({ at: now + ms, act }),
  });
  const pass = (ms: number): void => {
    now += ms;
    for (const due of waiting.splice(0)) due.act();
  };
  for (let id = 1; id <= 50; id++) send(analyse(id));
  send({ type: 'watch', view: null });
  expect(sent).toEqual([analyse(1)]);
  pass(200);
  expect(sent).toEqual([analyse(1), analyse(50), { type: 'watch', view: null }]);
  send(analyse(51));
  send({ type: 'stop' });
  pass(200);
  expect(sent.slice(3)).toEqual([{ type: 'stop' }]);
  pass(200);
  send(analyse(52));
  expect(sent.at(-1)).toEqual(analyse(52));
});
