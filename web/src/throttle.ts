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
  // In the order in which they are sent.
  let waiting: { position?: ClientMessage; analysis?: ClientMessage; view?: ClientMessage } = {};
  let sent = -Infinity;
  let isWaiting = false;

  const flush = (): void => {
    isWaiting = false;
    const { position, analysis, view } = waiting;
    waiting = {};
    for (const message of [position, analysis, view]) if (message) send(message);
    sent = timer.now();
  };

  return (message) => {
    if (message.type === 'grid-position') waiting.position = message;
    else if (message.type === 'analyse' || message.type === 'grid-analyse') {
      waiting.analysis = message;
      delete waiting.view; // the analysis carries the newest view
    } else if (message.type === 'watch') waiting.view = message;
    else {
      waiting = waiting.position ? { position: waiting.position } : {}; // replaced by this message
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
