import { expect, test } from 'vitest';
import type { Book } from '../src/book';
import { addGame, mainLine, movesIn } from '../src/book';
import { splitPgn } from '../src/pgnFile';
import { playOn, START } from '../src/rules';

const GAMES = `[White "A"]
[Result "1-0"]

1. e4! {good (very) } e5 (1... c5 (1... e6) 2. Nf3) 2. Nf3 $1 Nc6 3.Bb5 1-0

[White "B"]
[Result "1/2-1/2"]

1. Nf3 e5 2. e4 Nc6 3. Bc4 1/2-1/2

[White "C"]
[Variant "Atomic"]
[Result "1-0"]

1. e4 1-0

[White "D"]
[Result "*"]

1. e4 Ke4 *
`;

function bookOfGames(): Book {
  const book: Book = { entries: [], read: 0, positions: new Map() };
  for (const entry of splitPgn(GAMES)) addGame(book, entry);
  return book;
}

test('the main line has no comments, variations, glyphs or numbers', () => {
  expect(mainLine('1. e4! {good (very) } e5 (1... c5 (1... e6) 2. Nf3) 2. Nf3 $1 Nc6 3.Bb5 1-0')).toEqual([
    'e4',
    'e5',
    'Nf3',
    'Nc6',
    'Bb5',
  ]);
});

test('moves are counted with their results, up to a move that cannot be read', () => {
  const [first, second] = movesIn(bookOfGames(), 'chess', START.chess);
  expect(first).toEqual({ uci: 'e2e4', games: 2, white: 1, draws: 0, black: 0 });
  expect(second).toEqual({ uci: 'g1f3', games: 1, white: 0, draws: 1, black: 0 });
});

test('a position counts by whichever moves it was reached', () => {
  const fen = ['e4', 'e5', 'Nf3', 'Nc6'].reduce(
    (at, san) => playOn('chess', false, at, san)?.fen ?? at,
    START.chess,
  );
  expect(movesIn(bookOfGames(), 'chess', fen).map((row) => row.uci)).toEqual(['f1b5', 'f1c4']);
  expect(movesIn(bookOfGames(), 'crazyhouse', fen)).toEqual([]);
});
