// Judges a whole game on the server, as `anabranch annotate` does, and writes what it found into the game:
// evaluations, marks, better lines, and how each player did.
import { stopSearch } from './app';
import type { App } from './app';
import { isJudgement } from './comments';
import { gameSoFar } from './current';
import { configFor } from './machine';
import type { Evaluation, Judged } from './protocol';
import { NULL_UCI } from './rules';
import type { TreeNode } from './tree';
import { addMove, endOfLine, lineThrough, storeJudgement } from './tree';

/** Judge the moves of the line on the board. */
export function startJudging(app: App): void {
  const { state } = app;
  stopSearch(app);
  state.analysis.running = false;
  const line = lineThrough(state.game, state.current);
  const begin = Math.max(
    0,
    line.findLastIndex((node) => node.uci === NULL_UCI),
  );
  state.analysis.judging = line.slice(begin).map((node) => node.id);
  state.analysis.sweep = [...state.analysis.judging];
  const id = app.nextId();
  state.request = { id, purpose: 'sweep' };
  app.send({
    type: 'judge',
    id,
    game: gameSoFar(state, endOfLine(state.game, state.current)),
    config: configFor(state, state.analysis.configs[0]),
    machine: state.machine,
    seconds: state.analysis.judgeSeconds,
  });
  app.redraw();
}

/** Called when a position of the game was evaluated. */
export function onJudging(app: App, ply: number, evaluation: Evaluation): void {
  const { state } = app;
  const node = state.game.nodes[state.analysis.judging[ply] ?? -1];
  if (node) storeJudgement(node, evaluation);
  state.analysis.sweep = state.analysis.judging.slice(ply + 1);
  app.redraw();
}

/** Called when all moves were judged. */
export function onJudged(app: App, judged: Judged): void {
  const { state } = app;
  const { game, analysis } = state;
  const line = analysis.judging.map((id) => game.nodes[id]).filter((node): node is TreeNode => !!node);
  if (line.length === judged.evaluations.length) {
    line.forEach((node, ply) => {
      const evaluation = judged.evaluations[ply];
      const isOver = ply === line.length - 1 && evaluation?.visits === 0;
      if (evaluation && !isOver) storeJudgement(node, evaluation);
      const move = ply ? judged.moves[ply - 1] : undefined;
      if (!move || node.parent === null) return;
      node.isJudged = !isOver;
      node.isBest = move.best;
      mark(node, move.nags);
      if (move.missed) addComment(node, move.missed);
      for (const moves of move.lines) {
        let at = node.parent;
        for (const step of moves) at = addMove(game, at, step)?.id ?? at;
      }
    });
    game.summary = { white: judged.white, black: judged.black };
    state.announcement = 'The game is judged.';
  }
  analysis.sweep = [];
  analysis.judging = [];
  state.request = null;
  app.redraw();
}

/** Set the mark of a move, unless somebody else has judged it; a mark of an earlier judgement is replaced. */
function mark(node: TreeNode, nags: readonly number[]): void {
  const others = (node.nags ?? []).filter((nag) => nag !== node.mark);
  const own = others.some(isJudgement) ? undefined : nags[0];
  node.mark = own;
  node.nags = own === undefined ? others : [...others, own];
}

function addComment(node: TreeNode, text: string): void {
  const others = (node.comments ?? []).filter((comment) => !comment.startsWith('mate in '));
  node.comments = [...others, text];
}

/** The moves of the line whose mark is at least a mistake, for the chart. */
export function isMistake(node: TreeNode): boolean {
  return node.mark === 2 || node.mark === 4;
}
