// The evaluation over the game as a curve, White's advantage above and Black's below.
import * as analysis from '../analysis';
import type { App } from '../app';
import { scoreOf, valueOf } from '../comments';
import * as game from '../game';
import { score } from '../numbers';
import type { TreeNode } from '../tree';
import { lineThrough } from '../tree';
import type { VNode } from './dom';
import { button, h } from './dom';

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
        : button('Judge the game', () => analysis.startSweep(app), {
            kind: 'quiet',
            id: 'sweep',
            disabled: line.length < 2 || state.connection !== 'open',
          }),
    ]),
    line.filter((node) => valueOf(node) !== undefined).length > 1
      ? plot(app, line)
      : h('p.empty', 'Values appear here as positions are searched.'),
  ]);
}

function plot(app: App, line: readonly TreeNode[]): VNode {
  const width = Math.max(1, line.length - 1);
  const points = line.flatMap((node, index) => {
    const value = valueOf(node);
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
