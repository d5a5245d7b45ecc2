// Not too many orders: somebody who holds an arrow key or drags a slider gives dozens in a second, of which only
// the last matters. Analyses and changes of view wait a moment for a newer one; all others go at once.
import type { Order } from './protocol';

const PAUSE_MS = 110;

export interface Timer {
  now(): number;
  later(act: () => void, ms: number): void;
}

/** The same way to speak, paced. */
export function paced(send: (order: Order) => void, timer: Timer): (order: Order) => void {
  let analysis: Order | null = null;
  let view: Order | null = null;
  let sent = -Infinity;
  let isWaiting = false;

  const flush = (): void => {
    isWaiting = false;
    for (const order of [analysis, view]) if (order) send(order);
    analysis = null;
    view = null;
    sent = timer.now();
  };

  return (order) => {
    if (order.type === 'analyse') {
      analysis = order;
      view = null; // the order has the newest view itself
    } else if (order.type === 'watch') view = order;
    else {
      analysis = null; // what comes now takes its place
      view = null;
      send(order);
      return;
    }
    const rest = PAUSE_MS - (timer.now() - sent);
    if (rest <= 0) flush();
    else if (!isWaiting) {
      isWaiting = true;
      timer.later(flush, rest);
    }
  };
}
