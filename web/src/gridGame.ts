// Actions on a game on a grid: a new game, moves of the user and of the engine, going through the game. The
// server knows the rules; every change of the position asks it for the legal moves.
import * as analysis from './analysis';
import type { App } from './app';
import { stopSearch, update } from './app';
import type { Cell, GridPosition, Side } from './grid';
import { baseName, moveOf, sideToMove } from './grid';
import { DEFAULT_CONFIG } from './state';
import type { GridForm, GridMatch } from './state';

/** Begin a new game: against the engine, or without it. */
export function newGridGame(app: App, form: GridForm, human: Side | null): void {
  const { grid } = app.state;
  stopSearch(app);
  const given = Object.entries(form.parameters).filter(([, value]) => value !== '');
  const game = form.name + (given.length ? `:${given.map((pair) => pair.join('=')).join(',')}` : '');
  const match: GridMatch | null = human && { human, level: { ...form.level } };
  Object.assign(grid, { game, moves: [], at: 0, match, position: null, from: null });
  app.state.selected = null;
  if (human) app.state.analysis.running = false;
  lookUp(app);
}

/** Request the position on the board from the server. */
export function lookUp(app: App): void {
  const { grid } = app.state;
  grid.lookId = app.nextId();
  grid.from = null;
  if (app.state.connection === 'open')
    app.send({
      type: 'grid-position',
      id: grid.lookId,
      game: { name: grid.game, moves: grid.moves.slice(0, grid.at) },
    });
  app.redraw();
}

export function onPosition(app: App, id: number, position: GridPosition): void {
  const { state } = app;
  if (id !== state.grid.lookId || state.mode !== 'games') return;
  state.grid.position = position;
  if (state.grid.match) requestMove(app);
  else analysis.onPositionChange(app);
  if (position.result !== null) state.announcement = `${resultText(position.result)}.`;
  app.redraw();
}

/** Request the engine's move, if it is to move. */
function requestMove(app: App): void {
  const { state } = app;
  const { match, position, moves, at, game } = state.grid;
  if (!match || !position || position.result !== null || at !== moves.length) return;
  if (sideToMove(position.position) === match.human || state.request) return;
  const id = app.nextId();
  state.request = { id, purpose: 'grid-move' };
  const { by, evaluations, seconds } = match.level;
  app.send({
    type: 'grid-play',
    id,
    game: { name: game, moves },
    config: DEFAULT_CONFIG,
    machine: state.machine,
    level: by === 'seconds' ? { by, seconds } : { by: 'evaluations', evaluations },
  });
}

/** Play the engine's move. */
export function onEngineMove(app: App, move: string): void {
  app.state.request = null;
  addMove(app, move);
}

/** Whether the user may move. */
export function mayMove(app: App): boolean {
  const { grid, selected } = app.state;
  const { position, match } = grid;
  if (!position || selected || position.result !== null || position.moves.length !== grid.at) return false;
  if (!match) return true;
  return grid.at === grid.moves.length && sideToMove(position.position) === match.human;
}

/** Play a move of the user. */
export function play(app: App, move: string): void {
  if (mayMove(app) && app.state.grid.position?.legal.includes(move)) addMove(app, move);
}

function addMove(app: App, move: string): void {
  const { grid } = app.state;
  grid.moves = [...grid.moves.slice(0, grid.at), move];
  grid.at = grid.moves.length;
  app.sound('move');
  app.state.announcement = `${grid.moves.length % 2 ? 'x' : 'o'} plays ${move}.`;
  lookUp(app);
}

/** Called when a cell was clicked: plays there, or chooses the piece to move. */
export function onCell(app: App, cell: Cell): void {
  const { grid } = app.state;
  if (!grid.position || !mayMove(app)) return;
  const move = moveOf(grid.position, cell, grid.from);
  if (move) play(app, move);
  else if (baseName(grid.game) === 'breakthrough') {
    const isOwn = grid.position.legal.some((legal) => legal.startsWith(cell.name));
    grid.from = isOwn && grid.from !== cell.name ? cell.name : null;
    app.redraw();
  }
}

/** Go to the position after so many moves. */
export function goTo(app: App, at: number): void {
  const { state } = app;
  const { grid } = state;
  const to = Math.max(0, Math.min(grid.moves.length, at));
  if (to === grid.at && !state.selected) return;
  grid.at = to;
  state.selected = null;
  lookUp(app);
}

/** Take back the last move of the user, and the engine's reply to it. */
export function takeBack(app: App): void {
  const { grid } = app.state;
  if (!grid.match) return;
  stopSearch(app);
  const isOwn = grid.moves.length % 2 === (grid.match.human === 'x' ? 0 : 1);
  grid.moves = grid.moves.slice(0, Math.max(0, grid.moves.length - (isOwn ? 2 : 1)));
  grid.at = grid.moves.length;
  lookUp(app);
}

/** Leave the match: the game can be analysed. */
export function leaveMatch(app: App): void {
  stopSearch(app);
  app.state.grid.match = null;
  update(app, {});
}

/** Add moves to the game from the position on the board. */
export function playLine(app: App, moves: readonly string[]): void {
  const { grid } = app.state;
  grid.moves = [...grid.moves.slice(0, grid.at), ...moves];
  grid.at = grid.moves.length;
  app.state.selected = null;
  lookUp(app);
}

export function resultText(result: number): string {
  if (result === 0) return 'Draw';
  return result > 0 ? 'x wins' : 'o wins';
}
