// The analyst: searches the position on the board until told to stop, follows when the position changes, and
// keeps what it found. Also judges a whole game, position by position.
import type { App } from './app';
import { currentNode, gameSoFar, outcomeAt } from './current';
import { graphOf } from './graph/model';
import { forWhite, whiteScore } from './numbers';
import type { GraphColumns, Recipe, Report, Setting } from './protocol';
import { sanLine, turnOf } from './rules';
import type { Mode, Run, State } from './state';
import { lineThrough, nodeOf } from './tree';

const SWEEP_SECONDS = 0.5;
const MOST_RUNS = 6;

export function start(app: App): void {
  const { state } = app;
  state.analysis.sweep = [];
  state.analysis.running = true;
  order(app);
  app.redraw();
}

export function stop(app: App): void {
  const { state } = app;
  state.analysis.running = false;
  state.analysis.finish = null;
  state.analysis.sweep = [];
  if (state.order) app.say({ type: 'stop' });
  state.order = null;
  app.redraw();
}

/** Search what is on the board now, if the analyst is at work. */
export function order(app: App): void {
  const { state } = app;
  const { analysis } = state;
  if (!analysis.running || state.mode === 'play' || state.line !== 'open') return;
  analysis.reports = [null, null];
  analysis.graphs = [null, null];
  analysis.finish = null;
  if (outcomeAt(state)) {
    if (state.order) app.say({ type: 'stop' });
    state.order = null;
    return;
  }
  const id = app.nextId();
  state.order = { id, purpose: 'analysis' };
  app.say({
    type: 'analyse',
    id,
    game: gameSoFar(state),
    recipes: analysis.compare ? analysis.recipes : [analysis.recipes[0]],
    lines: analysis.lines,
    view: state.mode === 'graph' ? state.view : null,
  });
}

/** The position on the board is another one. */
export function moved(app: App): void {
  const { analysis } = app.state;
  if (app.state.mode === 'play') return;
  if (analysis.running || analysis.finish === 'solved' || analysis.finish === 'idle') {
    analysis.running = true; // it ended because there was nothing left to find; here there is
    order(app);
  } else {
    analysis.reports = [null, null];
    analysis.graphs = [null, null];
    analysis.finish = null;
  }
}

export function reported(app: App, report: Report): void {
  const { state } = app;
  state.analysis.reports[report.side] = report;
  judge(state, report, state.order?.purpose === 'sweep' ? state.analysis.sweep[0] : state.current);
  if (state.order?.purpose === 'analysis') note(state, report);
  app.redraw();
}

export function charted(app: App, side: 0 | 1, columns: GraphColumns): void {
  app.state.analysis.graphs[side] = graphOf(columns);
  app.redraw();
}

export function done(app: App, finish: string): void {
  const { state } = app;
  const { analysis } = state;
  const purpose = state.order?.purpose;
  state.order = null;
  if (purpose === 'sweep') {
    analysis.sweep.shift();
    sweepOn(app);
  } else {
    analysis.finish = finish;
    analysis.running = false;
  }
  app.redraw();
}

/** Keep what was found with the node it is about. */
function judge(state: State, report: Report, id: number | undefined): void {
  const node = id === undefined ? undefined : state.game.nodes[id];
  if (!node || report.side !== 0) return;
  const { visits } = report.statistics;
  if (node.judgement && node.judgement.visits > visits) return;
  node.judgement = { ...whiteScore(report, turnOf(node.fen)), visits };
}

/** The row of this recipe in the table of runs. */
function note(state: State, report: Report): void {
  const { runs, recipes } = state.analysis;
  const { fen } = currentNode(state);
  if (runs.fen !== fen) Object.assign(runs, { fen, rows: [] });
  const label = recipeText(state, recipes[report.side]);
  const row: Run = {
    label,
    move: sanLine(state.game.variant, fen, [report.best])[0] ?? report.best,
    cp: forWhite(turnOf(fen), report.cp),
    visits: report.statistics.visits,
    depth: report.statistics.mean_depth,
    transpositions: report.statistics.transpositions,
    solved: report.statistics.solved,
    leak: report.statistics.leak,
  };
  const at = runs.rows.findIndex((known) => known.label === label);
  if (at >= 0) runs.rows[at] = row;
  else runs.rows = [...runs.rows, row].slice(-MOST_RUNS);
}

/** The settings of a preset, as it is used for the variant on the board. */
export function baseOf(state: State, preset: string): Record<string, Setting> {
  return { ...state.hello?.presets[preset], ...state.hello?.tuned[preset]?.[state.game.variant] };
}

/** A recipe in a few words. */
export function recipeText(state: State, recipe: Recipe): string {
  const base = baseOf(state, recipe.preset);
  const changes = Object.entries(recipe.changes).filter(([name, value]) => base[name] !== value);
  return [recipe.preset, ...changes.map(([name, value]) => `${name}=${String(value)}`)].join(', ');
}

export function setPreset(app: App, side: 0 | 1, preset: string): void {
  app.state.analysis.recipes[side] = { preset, changes: {} };
  order(app);
  app.redraw();
}

export function setSetting(app: App, side: 0 | 1, name: string, value: Setting): void {
  const { state } = app;
  const recipe = state.analysis.recipes[side];
  const changes = { ...recipe.changes, [name]: value };
  if (baseOf(state, recipe.preset)[name] === value) {
    state.analysis.recipes[side] = {
      preset: recipe.preset,
      changes: Object.fromEntries(Object.entries(changes).filter(([key]) => key !== name)),
    };
  } else state.analysis.recipes[side] = { preset: recipe.preset, changes };
  order(app);
  app.redraw();
}

export function setCompare(app: App, compare: boolean): void {
  app.state.analysis.compare = compare;
  if (!compare) app.state.viewSide = 0;
  order(app);
  app.redraw();
}

export function setLines(app: App, lines: number): void {
  app.state.analysis.lines = lines;
  order(app);
  app.redraw();
}

/** Another mode: the graph is asked for only where it is seen. */
export function modeChanged(app: App, before: Mode): void {
  const { state } = app;
  state.selected = null;
  if (state.mode === before) return;
  if (state.mode === 'play') {
    if (state.order) app.say({ type: 'stop' });
    state.order = null;
    state.analysis.running = false;
    state.analysis.sweep = [];
  } else if (before === 'play') {
    if (state.order) app.say({ type: 'stop' });
    state.order = null;
    if (state.mode === 'graph') start(app);
  } else if (state.mode === 'graph' && !state.analysis.running) start(app);
  else app.say({ type: 'watch', view: state.mode === 'graph' ? state.view : null });
}

export function watch(app: App): void {
  const { state } = app;
  if (state.order?.purpose === 'analysis') app.say({ type: 'watch', view: state.view });
  else if (state.mode === 'graph') start(app);
  app.redraw();
}

/** Judge every position of the line on the board. */
export function sweep(app: App): void {
  const { state } = app;
  if (state.order) app.say({ type: 'stop' });
  state.order = null;
  state.analysis.running = false;
  state.analysis.sweep = lineThrough(state.game, state.current)
    .filter((node) => !outcomeAt(state, node.id))
    .map((node) => node.id);
  sweepOn(app);
  app.redraw();
}

function sweepOn(app: App): void {
  const { state } = app;
  const next = state.analysis.sweep[0];
  if (next === undefined) {
    state.analysis.reports = [null, null];
    return;
  }
  nodeOf(state.game, next).judgement = undefined;
  const id = app.nextId();
  state.order = { id, purpose: 'sweep' };
  app.say({
    type: 'analyse',
    id,
    game: gameSoFar(state, next),
    recipes: [state.analysis.recipes[0]],
    lines: 1,
    seconds: SWEEP_SECONDS,
    view: null,
  });
}
