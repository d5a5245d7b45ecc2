// The nodes where lines meet, most visited first, with the lines.
import type { App } from '../app';
import type { Graph } from '../graph/model';
import { pathsTo, transpositions } from '../graph/model';
import { count } from '../numbers';
import type { VNode } from './dom';
import { h } from './dom';
import type { Shower } from './sharingCard';

const MAX_TRANSPOSITIONS = 12;

export function transpositionCard(app: App, graph: Graph | null, shower: Shower): VNode {
  const found = graph ? transpositions(graph) : [];
  return h('section.card.transpositions', { attrs: { 'aria-label': 'Transpositions' } }, [
    h('h2', [
      'Transpositions',
      found.length ? h('span.badge.transposition', `${count(found.length)} in view`) : null,
    ]),
    graph && found.length
      ? h(
          'ul',
          { attrs: { tabindex: 0, 'aria-label': 'Positions that several lines reach' } },
          found.slice(0, MAX_TRANSPOSITIONS).map((node) =>
            h('li', { key: node.key }, [
              h(
                'button.transposition',
                {
                  attrs: { type: 'button', 'data-parents': node.above.length, 'data-fen': node.fen },
                  class: { current: node.key === app.state.selected?.key },
                  on: {
                    click: () => shower.show(node.key, node.fen, []),
                  },
                },
                [
                  h(
                    'span.lines-met',
                    pathsTo(graph, node.id)
                      .slice(0, 2)
                      .map((path) => h('span', shower.write(path))),
                  ),
                  h('span.numbers', [
                    h('b', `${node.above.length} parents`),
                    ` ${count(node.visits)} visits`,
                  ]),
                ],
              ),
            ]),
          ),
        )
      : h('p.empty', 'None in view yet.'),
  ]);
}
