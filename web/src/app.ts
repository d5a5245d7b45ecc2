// The interface that all parts of the page share: the state, messages to the server, and drawing.
import type { ClientMessage } from './protocol';
import type { State } from './state';

export interface App {
  readonly state: State;
  send(message: ClientMessage): void;
  /** Draw and save the state soon. */
  redraw(): void;
  /** The id of the next request. */
  nextId(): number;
  /** Seconds on a monotonic clock. */
  now(): number;
  /** Set the pieces again although the position is the same, after the page has refused a move. */
  resetBoard(): void;
  sound(kind: 'move' | 'capture' | 'end'): void;
}

/** Stop the search, if there is one; its later messages are ignored. */
export function stopSearch(app: App): void {
  if (app.state.request) app.send({ type: 'stop' });
  app.state.request = null;
}

/** Change fields of the state, and draw. */
export function update(app: App, changes: Partial<State>): void {
  Object.assign(app.state, changes);
  app.redraw();
}
