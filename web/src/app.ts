// What all parts of the page share: the state, a way to say something to the server, a way to draw again.
import type { Order } from './protocol';
import type { State } from './state';

export interface App {
  readonly state: State;
  say(order: Order): void;
  /** Draw the state soon, and keep it. */
  redraw(): void;
  /** The number of the next order. */
  nextId(): number;
  /** Seconds on a clock that only goes forward. */
  now(): number;
  /** The board must be set again, though the position is the same: a move was taken back by the page. */
  resetBoard(): void;
  sound(kind: 'move' | 'capture' | 'end'): void;
}
