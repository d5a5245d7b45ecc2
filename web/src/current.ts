// Queries on the state: the position on the board, how the game ended there, and who may move.
import type { Position } from 'chessops/chess';
import { parseSquare } from 'chessops/util';
import type { GameSoFar } from './protocol';
import type { Outcome, Role, SquareName } from './rules';
import { NULL_UCI, outcomeOf, positionOf, turnOf } from './rules';
import type { State } from './state';
import type { TreeNode } from './tree';
import { nodeOf, pathTo, ROOT } from './tree';

export function currentNode(state: State): TreeNode {
  return nodeOf(state.game, state.current);
}

export function currentPosition(state: State): Position {
  return positionOf(state.game.variant, currentNode(state).fen);
}

/** The outcome by the rules at a node of the game, or null. */
export function outcomeAt(state: State, id = state.current): Outcome | null {
  const path = pathTo(state.game, id);
  const node = path.at(-1);
  if (!node) return null;
  return outcomeOf(
    positionOf(state.game.variant, node.fen),
    path.slice(0, -1).map((earlier) => earlier.fen),
  );
}

/** The position that is searched: of the game, or of the game on a grid. */
export function searchedPosition(state: State): string {
  return state.mode === 'games' ? (state.grid.position?.position ?? '. x') : currentNode(state).fen;
}

/** Whether the game is over in the position on the board. */
export function isOver(state: State): boolean {
  return state.mode === 'games' ? state.grid.position?.result !== null : outcomeAt(state) !== null;
}

/** Whether the user may move here. */
export function canMove(state: State): boolean {
  if (state.selected || outcomeAt(state)) return false;
  if (state.mode !== 'play' || !state.match) return true;
  return (
    state.current === state.match.tip &&
    !state.match.outcome &&
    turnOf(currentNode(state).fen) === state.match.human
  );
}

/** Whether the user may enter a premove while the engine thinks. */
export function canPremove(state: State): boolean {
  const { match: current } = state;
  return (
    state.mode === 'play' &&
    !!current &&
    !current.outcome &&
    state.current === current.tip &&
    turnOf(currentNode(state).fen) !== current.human
  );
}

export function gameSoFar(state: State, id = state.current): GameSoFar {
  const { variant, chess960 } = state.game;
  const path = pathTo(state.game, id);
  // The engine knows no null moves: for it the game begins after the last one.
  const from = path.findLastIndex((node) => node.uci === NULL_UCI);
  const { fen } = path[Math.max(0, from)] ?? nodeOf(state.game, ROOT);
  return { variant, chess960, fen, moves: path.slice(Math.max(0, from) + 1).map((node) => node.uci) };
}

export function clearSelection(state: State): void {
  Object.assign(state, { promotion: null, dropRole: null, keyboardFrom: null, hint: null, selected: null });
}

export function pieceAt(state: State, square: SquareName): Role | undefined {
  return currentPosition(state).board.getRole(parseSquare(square));
}
