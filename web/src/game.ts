// Actions on the game: playing moves, going to positions, new games, import and export. Calls `match.ts` and
// `analysis.ts` when the position changes.
import { roleToChar } from 'chessops/util';
import * as analysis from './analysis';
import type { App } from './app';
import { update } from './app';
import { keepGame } from './collection';
import { withText } from './comments';
import { canMove, clearSelection, currentNode, pieceAt } from './current';
import * as match from './match';
import type { Opening } from './openings';
import type { Role, SquareName } from './rules';
import { spoken, START, turnOf } from './rules';
import type { State } from './state';
import type { Game, TreeNode } from './tree';
import { addMove, endOfLine, newGame, nodeOf, promote, remove, ROOT } from './tree';

/** Play a move of the user (UCI or SAN). Returns whether it was legal. */
export function play(app: App, text: string): boolean {
  const { state } = app;
  if (!canMove(state)) return false;
  const node = addMove(state.game, state.current, text);
  if (!node) return false;
  enterNode(app, node, currentNode(state).fen);
  return true;
}

/** Play the engine's move in the match. */
export function playEngineMove(app: App, move: string): void {
  const { state } = app;
  const { match: current } = state;
  state.request = null;
  if (!current || current.outcome || state.mode !== 'play') return;
  const before = nodeOf(state.game, current.tip).fen;
  const node = addMove(state.game, current.tip, move);
  const { dropRole } = state;
  if (node) enterNode(app, node, before);
  state.dropRole = dropRole; // a piece that was taken from the pocket meanwhile
}

/** Go to the node of a new move, and notify match and analysis. */
function enterNode(app: App, node: TreeNode, before: string): void {
  const { state } = app;
  state.current = node.id;
  clearSelection(state);
  state.announcement = `${turnOf(before) === 'white' ? 'White' : 'Black'} plays ${spoken(node.san)}.`;
  app.sound(node.san.includes('x') ? 'capture' : 'move');
  match.onMove(app);
  analysis.onPositionChange(app);
  app.redraw();
}

export function goTo(app: App, id: number): void {
  const { state } = app;
  if (!state.game.nodes[id]) return;
  if (id !== state.current || state.selected) setCurrent(app, id);
}

export function back(app: App): void {
  const { parent } = currentNode(app.state);
  if (parent !== null) goTo(app, parent);
}

export function forward(app: App): void {
  const next = currentNode(app.state).children[0];
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
  setCurrent(app, remove(app.state.game, app.state.current));
}

export function flip(app: App): void {
  update(app, { orientation: match.opponentOf(app.state.orientation) });
}

/** Put another game on the board. */
export function openGame(app: App, game: Game, at = ROOT): void {
  const { state } = app;
  keepGame(state);
  if (state.collection) state.collection.index = null;
  match.leaveMatch(app);
  state.game = game;
  state.dialog = null;
  setCurrent(app, at);
}

function setCurrent(app: App, id: number): void {
  app.state.current = id;
  clearSelection(app.state);
  analysis.onPositionChange(app);
  app.redraw();
}

export function startFromOpening(app: App, opening: Opening): void {
  const game = newGame(app.state.game.variant);
  let at = ROOT;
  for (const san of opening.moves.split(' ')) at = addMove(game, at, san)?.id ?? at;
  game.headers['Opening'] = opening.name;
  openGame(app, game, at);
}

/** Open the dialog of openings. Requests those of the variant, once. */
export function openOpenings(app: App): void {
  const { variant } = app.state.game;
  if (!app.state.openings[variant]) app.send({ type: 'openings', variant });
  update(app, { dialog: 'openings' });
}

/** Start from an opening of matches, by its number from 1. */
export function startFromMatchOpening(app: App, number: number): void {
  const { state } = app;
  const { variant } = state.game;
  const found = state.openings[variant]?.[number - 1];
  if (!found) return;
  state.openingNumber = number;
  const game = newGame(variant, found[1]);
  game.headers['Opening'] = found[0];
  openGame(app, game);
}

export function restart(app: App, variant: Game['variant'], fen = START[variant], chess960 = false): void {
  openGame(app, newGame(variant, fen, chess960));
}

/** Change the comment of the position on the board; commands in it, as clocks, stay. */
export function setComment(app: App, text: string): void {
  const node = currentNode(app.state);
  const comments = withText(node.comments, text);
  if (comments) node.comments = comments;
  else delete node.comments;
  app.redraw();
}

const JUDGEMENTS = [1, 2, 3, 4, 5, 6];

/** Set the glyph that judges the last move, or remove it. */
export function setGlyph(app: App, nag: number | null): void {
  const node = currentNode(app.state);
  const others = (node.nags ?? []).filter((known) => !JUDGEMENTS.includes(known));
  node.nags = nag === null ? others : [nag, ...others];
  node.mark = undefined;
  app.redraw();
}

/** Called when a piece was moved on the board. A promotion first opens the choice of the piece. */
export function moveOnBoard(app: App, from: SquareName, to: SquareName, isPremove: boolean): void {
  const { state } = app;
  const role = pieceAt(state, from);
  const isPromotion = role === 'pawn' && /[18]$/.test(to) && legalPromotion(state, from, to);
  if (isPromotion && !isPremove) {
    update(app, { promotion: { from, to, colour: turnOf(currentNode(state).fen) } });
    return;
  }
  playOrReset(app, from + to + (isPromotion ? 'q' : ''));
}

/** Play a move of the board; if it is illegal, set the pieces again. */
function playOrReset(app: App, text: string): void {
  if (play(app, text)) return;
  app.resetBoard();
  app.redraw();
}

function legalPromotion(state: State, from: SquareName, to: SquareName): boolean {
  const trial = newGame(state.game.variant, currentNode(state).fen, state.game.chess960);
  return addMove(trial, ROOT, `${from}${to}q`) !== undefined;
}

export function choosePromotion(app: App, role: Role | null): void {
  const { state } = app;
  const chosen = state.promotion;
  state.promotion = null;
  playOrReset(app, chosen && role ? chosen.from + chosen.to + roleToChar(role) : '');
}

export function dropOnBoard(app: App, role: Role, square: SquareName): void {
  app.state.dropRole = null;
  playOrReset(app, `${roleToChar(role).toUpperCase()}@${square}`);
}
