import { expect, test } from 'vitest';
import { OPENING_NAMES } from '../src/openingNames';
import { nameOfPosition, OPENINGS } from '../src/openings';
import { playOn, START } from '../src/rules';

function after(moves: string): string {
  return moves.split(' ').reduce((at, san) => {
    const played = playOn('chess', false, at, san);
    if (!played) throw new Error(`${san} of ${moves} is illegal`);
    return played.fen;
  }, START.chess);
}

test('every line is legal, and its position has a name', () => {
  const lines = OPENING_NAMES.trim().split('\n');
  expect(lines.length).toBeGreaterThan(150);
  for (const line of lines) {
    const moves = line.split(': ')[1] ?? '';
    expect(nameOfPosition('chess', after(moves)), line).toBeDefined();
  }
  for (const { moves } of OPENINGS.chess) expect(nameOfPosition('chess', after(moves))).toBeDefined();
});

test('an opening is known by whichever moves it was reached', () => {
  expect(nameOfPosition('chess', after('Nf3 Nc6 e4 e5 Bc4'))).toBe('Italian Game');
  expect(nameOfPosition('chess', after('Nf3 d5 d4 Nf6 c4 e6 Nc3 Bb4'))).toBe(
    "Queen's Gambit Declined, Ragozin",
  );
  expect(nameOfPosition('chess', after('e4 e5 Nf3 Nc6 Bb5 Nf6'))).toBe('Ruy Lopez, Berlin Defence');
  expect(nameOfPosition('chess', after('a4'))).toBeUndefined();
});
