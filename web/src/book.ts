// The moves that were played in the games of an opened file: how often, and with which results. Positions
// count by whichever moves they were reached. Built in short slices, so that the page stays alive.
import { parseSan } from 'chessops/san';
import { makeUci } from 'chessops/util';
import { variantOf } from './pgn';
import type { PgnEntry } from './pgnFile';
import type { Variant } from './rules';
import { fenOf, playOn, positionOf, samePositionKey, START } from './rules';

const MAX_PLIES = 40;
const MAX_GAMES = 20_000;
const SLICE_MS = 12;

export interface BookMove {
  uci: string;
  white: number;
  draws: number;
  black: number;
  /** Games without a result too. */
  games: number;
}

export interface Book {
  entries: readonly PgnEntry[];
  /** Games that were read. */
  read: number;
  positions: Map<string, Map<string, BookMove>>;
}

/** The moves of the main line of a game, without comments, variations and glyphs. */
export function mainLine(moves: string): string[] {
  let text = moves.replace(/\{[^}]*\}/g, ' ');
  for (let before = ''; before !== text;) {
    before = text;
    text = text.replace(/\([^()]*\)/g, ' ');
  }
  return text
    .replace(/\$\d+/g, ' ')
    .split(/\s+/)
    .map((word) => word.replace(/^\d+\.+/, '').replace(/[!?]+$/, ''))
    .filter((word) => word && !/^(?:1-0|0-1|1\/2-1\/2|\*|e\.p\.)$/.test(word));
}

/** Count one game. Games that cannot be read are left out from their first unreadable move on. */
export function addGame(book: Book, entry: PgnEntry): void {
  try {
    const { variant } = variantOf(entry.headers);
    const position = positionOf(variant, entry.headers['FEN'] ?? START[variant]);
    const result = entry.headers['Result'];
    for (const san of mainLine(entry.moves).slice(0, MAX_PLIES)) {
      const move = parseSan(position, san.replaceAll('0', 'O'));
      if (!move) return;
      const key = keyOf(variant, fenOf(position));
      const moves = book.positions.get(key) ?? new Map<string, BookMove>();
      book.positions.set(key, moves);
      const uci = makeUci(move);
      const row = moves.get(uci) ?? { uci, white: 0, draws: 0, black: 0, games: 0 };
      moves.set(uci, row);
      row.games += 1;
      if (result === '1-0') row.white += 1;
      else if (result === '0-1') row.black += 1;
      else if (result === '1/2-1/2') row.draws += 1;
      position.play(move);
    }
  } catch {
    // a variant that the board does not play, or a position that cannot be used
  }
}

function keyOf(variant: Variant, fen: string): string {
  return `${variant} ${samePositionKey(fen)}`;
}

let book: Book = { entries: [], read: 0, positions: new Map() };

/** The book of a list of games; `onGrowth` is called when more of it has been read. */
export function bookOf(entries: readonly PgnEntry[], onGrowth: () => void): Book {
  if (book.entries !== entries) {
    book = { entries, read: 0, positions: new Map() };
    read(book, onGrowth);
  }
  return book;
}

function read(growing: Book, onGrowth: () => void): void {
  const begun = performance.now();
  const most = Math.min(growing.entries.length, MAX_GAMES);
  while (growing.read < most && performance.now() - begun < SLICE_MS) {
    const entry = growing.entries[growing.read++];
    if (entry) addGame(growing, entry);
  }
  if (growing !== book) return; // another file was opened
  if (growing.read < most) setTimeout(() => read(growing, onGrowth), 1);
  if (growing.read >= most || growing.read % 50 < 10) onGrowth();
}

/** The moves that were played in a position, most played first. */
export function movesIn(from: Book, variant: Variant, fen: string): BookMove[] {
  const found = from.positions.get(keyOf(variant, fen));
  return [...(found?.values() ?? [])].sort((first, second) => second.games - first.games);
}

/** The move as the page writes it. */
export function sanOf(variant: Variant, chess960: boolean, fen: string, uci: string): string {
  return playOn(variant, chess960, fen, uci)?.san ?? uci;
}
