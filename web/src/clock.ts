// A chess clock: whose time runs, what is left, who has lost on time. Time comes from outside, in seconds.
import type { Color } from './rules';

export interface Clock {
  initial: number;
  increment: number;
  left: Record<Color, number>;
  running: Color | null;
  since: number;
}

export function newClock(minutes: number, increment: number): Clock {
  const initial = minutes * 60;
  return { initial, increment, left: { white: initial, black: initial }, running: null, since: 0 };
}

export function leftOn(clock: Clock, side: Color, now: number): number {
  const spent = clock.running === side ? Math.max(0, now - clock.since) : 0;
  return Math.max(0, clock.left[side] - spent);
}

/** A move was made by a side: its time is booked, and the other's begins to run. */
export function press(clock: Clock, by: Color, now: number): Clock {
  const left = { ...clock.left };
  if (clock.running === by) left[by] = leftOn(clock, by, now) + clock.increment;
  return { ...clock, left, running: by === 'white' ? 'black' : 'white', since: now };
}

export function halt(clock: Clock, now: number): Clock {
  const left = { ...clock.left };
  if (clock.running) left[clock.running] = leftOn(clock, clock.running, now);
  return { ...clock, left, running: null };
}

export function fallen(clock: Clock, now: number): Color | null {
  return clock.running && leftOn(clock, clock.running, now) <= 0 ? clock.running : null;
}
