// The games of an opened file, as a list. A game that was changed is written back into the list, the others
// keep their text as it came. Stored in the browser where it fits.
import { outcomeAt } from './current';
import { variantOf, writePgn } from './pgn';
import type { PgnEntry } from './pgnFile';
import { splitPgn } from './pgnFile';
import type { Collection, State } from './state';
import { endOfLine, ROOT } from './tree';

const MAX_STORED = 2_000_000;
const STORAGE_KEY = 'anabranch-games';
const PLACE_KEY = 'anabranch-place';

/** The game on the board as PGN. */
export function gamePgn(state: State): string {
  if (state.game.isImported && !state.match?.outcome) return writePgn(state.game);
  const outcome = state.match?.outcome ?? outcomeAt(state, state.match?.tip ?? endOfLine(state.game, ROOT));
  const result = !outcome
    ? '*'
    : outcome.winner === 'white'
      ? '1-0'
      : outcome.winner === 'black'
        ? '0-1'
        : '1/2-1/2';
  return writePgn(state.game, result);
}

/** Write the game on the board back into the list, if it is from there and was changed. */
export function keepGame(state: State): void {
  const { collection } = state;
  if (!collection || collection.index === null) return;
  const text = gamePgn(state);
  const entry = collection.entries[collection.index];
  if (text !== collection.opened && entry) {
    entry.text = text;
    Object.assign(entry, splitPgn(text)[0]);
    collection.opened = text;
    storeCollection(state);
  }
}

/** All games of the list, with what was added. */
export function wholeText(state: State): string {
  keepGame(state);
  return (state.collection?.entries ?? []).map((entry) => entry.text).join('\n');
}

/** Why a game of the list cannot be opened, or nothing. */
export function refusal(entry: PgnEntry): string {
  try {
    variantOf(entry.headers);
    return '';
  } catch (error) {
    return error instanceof Error ? error.message : '';
  }
}

/** Which game is open; the list itself is stored when it changes. */
export function storePlace(state: State): void {
  const { index = null, opened = '' } = state.collection ?? {};
  localStorage.setItem(PLACE_KEY, JSON.stringify({ index, opened }));
}

export function storeCollection(state: State): void {
  const { collection } = state;
  try {
    localStorage.removeItem(STORAGE_KEY);
    const text = collection?.entries.map((entry) => entry.text).join('\n') ?? '';
    if (!collection || text.length > MAX_STORED) return;
    localStorage.setItem(STORAGE_KEY, JSON.stringify({ name: collection.name, text }));
    storePlace(state);
  } catch {
    state.notice = 'This browser does not store the list of games, so a reload closes it.';
  }
}

/** The list that was open before a reload. */
export function loadCollection(): Collection | null {
  try {
    const stored = JSON.parse(localStorage.getItem(STORAGE_KEY) ?? 'null') as {
      name: string;
      text: string;
    } | null;
    const place = JSON.parse(localStorage.getItem(PLACE_KEY) ?? 'null') as {
      index: number | null;
      opened: string;
    } | null;
    if (!stored || !place) return null;
    return { name: stored.name, entries: splitPgn(stored.text), ...place };
  } catch {
    return null;
  }
}
