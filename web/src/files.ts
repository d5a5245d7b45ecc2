// Opens what the user gives: pasted text, files, games of a list. One game goes on the board, several become
// a list to choose from.
import type { App } from './app';
import { update } from './app';
import { gamePgn, keepGame, storeCollection, storePlace } from './collection';
import { openGame, toEnd } from './game';
import { readEntry } from './pgn';
import type { PgnEntry } from './pgnFile';
import { splitPgn } from './pgnFile';
import { RulesError } from './rules';
import type { Game } from './tree';
import { newGame } from './tree';

const MAX_BYTES = 64 << 20;

/** Import the pasted FEN or PGN. */
export function importText(app: App): void {
  const { state } = app;
  try {
    const text = state.importText.trim();
    if (!text) throw new RulesError('The text is empty.');
    if (isFen(text)) {
      openGame(app, readFen(text, state.game));
      state.notice = '';
    } else openText(app, text, 'Pasted games');
    state.importError = '';
    state.importText = '';
    app.redraw();
  } catch (error) {
    if (!(error instanceof RulesError)) throw error;
    update(app, { importError: error.message });
  }
}

function isFen(text: string): boolean {
  return /^[\w~/[\]]+\/[\w~/[\]]+(\s|$)/.test(text);
}

function readFen(text: string, present: Game): Game {
  const isHouse = /\[[a-z]*\]|(?:\/[\w~]*){8}/i.test(text.split(' ')[0] ?? '');
  const variant = isHouse ? 'crazyhouse' : 'chess';
  const rights = text.split(/\s+/)[2] ?? '-';
  return newGame(variant, text, present.chess960 || /[A-Ha-h]/.test(rights));
}

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
    Object.assign(collection, { index, opened: gamePgn(state) });
    storePlace(state);
  } catch (error) {
    if (!(error instanceof RulesError)) throw error;
    update(app, { notice: error.message });
  }
}

function openEntry(app: App, entry: PgnEntry): void {
  const { game: opened, skipped } = readEntry(entry);
  app.state.notice = skippedText(skipped);
  openGame(app, opened);
  toEnd(app);
}

/** The notice about illegal moves of an imported game. */
export function skippedText(moves: number): string {
  if (moves === 0) return '';
  const what = moves === 1 ? '1 illegal move is' : `${moves} illegal moves are`;
  return `${what} in a comment, with what follows.`;
}

export function closeCollection(app: App): void {
  app.state.collection = null;
  storeCollection(app.state);
  update(app, { dialog: null });
}
