// What transpositions do to the decision: the value of each move with and without sharing, and the nodes that
// make the difference.
import * as analysis from '../analysis';
import type { App } from '../app';
import type { Graph } from '../graph/model';
import { keyOf } from '../graph/model';
import { searchedPosition } from '../current';
import { count, signed } from '../numbers';
import type { Sharing } from '../protocol';
import { turnOf } from '../rules';
import { sanCached } from './analysisPanel';
import type { VNode } from './dom';
import { button, h, scrolled, table } from './dom';

/** `show` selects the node of a key; `write` writes a line of moves. */
export interface Shower {
  show(key: string, fen: string, path: readonly string[]): void;
  write(path: readonly string[]): string;
}

export function sharingCard(app: App, graph: Graph | null, shower: Shower): VNode {
  const sharing = graph?.sharing ?? null;
  return h('section.card.sharing', { attrs: { 'aria-label': 'What sharing changes' } }, [
    h('h2', 'What sharing changes'),
    ...(sharing?.moves.length ? content(app, sharing, shower) : [h('p.empty', 'Nothing is searched yet.')]),
  ]);
}

function content(app: App, sharing: Sharing, shower: Shower): VNode[] {
  const fen = searchedPosition(app.state);
  const sign = turnOf(fen) === 'white' ? 1 : -1;
  const name = (move: string | null): string =>
    move === null ? '–' : (sanCached(app, fen, [move])[0] ?? move);
  const rows = sharing.moves.map((row) =>
    h('tr', { key: row.move, class: { leading: row.move === sharing.best } }, [
      h('td', name(row.move)),
      h('td', count(row.visits)),
      h('td', signed(sign * row.shared, 3)),
      h('td', signed(sign * row.alone, 3)),
      h('td', signed(sign * (row.shared - row.alone), 3)),
    ]),
  );
  return [
    h(
      'p.decision',
      { class: { other: sharing.decides }, attrs: { 'data-id': 'decision' } },
      sharing.decides
        ? `Transpositions change the order: ${name(sharing.best)} has the best value, ` +
            `without sharing ${name(sharing.best_alone)} would, by ${sharing.lead.toFixed(3)}.`
        : `${name(sharing.best)} has the best value with and without sharing.`,
    ),
    scrolled(
      'Moves with and without sharing',
      table('table', ['Move', 'Visits', 'Q', 'Without', 'Gain'], rows),
    ),
    h(
      'ul.shared-nodes',
      { attrs: { tabindex: 0, 'aria-label': 'Transpositions with the largest effect' } },
      sharing.nodes.map((node) => sharedNode(node, sign, name, shower)),
    ),
    app.state.mode === 'games'
      ? h('span')
      : button('Compare with a tree search', () => analysis.compareWithTree(app), {
          kind: 'quiet',
          id: 'compare-tree',
        }),
  ];
}

function sharedNode(
  node: Sharing['nodes'][number],
  sign: number,
  name: (move: string) => string,
  shower: Shower,
): VNode {
  const gains = Object.entries(node.gains)
    .sort((first, second) => Math.abs(second[1]) - Math.abs(first[1]))
    .slice(0, 2)
    .map(([move, gain]) => `${name(move)} ${signed(sign * gain, 3)}`);
  return h('li', { key: `${node.depth} ${node.position}` }, [
    h(
      'button.transposition',
      {
        attrs: { type: 'button', 'data-fen': node.position },
        on: {
          click: () => shower.show(keyOf(node.depth, node.position), node.position, node.lines[0] ?? []),
        },
      },
      [
        h(
          'span.lines-met',
          node.lines.slice(0, 2).map((line) => h('span', shower.write(line))),
        ),
        h('span.numbers', [
          h('b', gains.join(', ')),
          node.decides ? h('span.badge.transposition', 'decides') : ` ${count(node.visits)} visits`,
        ]),
      ],
    ),
  ]);
}
