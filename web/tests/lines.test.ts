import { expect, it } from 'vitest';
import { shownMoves } from '../src/numbers';
import type { Line } from '../src/protocol';

it('shows the line of a proven mate to its end, and the beginning of any other', () => {
  const moves = Array.from({ length: 21 }, () => 'e2e4');
  const line = { moves, mate: null } as unknown as Line;
  expect(shownMoves(line)).toBe(14);
  expect(shownMoves({ ...line, mate: 11 })).toBe(21);
  expect(shownMoves({ ...line, mate: -10 })).toBe(21);
});
