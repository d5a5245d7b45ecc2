// The games of an opened file: a list to choose from. A game that was changed is written back into the list,
// the others keep their text as it came; the whole list can be downloaded. Stored in the browser where it fits.
import type { App } from './app';
import { update } from './app';
import * as game from './game';
import { readEntry, variantOf } from './pgn';
import type { PgnEntry } from './pgnFile';
import { splitPgn } from './pgnFile';
import { RulesError } from './rules';
import type { Collection, State } from './state';

const MAX_BYTES = 64 << 20;
const MAX_STORED = 2_000_000;
const STORAGE_KEY = 'anabranch-games';
const PLACE_KEY = 'anabranch-place';

/** Open the games of a text: one at once, several as a list. Throws a `RulesError` if there is none. */
export function openText(app: App, text: string, name: string): void {
  const entries = splitPgn(text);
  if (entries.length > 1) {
    keepGame(app.state);
    app.state.collection = { name, entries, index: null, opened: '' };
    storeCollection(app.state);
    update(app, { dialog: 'games', gamesFilter: '' });
    return;
  }
  const [entry] = entries;
  if (!entry) throw new RulesError('That is neither a FEN nor a PGN.');
  openEntry(app, entry);
}

/** Open a file of the user. */
export async function openFile(app: App, file: File): Promise<void> {
  try {
    if (file.size > MAX_BYTES) throw new RulesError(`${file.name} is larger than ${MAX_BYTES >> 20} MB.`);
    const bytes = await file.arrayBuffer();
    const text = decode(bytes);
    if (text.includes('\0')) throw new RulesError(`${file.name} is not text.`);
    openText(app, text, file.name);
  } catch (error) {
    if (!(error instanceof RulesError)) throw error;
    update(app, app.state.dialog === 'import' ? { importError: error.message } : { notice: error.message });
  }
}

/** UTF-8, or what old programs wrote. */
function decode(bytes: ArrayBuffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder('latin1').decode(bytes);
  }
}

export function chooseGame(app: App, index: number): void {
  const { state } = app;
  keepGame(state);
  const { collection } = state;
  const entry = collection?.entries[index];
  if (!collection || !entry) return;
  try {
    openEntry(app, entry);
    Object.assign(collection, { index, opened: game.pgn(state) });
    storePlace(state);
  } catch (error) {
    if (!(error instanceof RulesError)) throw error;
    update(app, { notice: error.message });
  }
}

function openEntry(app: App, entry: PgnEntry): void {
  const { game: opened, skipped } = readEntry(entry);
  app.state.notice = game.skippedText(skipped);
  game.openGame(app, opened);
  game.toEnd(app);
}

/** Write the game on the board back into the list, if it is from there and was changed. */
export function keepGame(state: State): void {
  const { collection } = state;
  if (!collection || collection.index === null) return;
  const text = game.pgn(state);
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

export function closeCollection(app: App): void {
  app.state.collection = null;
  storeCollection(app.state);
  update(app, { dialog: null });
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
function storePlace(state: State): void {
  const { index = null, opened = '' } = state.collection ?? {};
  localStorage.setItem(PLACE_KEY, JSON.stringify({ index, opened }));
}

function storeCollection(state: State): void {
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
