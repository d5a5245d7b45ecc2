// Analysis: searches the position on the board until it is stopped, follows when the position changes, and
// stores the results. `judge.ts` judges whole games.
import type { App } from './app';
import { stopSearch } from './app';
import { currentNode, gameSoFar, isOver } from './current';
import type { Graph } from './graph/model';
import { graphOf } from './graph/model';
import { configFor } from './machine';
import { forWhite, whiteScore } from './numbers';
import type { GraphColumns, Machine, SearchConfig, Report, Setting, Sharing } from './protocol';
import { sanLine, turnOf } from './rules';
import type { Analysis, Mode, Trial, State } from './state';
import { storeJudgement } from './tree';

const MAX_TRIALS = 6;
const MAX_HISTORY = 40;

export function start(app: App): void {
  const { state } = app;
  state.analysis.sweep = [];
  state.analysis.running = true;
  requestAnalysis(app);
  app.redraw();
}

export function stop(app: App): void {
  const { state } = app;
  state.analysis.running = false;
  state.analysis.finish = null;
  state.analysis.sweep = [];
  state.analysis.stopped = state.request?.purpose === 'analysis' ? state.request.id : null;
  stopSearch(app);
  app.redraw();
}

/** Request a search of the position on the board, if the analysis is running. */
export function requestAnalysis(app: App): void {
  const { state } = app;
  const { analysis } = state;
  if (!analysis.running || state.mode === 'play' || state.connection !== 'open') return;
  analysis.reports = [null, null];
  clearGraphs(analysis);
  analysis.finish = null;
  if (isOver(state)) {
    stopSearch(app);
    return;
  }
  const id = app.nextId();
  state.request = { id, purpose: 'analysis' };
  if (state.mode === 'games') {
    const { game: name, moves, at } = state.grid;
    app.send({
      type: 'grid-analyse',
      id,
      game: { name, moves: moves.slice(0, at) },
      configs: [{ preset: analysis.configs[0].preset, changes: {} }],
      machine: state.machine,
      lines: analysis.lines,
      view: state.view,
    });
    return;
  }
  app.send({
    type: 'analyse',
    id,
    game: gameSoFar(state),
    configs: (analysis.compare ? analysis.configs : analysis.configs.slice(0, 1)).map((config) =>
      configFor(state, config),
    ),
    machine: state.machine,
    lines: analysis.lines,
    view: state.mode === 'graph' ? state.view : null,
  });
}

/** Called when the position on the board has changed. */
export function onPositionChange(app: App): void {
  const { analysis } = app.state;
  app.state.proof = null;
  analysis.stopped = null;
  if (app.state.mode === 'play') return;
  if (analysis.running || analysis.finish === 'solved' || analysis.finish === 'idle') {
    analysis.running = true; // it ended because the old position was searched out
    requestAnalysis(app);
  } else {
    analysis.reports = [null, null];
    clearGraphs(analysis);
    analysis.finish = null;
  }
}

function clearGraphs(analysis: Analysis): void {
  analysis.graphs = [null, null];
  analysis.history = [[], []];
  analysis.shownMoment = null;
  analysis.stopped = null;
}

/** The graph on the screen: the newest, or the one of an earlier moment. */
export function shownGraph(state: State): Graph | null {
  const { graphs, history, shownMoment } = state.analysis;
  const earlier = shownMoment === null ? undefined : history[state.viewSide][shownMoment];
  return earlier ?? graphs[state.viewSide];
}

export function onReport(app: App, report: Report): void {
  const { state } = app;
  state.analysis.reports[report.side] = report;
  if (state.mode === 'games') {
    app.redraw();
    return;
  }
  if (report.side === 0) {
    const node = currentNode(state);
    storeJudgement(node, { ...whiteScore(report, turnOf(node.fen)), visits: report.statistics.visits });
  }
  storeTrial(state, report);
  app.redraw();
}

export function onGraph(app: App, side: 0 | 1, columns: GraphColumns & { sharing?: Sharing }): void {
  const { analysis } = app.state;
  const graph = graphOf(columns, columns.sharing ?? null);
  analysis.graphs[side] = graph;
  const kept = analysis.history[side];
  kept.push(graph);
  // Every other one is dropped when there are too many: the whole search stays, in larger steps.
  if (kept.length > MAX_HISTORY)
    analysis.history[side] = kept.filter((_, index) => index % 2 === (kept.length - 1) % 2);
  app.redraw();
}

export function onDone(app: App, finish: string): void {
  const { state } = app;
  const { analysis } = state;
  state.request = null;
  analysis.finish = finish;
  analysis.running = false;
  analysis.sweep = [];
  app.redraw();
}

/** Store the result of a configuration, for the table that compares them. */
function storeTrial(state: State, report: Report): void {
  const { trials, configs } = state.analysis;
  const { fen } = currentNode(state);
  if (trials.fen !== fen) Object.assign(trials, { fen, rows: [] });
  const label = configText(state, configs[report.side]);
  const row: Trial = {
    label,
    move: sanLine(state.game.variant, fen, [report.best])[0] ?? report.best,
    cp: forWhite(turnOf(fen), report.cp ?? 0),
    visits: report.statistics.visits,
    depth: report.statistics.mean_depth,
    transpositions: report.statistics.transpositions,
    solved: report.statistics.solved,
    leak: report.statistics.leak,
  };
  const at = trials.rows.findIndex((known) => known.label === label);
  if (at >= 0) trials.rows[at] = row;
  else trials.rows = [...trials.rows, row].slice(-MAX_TRIALS);
}

/** The settings of a preset for the variant on the board. */
export function presetSettings(state: State, preset: string): Record<string, Setting> {
  return state.hello?.presets[preset]?.[state.game.variant] ?? {};
}

/** A short description of a configuration. */
function configText(state: State, config: SearchConfig): string {
  const base = presetSettings(state, config.preset);
  const changes = Object.entries(config.changes).filter(([name, value]) => base[name] !== value);
  const network = configFor(state, config).network;
  return [
    config.preset,
    ...(network ? [network] : []),
    ...changes.map(([name, value]) => `${name}=${String(value)}`),
  ].join(', ');
}

export function setPreset(app: App, side: 0 | 1, preset: string): void {
  const { network = null } = app.state.analysis.configs[side];
  app.state.analysis.configs[side] = { preset, network, changes: {} };
  requestAnalysis(app);
  app.redraw();
}

export function setSetting(app: App, side: 0 | 1, name: string, value: Setting): void {
  const { state } = app;
  const config = state.analysis.configs[side];
  const changes = { ...config.changes, [name]: value };
  if (presetSettings(state, config.preset)[name] === value) {
    state.analysis.configs[side] = {
      ...config,
      changes: Object.fromEntries(Object.entries(changes).filter(([key]) => key !== name)),
    };
  } else state.analysis.configs[side] = { ...config, changes };
  requestAnalysis(app);
  app.redraw();
}

export function setNetwork(app: App, side: 0 | 1, network: string | null): void {
  app.state.analysis.configs[side] = { ...app.state.analysis.configs[side], network };
  requestAnalysis(app);
  app.redraw();
}

/** Change what searches use of the machine; a running analysis starts again with it. */
export function setMachine(app: App, changes: Partial<Machine>): void {
  Object.assign(app.state.machine, changes);
  requestAnalysis(app);
  app.redraw();
}

/** Search with the present configuration, and in turn with the same one in a tree. */
export function compareWithTree(app: App): void {
  const { analysis } = app.state;
  const [config] = analysis.configs;
  analysis.configs[1] = { ...config, changes: { ...config.changes, backup: 'tree' } };
  app.state.mode = 'analyse';
  analysis.running = true;
  setCompare(app, true);
}

export function setCompare(app: App, compare: boolean): void {
  app.state.analysis.compare = compare;
  if (!compare) app.state.viewSide = 0;
  requestAnalysis(app);
  app.redraw();
}

export function setLines(app: App, lines: number): void {
  app.state.analysis.lines = lines;
  requestAnalysis(app);
  app.redraw();
}

/** Called when the mode has changed. The graph is requested only where it is shown. */
export function onModeChange(app: App, before: Mode): void {
  const { state } = app;
  state.selected = null;
  if (state.mode === before) return;
  if (state.mode === 'games' || before === 'games') {
    stopSearch(app);
    Object.assign(state.analysis, { running: false, reports: [null, null], sweep: [] });
    clearGraphs(state.analysis);
    if (state.mode === 'graph') start(app);
    return;
  }
  if (state.mode === 'play') {
    stopSearch(app);
    state.analysis.running = false;
    state.analysis.sweep = [];
  } else if (before === 'play') {
    stopSearch(app);
    if (state.mode === 'graph') start(app);
  } else if (state.mode === 'graph' && !state.analysis.running) start(app);
  else app.send({ type: 'watch', view: state.mode === 'graph' ? state.view : null });
}

export function onViewChange(app: App): void {
  const { state } = app;
  if (state.request?.purpose === 'analysis') app.send({ type: 'watch', view: state.view });
  else if (state.mode === 'graph' || (state.mode === 'games' && !state.grid.match)) start(app);
  app.redraw();
}
