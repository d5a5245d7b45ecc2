// The evaluation over the game as a curve, White's advantage above and Black's below.
import * as analysis from '../analysis';
import type { App } from '../app';
import { scoreOf, valueOf } from '../comments';
import { outcomeAt } from '../current';
import * as game from '../game';
import { isMistake, startJudging } from '../judge';
import { score } from '../numbers';
import type { TreeNode } from '../tree';
import { lineThrough } from '../tree';
import type { VNode } from './dom';
import { button, h, scrolled, select, table } from './dom';
import { shown } from './games';

const HEIGHT = 100;

export function chart(app: App): VNode {
  const { state } = app;
  const line = lineThrough(state.game, state.current);
  const waiting = state.analysis.sweep.length;
  return h('section.card.chart', { key: 'chart', attrs: { 'aria-label': 'Evaluation over the game' } }, [
    h('div.card-head', [
      h('h2', 'Evaluation'),
      waiting
        ? button(`Stop (${waiting} left)`, () => analysis.stop(app), { kind: 'quiet', id: 'sweep-stop' })
        : h('div.keys', [
            select(
              'Seconds for each position',
              ['0.2', '0.5', '1', '2', '5'],
              String(state.analysis.judgeSeconds),
              (seconds) => {
                state.analysis.judgeSeconds = Number(seconds);
                app.redraw();
              },
              true,
            ),
            h('span.unit', 's'),
            button('Judge the game', () => startJudging(app), {
              kind: 'quiet',
              id: 'sweep',
              disabled: line.length < 2 || state.connection !== 'open',
            }),
          ]),
    ]),
    line.filter((node) => valueAt(app, node) !== undefined).length > 1
      ? plot(app, line)
      : h('p.empty', 'Values appear here as positions are searched.'),
    summaryTable(app),
  ]);
}

/** How each player did, by the last judgement. */
function summaryTable(app: App): VNode | null {
  const { summary, headers } = app.state.game;
  if (!summary) return null;
  const sides = ['white', 'black'] as const;
  return scrolled(
    'Summary of the judgement',
    table(
      'table.summary',
      ['Player', 'Accuracy', '?!', '?', '??', 'Loss'],
      sides.map((side) => {
        const row = summary[side];
        const name = side === 'white' ? 'White' : 'Black';
        const player = shown(headers[name]) || name;
        return h('tr', { key: side, attrs: { 'data-side': side } }, [
          h('td.label', { attrs: { title: player } }, player),
          h('td', row.accuracy === null ? '–' : `${row.accuracy.toFixed(1)} %`),
          h('td.nag-6', { attrs: { title: 'Inaccuracies' } }, String(row.inaccuracies)),
          h('td.nag-2', { attrs: { title: 'Mistakes' } }, String(row.mistakes)),
          h('td.nag-4', { attrs: { title: 'Blunders' } }, String(row.blunders)),
          h(
            'td',
            { attrs: { title: 'Mean loss of a move, in percentage points of expected score' } },
            row.mean_loss === null ? '–' : row.mean_loss.toFixed(1),
          ),
        ]);
      }),
    ),
  );
}

/** The value of a position for White: of the end of the game, of a search, or of a comment. */
function valueAt(app: App, node: TreeNode): number | undefined {
  if (!node.children.length) {
    const end = outcomeAt(app.state, node.id);
    if (end) return end.winner === 'white' ? 1 : end.winner === 'black' ? -1 : 0;
  }
  return valueOf(node);
}

function plot(app: App, line: readonly TreeNode[]): VNode {
  const width = Math.max(1, line.length - 1);
  const points = line.flatMap((node, index) => {
    const value = valueAt(app, node);
    if (value === undefined) return [];
    return [{ x: (100 * index) / width, y: (HEIGHT * (1 - stretched(value))) / 2, node }];
  });
  const path = points.map(({ x, y }) => `${x.toFixed(2)},${y.toFixed(2)}`).join(' ');
  const first = points[0];
  const last = points.at(-1);
  const at = line.findIndex((node) => node.id === app.state.current);
  return h(
    'div.plot',
    {
      on: {
        click: (event: MouseEvent) => {
          const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
          const node = line[Math.round(((event.clientX - box.left) / box.width) * width)];
          if (node) game.goTo(app, node.id);
        },
      },
    },
    [
      h(
        'svg',
        {
          attrs: {
            viewBox: `0 0 100 ${HEIGHT}`,
            preserveAspectRatio: 'none',
            role: 'img',
            'aria-label': summary(points.map(({ node }) => node)),
          },
        },
        [
          first && last
            ? h('polygon.area', { attrs: { points: `${first.x},${HEIGHT} ${path} ${last.x},${HEIGHT}` } })
            : null,
          h('line.zero', { attrs: { x1: 0, x2: 100, y1: HEIGHT / 2, y2: HEIGHT / 2 } }),
          h('polyline.curve', { attrs: { points: path } }),
          ...points
            .filter(({ node }) => isMistake(node))
            .map(({ x, node }) =>
              h('line.mistake', {
                class: { [`nag-${node.mark ?? 0}`]: true },
                attrs: { x1: x, x2: x, y1: HEIGHT - 12, y2: HEIGHT },
              }),
            ),
          h('line.now', { attrs: { x1: (100 * at) / width, x2: (100 * at) / width, y1: 0, y2: HEIGHT } }),
        ],
      ),
    ],
  );
}

/** A value with more resolution near 0. */
function stretched(value: number): number {
  return Math.sign(value) * Math.min(1, Math.abs(value)) ** 0.6;
}

function summary(nodes: readonly TreeNode[]): string {
  const scores = nodes.map((node) => {
    const found = scoreOf(node);
    return `${node.san || 'start'} ${found ? score(found.cp, found.mate) : ''}`;
  });
  return `Evaluation for White: ${scores.join(', ')}`;
}
