// Moving about in the game: playing moves, going to positions, new games, text in and out. What follows for
// an opponent or an analyst is for `match.ts` and `analysis.ts`.
import type { Position } from 'chessops/chess';
import * as analysis from './analysis';
import type { App } from './app';
import * as match from './match';
import type { Opening } from './openings';
import { readPgn, writePgn } from './pgn';
import type { Ending, Role, SquareName } from './rules';
import { endingOf, positionOf, RulesError, START, turnOf } from './rules';
import type { State } from './state';
import type { Game, TreeNode } from './tree';
import { addMove, endOfLine, movesTo, newGame, nodeOf, pathTo, promote, remove, ROOT } from './tree';

export function here(state: State): TreeNode {
  return nodeOf(state.game, state.current);
}

export function position(state: State): Position {
  return positionOf(state.game.variant, here(state).fen);
}

/** How the game has ended at a node, by the rules. */
export function ending(state: State, id = state.current): Ending | null {
  const path = pathTo(state.game, id);
  const node = path.at(-1);
  if (!node) return null;
  return endingOf(
    positionOf(state.game.variant, node.fen),
    path.slice(0, -1).map((earlier) => earlier.fen),
  );
}

/** Whether the person at the board may move here. */
export function mayMove(state: State): boolean {
  if (state.selected || ending(state)) return false;
  if (state.mode !== 'play' || !state.match) return true;
  return (
    state.current === state.match.tip && !state.match.outcome && turnOf(here(state).fen) === state.match.human
  );
}

/** Whether a move may be made in advance, while the engine thinks. */
export function mayPremove(state: State): boolean {
  const { match: current } = state;
  return (
    state.mode === 'play' &&
    !!current &&
    !current.outcome &&
    state.current === current.tip &&
    turnOf(here(state).fen) !== current.human
  );
}

/** Play a move at the board (UCI or SAN); whether it was legal. */
export function play(app: App, text: string): boolean {
  const { state } = app;
  if (!mayMove(state)) return false;
  const node = addMove(state.game, state.current, text);
  if (!node) return false;
  arrive(app, node, here(state).fen);
  return true;
}

/** The game goes on at a new node. */
export function arrive(app: App, node: TreeNode, before: string): void {
  const { state } = app;
  state.current = node.id;
  forgetChoices(state);
  state.announcement = `${turnOf(before) === 'white' ? 'White' : 'Black'} plays ${spoken(node.san)}.`;
  app.sound(node.san.includes('x') ? 'capture' : 'move');
  match.moved(app);
  analysis.moved(app);
  app.redraw();
}

/** A move in words for a screen reader. */
export function spoken(san: string): string {
  const words: Record<string, string> = {
    N: 'knight ',
    B: 'bishop ',
    R: 'rook ',
    Q: 'queen ',
    K: 'king ',
    P: 'pawn ',
    x: 'takes ',
    '+': ' check',
    '#': ' checkmate',
    '=': ' promotes to ',
    '@': 'to ',
  };
  if (san.startsWith('O-O-O')) return `castles queenside${san.endsWith('+') ? ' check' : ''}`;
  if (san.startsWith('O-O')) return `castles kingside${san.endsWith('+') ? ' check' : ''}`;
  return san.replace(/[NBRQKPx+#=@]/g, (sign) => words[sign] ?? sign);
}

export function goTo(app: App, id: number): void {
  const { state } = app;
  if (!state.game.nodes[id]) return;
  if (id === state.current && !state.selected) return;
  state.current = id;
  forgetChoices(state);
  analysis.moved(app);
  app.redraw();
}

export function back(app: App): void {
  const { parent } = here(app.state);
  if (parent !== null) goTo(app, parent);
}

export function forward(app: App): void {
  const next = here(app.state).children[0];
  if (next !== undefined) goTo(app, next);
}

export function toStart(app: App): void {
  goTo(app, ROOT);
}

export function toEnd(app: App): void {
  goTo(app, endOfLine(app.state.game, app.state.current));
}

export function promoteLine(app: App): void {
  promote(app.state.game, app.state.current);
  app.redraw();
}

export function removeLine(app: App): void {
  const { state } = app;
  state.current = remove(state.game, state.current);
  forgetChoices(state);
  analysis.moved(app);
  app.redraw();
}

export function flip(app: App): void {
  app.state.orientation = app.state.orientation === 'white' ? 'black' : 'white';
  app.redraw();
}

/** Put another game on the board. */
export function open(app: App, game: Game, at = ROOT): void {
  const { state } = app;
  match.leave(app);
  state.game = game;
  state.current = at;
  forgetChoices(state);
  analysis.moved(app);
  app.redraw();
}

export function openOpening(app: App, opening: Opening): void {
  const game = newGame(app.state.game.variant);
  let at = ROOT;
  for (const san of opening.moves.split(' ')) at = addMove(game, at, san)?.id ?? at;
  game.headers['Opening'] = opening.name;
  app.state.dialog = null;
  open(app, game, at);
}

/** Ask for the opening suite of the variant on the board, once. */
export function askSuite(app: App): void {
  const { variant } = app.state.game;
  if (!app.state.suites[variant]) app.say({ type: 'openings', variant });
}

/** Begin from a position of the suite, by its number from 1. */
export function openSuite(app: App, number: number): void {
  const { state } = app;
  const { variant } = state.game;
  const found = state.suites[variant]?.[number - 1];
  if (!found) return;
  state.suiteNumber = number;
  const game = newGame(variant, found[1]);
  game.headers['Opening'] = found[0];
  state.dialog = null;
  open(app, game);
}

export function restart(app: App, variant: Game['variant'], fen = START[variant], chess960 = false): void {
  open(app, newGame(variant, fen, chess960));
}

/** What is said about illegal moves of a game that was read. */
export function leftOut(moves: number): string {
  if (moves === 0) return '';
  return moves === 1 ? '1 illegal move was left out.' : `${moves} illegal moves were left out.`;
}

/** Read a FEN or PGN that somebody pasted. */
export function importText(app: App): void {
  const { state } = app;
  try {
    const { game, skipped } = readGame(state.importText.trim(), state.game);
    state.dialog = null;
    state.importError = '';
    state.importText = '';
    state.notice = leftOut(skipped);
    open(app, game, endOfLine(game, ROOT));
  } catch (error) {
    if (!(error instanceof RulesError)) throw error;
    state.importError = error.message;
    app.redraw();
  }
}

function readGame(text: string, present: Game): { game: Game; skipped: number } {
  if (!text) throw new RulesError('There is nothing to read yet.');
  if (!/^[\w~/[\]]+\/[\w~/[\]]+(\s|$)/.test(text)) return readPgn(text);
  const isHouse = /\[[a-z]*\]|(?:\/[\w~]*){8}/i.test(text.split(' ')[0] ?? '');
  const variant = isHouse ? 'crazyhouse' : 'chess';
  const rights = text.split(/\s+/)[2] ?? '-';
  return { game: newGame(variant, text, present.chess960 || /[A-Ha-h]/.test(rights)), skipped: 0 };
}

export function pgn(state: State): string {
  const outcome = state.match?.outcome ?? ending(state, state.match?.tip ?? endOfLine(state.game, ROOT));
  const result = !outcome
    ? '*'
    : outcome.winner === 'white'
      ? '1-0'
      : outcome.winner === 'black'
        ? '0-1'
        : '1/2-1/2';
  return writePgn(state.game, result);
}

export function gameSoFar(
  state: State,
  id = state.current,
): {
  variant: Game['variant'];
  chess960: boolean;
  fen: string;
  moves: string[];
} {
  const { variant, chess960 } = state.game;
  return { variant, chess960, fen: nodeOf(state.game, ROOT).fen, moves: movesTo(state.game, id) };
}

export function forgetChoices(state: State): void {
  Object.assign(state, { promotion: null, dropRole: null, keyboardFrom: null, hint: null, selected: null });
}

/** A piece was moved on the board; promotions are asked for. */
export function moveOnBoard(app: App, from: SquareName, to: SquareName, isPremove: boolean): void {
  const { state } = app;
  const role = pieceAt(state, from);
  const isPromotion = role === 'pawn' && /[18]$/.test(to) && legalPromotion(state, from, to);
  if (isPromotion && !isPremove) {
    state.promotion = { from, to, colour: turnOf(here(state).fen) };
    app.redraw();
    return;
  }
  if (!play(app, from + to + (isPromotion ? 'q' : ''))) {
    app.resetBoard();
    app.redraw();
  }
}

function legalPromotion(state: State, from: SquareName, to: SquareName): boolean {
  const trial = newGame(state.game.variant, here(state).fen, state.game.chess960);
  return addMove(trial, ROOT, `${from}${to}q`) !== undefined;
}

export function pieceAt(state: State, square: SquareName): Role | undefined {
  return position(state).board.getRole(squareIndex(square));
}

export function squareIndex(square: SquareName): number {
  return square.charCodeAt(0) - 97 + 8 * (square.charCodeAt(1) - 49);
}

export function choosePromotion(app: App, role: Role | null): void {
  const { state } = app;
  const chosen = state.promotion;
  state.promotion = null;
  const letter = { queen: 'q', rook: 'r', bishop: 'b', knight: 'n', pawn: '', king: '' }[role ?? 'king'];
  if (!chosen || !letter || !play(app, chosen.from + chosen.to + letter)) {
    app.resetBoard();
    app.redraw();
  }
}

const LETTERS: Record<Role, string> = {
  pawn: 'P',
  knight: 'N',
  bishop: 'B',
  rook: 'R',
  queen: 'Q',
  king: 'K',
};

export function dropOnBoard(app: App, role: Role, square: SquareName): void {
  app.state.dropRole = null;
  if (!play(app, `${LETTERS[role]}@${square}`)) {
    app.resetBoard();
    app.redraw();
  }
}
