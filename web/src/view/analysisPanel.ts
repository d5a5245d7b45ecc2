// The panel of analysis: lines, win-draw-loss, every move with its visits, value and prior, for one
// configuration or for two side by side, and the evaluation over the game.
import * as analysis from '../analysis';
import type { App } from '../app';
import { update } from '../app';
import { currentNode, isOver, outcomeAt, searchedPosition } from '../current';
import * as game from '../game';
import { isGridPosition } from '../grid';
import * as gridGame from '../gridGame';
import {
  count,
  forWhite,
  megabytes,
  moveNumber,
  percent,
  score,
  shownMoves,
  signed,
  verdictText,
  whiteScore,
} from '../numbers';
import type { Line, MoveRow, Report } from '../protocol';
import { sanLine, turnOf } from '../rules';
import { addMove, plyOf } from '../tree';
import { bookCard } from './bookCard';
import { chart } from './chart';
import type { VNode } from './dom';
import { button, check, figures, h, scrolled, select, table } from './dom';
import { moveList } from './moveList';
import { enhancements, networkSelect, presetSelect } from './searchConfig';

const MAX_ROWS = 12;

/** Why a search ended without a stop. */
const FINISH_TEXTS: Record<string, string> = {
  time: 'Stopped at the time limit. Start it again to continue.',
  memory: 'Stopped: the memory of the graph is full.',
  solved: 'The position is solved.',
  idle: 'Nothing is left to evaluate.',
};

export function analysisPanel(app: App): VNode {
  const { state } = app;
  const sides: (0 | 1)[] = state.analysis.compare ? [0, 1] : [0];
  return h('div.side.wide', { key: 'analyse', class: { comparing: state.analysis.compare } }, [
    h('div.column', { key: 'engine' }, [
      h('section.card.engine', { attrs: { 'aria-label': 'Analysis' } }, [
        engineHead(app),
        h(
          'div.sides',
          sides.map((side) => sideView(app, side)),
        ),
      ]),
    ]),
    h('div.column', { key: 'game' }, [moveList(app), bookCard(app), chart(app)]),
    trials(app),
  ]);
}

function engineHead(app: App): VNode {
  const { state } = app;
  const { analysis: present } = state;
  return h('div.engine-head', [
    startButton(app),
    select('Lines', ['1', '2', '3', '4', '5', '6', '8'], String(present.lines), (lines) =>
      analysis.setLines(app, Number(lines)),
    ),
    check('Compare two presets', present.compare, (compare) => analysis.setCompare(app, compare)),
    check('Arrows', state.arrows, (arrows) => update(app, { arrows })),
  ]);
}

export function startButton(app: App): VNode {
  const { state } = app;
  return state.analysis.running
    ? button('Stop', () => analysis.stop(app), { icon: 'stop', showsText: true, kind: 'primary', id: 'stop' })
    : button('Analyse', () => analysis.start(app), {
        icon: 'play',
        showsText: true,
        kind: 'primary',
        id: 'start',
        disabled: state.connection !== 'open' || isOver(state),
      });
}

function sideView(app: App, side: 0 | 1): VNode {
  const { state } = app;
  const report = state.request?.purpose === 'sweep' ? null : state.analysis.reports[side];
  return h('div.side-view', { key: side, attrs: { 'data-side': side } }, [
    presetSelect(app, side),
    networkSelect(app, state.game.variant, state.analysis.configs[side].network, (network) =>
      analysis.setNetwork(app, side, network),
    ),
    enhancements(app, side),
    report ? verdictRow(app, report) : h('p.empty', emptyText(app)),
    report ? lines(app, report) : null,
    report ? moveTable(app, report) : null,
    report ? statistics(report) : null,
    report && state.analysis.finish ? h('p.empty', FINISH_TEXTS[state.analysis.finish] ?? '') : null,
  ]);
}

function emptyText(app: App): string {
  const { state } = app;
  const end = outcomeAt(state);
  if (end) return 'The game is over in this position.';
  if (state.analysis.sweep.length) return `Judging the game: ${state.analysis.sweep.length} positions left.`;
  if (state.connection !== 'open') return 'The engine is not connected.';
  return state.analysis.running ? 'Searching…' : 'Start the analysis to see lines, values and visits.';
}

export function verdictRow(app: App, report: Report): VNode {
  const turn = turnOf(searchedPosition(app.state));
  const isGrid = app.state.mode === 'games';
  const [first, second] = isGrid ? ['x', 'o'] : ['White', 'Black'];
  const best = report.lines[0];
  const white = whiteScore(report, turn);
  const proven = report.solved ? verdictText(report.solved.state, report.solved.plies) : '';
  const [win, draw, loss] = best?.wdl ?? [0, 0, 0];
  const [ours, theirs] = turn === 'white' ? [win, loss] : [loss, win];
  return h('div.verdict', [
    h(
      'strong.score',
      { attrs: { 'data-id': 'score' } },
      isGrid ? signed(white.value, 2) : score(white.cp, white.mate),
    ),
    proven ? h('span.badge.proven', `Proven ${proven}`) : null,
    h(
      'div.wdl',
      {
        attrs: {
          role: 'img',
          'aria-label': `${first} wins ${ours / 10} %, draw ${draw / 10} %, ${second} wins ${theirs / 10} %`,
        },
      },
      [share('white', ours), share('draw', draw), share('black', theirs)],
    ),
  ]);
}

function share(kind: string, permille: number): VNode {
  return h(
    `span.${kind}`,
    { style: { width: `${permille / 10}%` } },
    permille >= 130 ? `${Math.round(permille / 10)}%` : '',
  );
}

export function lines(app: App, report: Report): VNode {
  return h(
    'ol.lines',
    { attrs: { 'aria-label': 'Principal variations' } },
    report.lines.map((line, index) => lineRow(app, line, index)),
  );
}

function lineRow(app: App, line: Line, index: number): VNode {
  const { state } = app;
  const fen = searchedPosition(state);
  const turn = turnOf(fen);
  const value = forWhite(turn, line.cp ?? line.value);
  const sans = sanCached(app, fen, line.moves.slice(0, shownMoves(line)));
  const proven = verdictText(line.state, line.plies);
  const first = state.mode === 'games' ? state.grid.at : plyOf(fen);
  return h('li', { key: index }, [
    h(
      'span.score',
      { class: { good: value > 0 } },
      line.cp === null
        ? signed(value, 2)
        : score(value, line.mate === null ? null : forWhite(turn, line.mate)),
    ),
    h('span.text', [
      ...sans.map((san, step) => {
        const number = moveNumber(first + step, step === 0);
        return h(
          'button.move',
          {
            key: step,
            attrs: { type: 'button', title: 'Play the line up to here' },
            on: { click: () => playLine(app, line.moves.slice(0, step + 1)) },
          },
          number ? `${number}\u00a0${san}` : san,
        );
      }),
      proven ? h('span.badge', proven) : null,
    ]),
    h('span.visits', count(line.visits)),
  ]);
}

function playMove(app: App, move: string): void {
  if (app.state.mode === 'games') gridGame.play(app, move);
  else game.play(app, move);
}

/** Add moves to the game as a line from the current position. */
export function playLine(app: App, moves: readonly string[]): void {
  const { state } = app;
  if (state.mode === 'games') {
    gridGame.playLine(app, moves);
    return;
  }
  let at = state.current;
  for (const move of moves) at = addMove(state.game, at, move)?.id ?? at;
  game.goTo(app, at);
}

export function moveTable(app: App, report: Report): VNode {
  const fen = searchedPosition(app.state);
  const turn = turnOf(fen);
  const shown = report.moves.slice(0, MAX_ROWS);
  const total = Math.max(
    1,
    report.moves.reduce((sum, row) => sum + row.visits, 0),
  );
  const largest = Math.max(0.1, ...shown.map((row) => Math.abs(row.q ?? 0)));
  const bars = { total, largest, sign: turn === 'white' ? 1 : -1 };
  return scrolled(
    'Moves of the position',
    table(
      'table',
      ['Move', 'Visits', 'Q', 'Prior', h('span.sr-only', 'Proven')],
      shown.map((row) => moveRow(app, fen, row, bars)),
    ),
  );
}

/** One move; its bars are relative to all visits, to the largest Q, and to 1. */
function moveRow(
  app: App,
  fen: string,
  row: MoveRow,
  { total, largest, sign }: { total: number; largest: number; sign: number },
): VNode {
  const san = sanCached(app, fen, [row.move])[0] ?? row.move;
  const q = row.q === null ? null : sign * row.q;
  return h('tr', { key: row.move, attrs: { 'data-move': row.move } }, [
    h('td', [
      h('button.move', { attrs: { type: 'button' }, on: { click: () => playMove(app, row.move) } }, san),
    ]),
    h('td.meter', [h('i', { style: { width: percent(row.visits / total) } }), h('span', count(row.visits))]),
    h('td.q', [
      h('div', [
        h('span', q === null ? '–' : signed(q, 2)),
        h(
          'span.track',
          q === null
            ? []
            : [h('i', { class: { minus: q < 0 }, style: { width: `${(Math.abs(q) / largest) * 50}%` } })],
        ),
      ]),
    ]),
    h('td.meter.prior', [h('i', { style: { width: percent(row.prior) } }), h('span', percent(row.prior))]),
    h('td.proven', verdictText(row.state, row.plies)),
  ]);
}

export function statistics(report: Report): VNode {
  const numbers = report.statistics;
  const rows: [string, string, string][] = [
    ['Visits', count(numbers.visits), 'Visits of the position'],
    ['Speed', report.speed === undefined ? '–' : `${count(report.speed)}/s`, 'Simulations per second'],
    [
      'Depth',
      `${numbers.mean_depth.toFixed(1)} / ${numbers.max_depth}`,
      'Mean and longest trajectory of the last slice',
    ],
    ['Nodes', count(numbers.nodes), 'Nodes of the graph'],
    ['Transpositions', count(numbers.transpositions), 'Nodes with more than one parent'],
    ['Solved', count(numbers.solved), 'Nodes with a proof'],
    ['Leak', numbers.leak.toFixed(4), 'Mean distance between the Q of an edge and the value of its child'],
    ['Memory', megabytes(numbers.bytes), 'Memory of the graph'],
  ];
  if (numbers.tablebase_hits)
    rows.push(['Tablebase hits', count(numbers.tablebase_hits), 'Nodes found in a tablebase']);
  return figures(rows);
}

/** The configurations that were tried in this position, for comparison. */
function trials(app: App): VNode | null {
  const { trials: shown } = app.state.analysis;
  if (shown.rows.length < 2 || shown.fen !== currentNode(app.state).fen) return null;
  return h('section.card.trials', { attrs: { 'aria-label': 'What changes' } }, [
    h('h2', 'What changes'),
    scrolled(
      'Configurations tried in this position',
      table(
        'table',
        ['Configuration', 'Move', 'Score', 'Visits', 'Transp.', 'Solved', 'Leak'],
        shown.rows.map((row) =>
          h('tr', { key: row.label }, [
            h('td.label', { attrs: { title: row.label } }, row.label),
            h('td', row.move),
            h('td', score(row.cp, null)),
            h('td', count(row.visits)),
            h('td', count(row.transpositions)),
            h('td', count(row.solved)),
            h('td', row.leak.toFixed(4)),
          ]),
        ),
      ),
    ),
  ]);
}

const cache = new Map<string, string[]>();

/** `sanLine` with a cache: the same lines arrive several times a second. */
export function sanCached(app: App, fen: string, moves: readonly string[]): string[] {
  if (isGridPosition(fen)) return [...moves];
  const key = `${app.state.game.variant} ${fen} ${moves.join(' ')}`;
  const known = cache.get(key);
  if (known) return known;
  if (cache.size > 4000) cache.clear();
  const sans = sanLine(app.state.game.variant, fen, moves);
  cache.set(key, sans);
  return sans;
}
