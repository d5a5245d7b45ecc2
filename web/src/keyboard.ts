// Keyboard input: a cursor on the board, and shortcuts for the page.
import { parseSquare } from 'chessops/util';
import * as analysis from './analysis';
import type { App } from './app';
import { canMove, clearSelection, currentPosition, isOver } from './current';
import * as game from './game';
import * as gridGame from './gridGame';
import { destinations, dropSquares } from './rules';
import type { Role, SquareName } from './rules';

const DROPS: Record<string, Role> = { p: 'pawn', n: 'knight', b: 'bishop', r: 'rook', q: 'queen' };
const STEPS: Record<string, [number, number]> = {
  ArrowUp: [0, 1],
  ArrowDown: [0, -1],
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
};

/** Handle a key that was pressed on the board. */
export function onBoard(app: App, event: KeyboardEvent): void {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const { state } = app;
  const step = STEPS[event.key];
  const drop = DROPS[event.key.toLowerCase()];
  if (step) moveCursor(app, step);
  else if (event.key === 'Enter' || event.key === ' ') press(app);
  else if (event.key === 'Escape') {
    clearSelection(state);
    state.announcement = 'Nothing is selected.';
  } else if (drop && dropSquares(currentPosition(state), drop).length && canMove(state)) {
    state.dropRole = state.dropRole === drop ? null : drop;
    state.keyboardFrom = null;
    state.announcement = state.dropRole ? `Choose where to drop the ${drop}.` : 'Nothing is selected.';
  } else return;
  event.preventDefault();
  event.stopPropagation();
  app.redraw();
}

function moveCursor(app: App, [right, up]: [number, number]): void {
  const { state } = app;
  const sign = state.orientation === 'white' ? 1 : -1;
  const at = state.cursor ?? (state.orientation === 'white' ? 'e2' : 'e7');
  const file = at.charCodeAt(0) - 97 + (state.cursor ? sign * right : 0);
  const rank = at.charCodeAt(1) - 49 + (state.cursor ? sign * up : 0);
  if (file < 0 || file > 7 || rank < 0 || rank > 7) return;
  state.cursor = (String.fromCharCode(97 + file) + String(rank + 1)) as SquareName;
  state.announcement = describe(app, state.cursor);
}

function describe(app: App, square: SquareName): string {
  const piece = currentPosition(app.state).board.get(parseSquare(square));
  return piece ? `${square}, ${piece.color} ${piece.role}` : `${square}, empty`;
}

/** Select the piece under the cursor, or move the selected one there. */
function press(app: App): void {
  const { state } = app;
  const at = state.cursor;
  if (!at || !canMove(state)) return;
  if (state.dropRole) {
    game.dropOnBoard(app, state.dropRole, at);
    return;
  }
  const position = currentPosition(state);
  const from = state.keyboardFrom;
  const dests = destinations(position, state.game.chess960);
  if (from && dests.get(from)?.includes(at)) {
    state.keyboardFrom = null;
    game.moveOnBoard(app, from, at, false);
  } else if (dests.get(at)?.length) {
    state.keyboardFrom = at === from ? null : at;
    state.announcement = state.keyboardFrom ? `${describe(app, at)}, selected.` : 'Nothing is selected.';
  } else state.announcement = from ? 'That move is not legal.' : `${describe(app, at)}, cannot move.`;
}

/** Start or stop the analysis. */
function toggleEngine(app: App): void {
  const { state } = app;
  if (state.mode === 'play') return;
  if (state.analysis.running) analysis.stop(app);
  else if (state.connection === 'open' && !isOver(state)) analysis.start(app);
}

/** Play the best move of the analysis. */
function playBest(app: App): void {
  const { state } = app;
  const best = state.analysis.reports[0]?.best;
  if (state.mode === 'play' || !best) return;
  if (state.mode === 'games') gridGame.play(app, best);
  else game.play(app, best);
}

/** Handle the wheel over the board: it goes through the game. */
export function onWheel(app: App, event: WheelEvent): void {
  if (event.ctrlKey || !event.deltaY) return;
  event.preventDefault();
  if (event.deltaY > 0) game.forward(app);
  else game.back(app);
}

/** Handle a key that was pressed elsewhere on the page. */
export function onPage(app: App, event: KeyboardEvent): void {
  const target = event.target;
  const isText = target instanceof HTMLElement && /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
  const isButton = target instanceof Element && !!target.closest('button, summary, a, [role=button]');
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const { state } = app;
  if (event.key === 'Escape') {
    state.dialog = null;
    if (state.promotion) game.choosePromotion(app, null);
    clearSelection(state);
    app.redraw();
    return;
  }
  if (isText || state.dialog || (isButton && event.key === ' ')) return;
  const { grid } = state;
  const gridActions: Record<string, () => void> = {
    ArrowLeft: () => gridGame.goTo(app, grid.at - 1),
    ArrowRight: () => gridGame.goTo(app, grid.at + 1),
    Home: () => gridGame.goTo(app, 0),
    End: () => gridGame.goTo(app, grid.moves.length),
    l: () => toggleEngine(app),
    ' ': () => playBest(app),
  };
  const chessActions: Record<string, () => void> = {
    ArrowLeft: () => game.back(app),
    ArrowRight: () => game.forward(app),
    Home: () => game.toStart(app),
    End: () => game.toEnd(app),
    f: () => game.flip(app),
    l: () => toggleEngine(app),
    ' ': () => playBest(app),
  };
  const action = (state.mode === 'games' ? gridActions : chessActions)[event.key];
  if (!action) return;
  event.preventDefault();
  action();
}
