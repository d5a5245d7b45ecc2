// The panel of the graph: the live search graph, the numbers of the hovered or selected node, and export to
// files. What explains it is in cards below it.
import * as analysis from '../analysis';
import type { App } from '../app';
import { update } from '../app';
import { searchedPosition } from '../current';
import { GraphCanvas } from '../graph/canvas';
import { toDot, toJson, toSvg } from '../graph/export';
import type { Graph, GraphNode } from '../graph/model';
import { trace, pathTo, pathsTo } from '../graph/model';
import type { Palette } from '../graph/palette';
import { DARK, LIGHT } from '../graph/palette';
import type { Color } from '../rules';
import { count, moveNumber, percent, signed, verdictText } from '../numbers';
import { plyOf } from '../tree';
import { lines, playLine, sanCached, startButton, statistics, verdictRow } from './analysisPanel';
import type { VNode } from './dom';
import { button, figures, h, segments, slider, table } from './dom';
import { download } from './games';
import { proofCard } from './proofCard';
import { presetSelect } from './searchConfig';
import { sharingCard } from './sharingCard';
import { transpositionCard } from './transpositionCard';

let canvas: GraphCanvas | null = null;
let shown: { graph: Graph | null; isDark: boolean } = { graph: null, isDark: false };
let hovered: { id: number; x: number; y: number } | null = null;

/** For tests: the places of the nodes, and the time of a frame. */
export function graphCanvas(): GraphCanvas | null {
  return canvas;
}

export function graphPanel(app: App): VNode {
  const { state } = app;
  const graph = analysis.shownGraph(state);
  const shower = {
    show: (key: string, fen: string, path: readonly string[]) => showNode(app, key, fen, path),
    write: (path: readonly string[]) => pathText(app, path),
  };
  return h('div.side.graph-side', { key: 'graph' }, [
    h('section.card.graph-card', { attrs: { 'aria-label': 'Search graph' } }, [
      toolbar(app, graph),
      h('div.graph-frame', [
        h('canvas.graph', {
          attrs: {
            tabindex: 0,
            role: 'application',
            'aria-label': graph
              ? `Search graph, ${graph.nodes.length} nodes, ${graph.edges.length} edges. ` +
                'Arrow keys go from node to node.'
              : 'Search graph, empty',
          },
          hook: {
            insert: (vnode) => mount(app, vnode.elm as HTMLCanvasElement),
            destroy: () => {
              canvas?.destroy();
              canvas = null;
              shown = { graph: null, isDark: false };
            },
          },
        }),
        graph
          ? null
          : h(
              'p.empty.centre',
              state.analysis.running ? 'The graph is growing…' : 'Start the search to see its graph.',
            ),
        tooltip(app, graph),
        legend(app),
      ]),
    ]),
    h('div.explanations', [
      sharingCard(app, graph, shower),
      transpositionCard(app, graph, shower),
      proofCard(app),
    ]),
  ]);
}

/** Show a position of the graph on the board, and its node if that is in view. */
function showNode(app: App, key: string, fen: string, path: readonly string[]): void {
  const found = analysis.shownGraph(app.state)?.nodes.find((node) => node.key === key);
  if (found) {
    selectNode(app, found.id);
    canvas?.centre(found.id);
    canvas?.canvas.scrollIntoView({ block: 'nearest' });
  } else update(app, { selected: { key, fen, path: [...path] } });
}

function mount(app: App, element: HTMLCanvasElement): void {
  canvas = new GraphCanvas(
    element,
    {
      onHover: (id, x, y) => {
        const before = hovered?.id;
        hovered = id === null ? null : { id, x, y };
        if (before !== hovered?.id) app.redraw();
      },
      onSelect: (id) => selectNode(app, id),
    },
    (fen, move) => sanCached(app, fen, [move])[0] ?? move,
  );
  syncGraph(app);
}

/** Show the newest graph. Called after every redraw of the page. */
export function syncGraph(app: App): void {
  const { state } = app;
  if (!canvas) return;
  const graph = analysis.shownGraph(state);
  const isDark = isDarkTheme(app);
  if (graph && graph !== shown.graph) {
    hovered = null;
    canvas.show(graph, mainLine(app, graph), paletteOf(isDark), state.selected?.key ?? null);
  } else if (!graph && shown.graph) {
    hovered = null;
    canvas.clear();
  } else if (isDark !== shown.isDark) canvas.setPalette(paletteOf(isDark));
  const selected =
    graph && state.selected ? graph.nodes.findIndex((node) => node.key === state.selected?.key) : -1;
  canvas.select(selected < 0 ? null : selected);
  shown = { graph, isDark };
}

export function isDarkTheme(app: App): boolean {
  return (
    app.state.theme === 'dark' ||
    (app.state.theme === 'system' && matchMedia('(prefers-color-scheme: dark)').matches)
  );
}

function paletteOf(isDark: boolean): Palette {
  return isDark ? DARK : LIGHT;
}

function mainLine(app: App, graph: Graph): ReturnType<typeof trace> {
  return trace(graph, app.state.analysis.reports[app.state.viewSide]?.lines[0]?.moves ?? []);
}

function selectNode(app: App, id: number | null): void {
  const { state } = app;
  const graph = analysis.shownGraph(state);
  const node = id === null ? undefined : graph?.nodes[id];
  state.selected =
    node && graph
      ? { key: node.key, fen: node.fen, path: pathTo(graph, node.id).map((edge) => edge.move) }
      : null;
  if (node)
    state.announcement =
      `${pathText(app, state.selected?.path ?? []) || 'Root'}: ${count(node.visits)} visits, ` +
      `value ${signed(node.white, 2)} for ${firstPlayer(app)}, ${node.above.length} parents.`;
  app.redraw();
}

function firstPlayer(app: App): string {
  return app.state.mode === 'games' ? 'x' : 'White';
}

function playerOf(app: App, turn: Color): string {
  if (app.state.mode !== 'games') return turn;
  return turn === 'white' ? 'x' : 'o';
}

function toolbar(app: App, graph: Graph | null): VNode {
  const { state } = app;
  const { view } = state;
  const most = state.hello?.nodes ?? view.nodes;
  const set = (changes: Partial<typeof view>): void => {
    state.view = { ...state.view, ...changes }; // not `view`: it may have changed since this was drawn
    analysis.onViewChange(app);
  };
  return h('div.graph-tools', [
    state.mode === 'games' ? null : startButton(app),
    state.mode === 'games' ? null : presetSelect(app, state.viewSide, true),
    state.analysis.compare && state.mode !== 'games'
      ? segments('Which graph', { A: 'A', B: 'B' }, state.viewSide ? 'B' : 'A', (side) =>
          update(app, { viewSide: side === 'B' ? 1 : 0 }),
        )
      : null,
    slider('Nodes', view.nodes, { min: 20, max: most, step: 20 }, count(view.nodes), (nodes) =>
      set({ nodes }),
    ),
    slider('Depth', view.depth, { min: 1, max: 30 }, String(view.depth), (depth) => set({ depth })),
    moments(app),
    h('div.keys', { attrs: { role: 'group', 'aria-label': 'Zoom' } }, [
      button('Zoom in', () => canvas?.zoomBy(1.4), { icon: 'plus' }),
      button('Zoom out', () => canvas?.zoomBy(1 / 1.4), { icon: 'minus' }),
      button('Show all', () => canvas?.fit(), { icon: 'fit' }),
    ]),
    h(
      'div.keys.exports',
      { attrs: { role: 'group', 'aria-label': 'Save the graph' } },
      (['png', 'svg', 'dot', 'json'] as const).map((kind) =>
        button(
          kind.toUpperCase(),
          () => {
            if (!graph) return;
            if (kind === 'png') canvas?.picture((picture) => download('anabranch-graph.png', picture));
            else exportAs(app, graph, kind);
          },
          { kind: 'quiet', id: `export-${kind}`, disabled: !graph, icon: 'save', showsText: true },
        ),
      ),
    ),
  ]);
}

/** A slider through the graphs of this search, from its start to now, by the visits of the root. */
function moments(app: App): VNode | null {
  const { analysis: present, viewSide } = app.state;
  const kept = present.history[viewSide];
  if (kept.length < 2) return null;
  const last = kept.length - 1;
  const at = Math.min(present.shownMoment ?? last, last);
  const visits = kept[at]?.nodes[0]?.visits ?? 0;
  return slider('History', at, { min: 0, max: last }, count(visits), (moment) => {
    present.shownMoment = moment >= last ? null : moment;
    app.redraw();
  });
}

function exportAs(app: App, graph: Graph, kind: 'svg' | 'dot' | 'json'): void {
  const text =
    kind === 'json'
      ? toJson(graph, app.state.mode === 'games' ? app.state.grid.game : app.state.game.variant)
      : kind === 'dot'
        ? toDot(graph)
        : toSvg(
            graph,
            canvas?.layout ?? { spots: [], width: 1, height: 1 },
            new Set(mainLine(app, graph)),
            paletteOf(isDarkTheme(app)),
          );
  const type = { svg: 'image/svg+xml', dot: 'text/vnd.graphviz', json: 'application/json' }[kind];
  download(`anabranch-graph.${kind}`, text, type);
}

function pathText(app: App, path: readonly string[]): string {
  const fen = searchedPosition(app.state);
  const first = app.state.mode === 'games' ? app.state.grid.at : plyOf(fen);
  return sanCached(app, fen, path)
    .map((san, step) => {
      const number = moveNumber(first + step, step === 0);
      return number ? `${number} ${san}` : san;
    })
    .join(' ');
}

function tooltip(app: App, graph: Graph | null): VNode | null {
  const node = hovered && graph ? graph.nodes[hovered.id] : undefined;
  if (!node || !graph || !hovered) return null;
  const isRight = canvas && hovered.x > canvas.canvas.clientWidth / 2;
  const isLow = canvas && hovered.y > canvas.canvas.clientHeight / 2;
  return h(
    'div.tooltip',
    {
      style: {
        left: isRight ? 'auto' : `${hovered.x + 16}px`,
        right: isRight && canvas ? `${canvas.canvas.clientWidth - hovered.x + 16}px` : 'auto',
        top: isLow ? 'auto' : `${hovered.y + 16}px`,
        bottom: isLow && canvas ? `${canvas.canvas.clientHeight - hovered.y + 16}px` : 'auto',
      },
    },
    nodeNumbers(app, graph, node),
  );
}

function nodeNumbers(app: App, graph: Graph, node: GraphNode): VNode[] {
  const path = pathText(
    app,
    pathTo(graph, node.id).map((edge) => edge.move),
  );
  const proven = verdictText(node.state, node.plies);
  return [
    h('strong', path || 'The position on the board'),
    figures([
      ['Visits N', count(node.visits)],
      ['Value V', `${signed(node.white, 3)} for ${firstPlayer(app)}`],
      ['First evaluation', signed(node.turn === 'white' ? node.raw : -node.raw, 3)],
      ['Legal moves', String(node.legal)],
      ...(proven ? [['Proven', `${proven} for ${playerOf(app, node.turn)}`] as const] : []),
    ]),
    node.above.length
      ? table(
          'table.edges',
          ['From', 'N', 'Q', 'P', 'Leak'],
          node.above
            .slice(0, 6)
            .map((edge) =>
              h('tr', { key: `${edge.source}-${edge.move}` }, [
                h('td', sanCached(app, graph.nodes[edge.source]?.fen ?? '', [edge.move])[0] ?? edge.move),
                h('td', count(edge.visits)),
                h('td', signed(edge.white, 3)),
                h('td', percent(edge.prior)),
                h('td', edge.leak.toFixed(4)),
              ]),
            ),
        )
      : h('span'),
  ];
}

export function nodeCard(app: App): VNode {
  const { state } = app;
  const graph = analysis.shownGraph(state);
  const node = graph?.nodes.find((candidate) => candidate.key === state.selected?.key);
  const paths = graph && node ? pathsTo(graph, node.id) : [];
  return h('section.card.node-card', { attrs: { 'aria-label': 'Selected node' } }, [
    h('h2', node && node.above.length > 1 ? 'Where lines meet' : 'Node'),
    graph && node
      ? h('div', { attrs: { 'data-parents': node.above.length, 'data-fen': node.fen } }, [
          ...nodeNumbers(app, graph, node),
          paths.length > 1
            ? h(
                'ul.paths',
                paths.slice(0, 6).map((path, index) => h('li', { key: index }, pathText(app, path))),
              )
            : h('span'),
          button('Play this line on the board', () => playLine(app, state.selected?.path ?? []), {
            kind: 'quiet',
            disabled: !state.selected?.path.length,
          }),
        ])
      : h('p.empty', 'Click a node to see its position on the board.'),
  ]);
}

export function searchCard(app: App): VNode {
  const report = app.state.analysis.reports[app.state.viewSide];
  return h('section.card.search-card', { attrs: { 'aria-label': 'Search' } }, [
    h('h2', 'Search'),
    ...(report
      ? [verdictRow(app, report), lines(app, report), statistics(report)]
      : [h('p.empty', 'Nothing is searched yet.')]),
  ]);
}

function legend(app: App): VNode {
  return h('ul.legend', { attrs: { 'aria-label': 'Legend' } }, [
    h('li', [h('i.scale'), `light: good for ${firstPlayer(app)}`]),
    h('li', [h('i.met'), 'several parents']),
    h('li', [h('i.pv'), 'principal variation']),
    h('li', [h('i.box'), 'solved']),
  ]);
}
