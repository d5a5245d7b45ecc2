// Limits the rate of messages. A held arrow key or a dragged slider makes dozens per second, of which only
// the last matters: analyses and changes of view wait for a newer one, all others are sent at once.
import type { ClientMessage } from './protocol';

const PAUSE_MS = 110;

export interface Timer {
  now(): number;
  later(act: () => void, ms: number): void;
}

/** The same `send`, with a limited rate. */
export function throttle(
  send: (message: ClientMessage) => void,
  timer: Timer,
): (message: ClientMessage) => void {
  let analysis: ClientMessage | null = null;
  let view: ClientMessage | null = null;
  let sent = -Infinity;
  let isWaiting = false;

  const flush = (): void => {
    isWaiting = false;
    for (const message of [analysis, view]) if (message) send(message);
    analysis = null;
    view = null;
    sent = timer.now();
  };

  return (message) => {
    if (message.type === 'analyse') {
      analysis = message;
      view = null; // the analysis carries the newest view
    } else if (message.type === 'watch') view = message;
    else {
      analysis = null; // replaced by this message
      view = null;
      send(message);
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
