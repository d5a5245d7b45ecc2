// A chess clock. The caller passes the time, in seconds.
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

export function timeLeft(clock: Clock, side: Color, now: number): number {
  const spent = clock.running === side ? Math.max(0, now - clock.since) : 0;
  return Math.max(0, clock.left[side] - spent);
}

/** A side has moved: add its increment and start the other side's time. */
export function pressClock(clock: Clock, by: Color, now: number): Clock {
  const left = { ...clock.left };
  if (clock.running === by) left[by] = timeLeft(clock, by, now) + clock.increment;
  return { ...clock, left, running: by === 'white' ? 'black' : 'white', since: now };
}

export function stopClock(clock: Clock, now: number): Clock {
  const left = { ...clock.left };
  if (clock.running) left[clock.running] = timeLeft(clock, clock.running, now);
  return { ...clock, left, running: null };
}

export function outOfTime(clock: Clock, now: number): Color | null {
  return clock.running && timeLeft(clock, clock.running, now) <= 0 ? clock.running : null;
}
