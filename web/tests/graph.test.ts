import { describe, expect, it } from 'vitest';
import { edgeText, toDot, toJson, toSvg } from '../src/graph/export';
import { computeLayout } from '../src/graph/layout';
import { graphOf, transpositions, trace, pathTo, pathsTo } from '../src/graph/model';
import { LIGHT, shade } from '../src/graph/palette';
import type { GraphColumns, Verdict } from '../src/protocol';

const FEN = '4k3/8/8/8/8/8/8/4K3 w - - 0 1';

/** A graph from [source, target, move, visits]; depths follow from the edges. */
function columns(size: number, edges: [number, number, string, number][]): GraphColumns {
  const depth = Array.from({ length: size }, () => 0);
  for (const [source, target] of edges) depth[target] = (depth[source] ?? 0) + 1;
  const visits = depth.map((_, id) =>
    id ? edges.filter((edge) => edge[1] === id).reduce((sum, edge) => sum + edge[3], 0) : 1000,
  );
  return {
    nodes: {
      position: depth.map((_, id) =>
        FEN.replace('8/8', `${id % 7 ? id % 7 : 8}p/8`).replace('w', (depth[id] ?? 0) % 2 ? 'b' : 'w'),
      ),
      depth,
      visits,
      value: depth.map((_, id) => (id % 2 ? 0.5 : -0.5)),
      raw: depth.map(() => 0),
      state: depth.map((_, id): Verdict => (id === 4 ? 'win' : 'unknown')),
      plies: depth.map((_, id) => (id === 4 ? 3 : null)),
      transposition: depth.map((_, id) => edges.filter((edge) => edge[1] === id).length > 1),
      legal: depth.map(() => 20),
    },
    edges: {
      source: edges.map((edge) => edge[0]),
      target: edges.map((edge) => edge[1]),
      move: edges.map((edge) => edge[2]),
      visits: edges.map((edge) => edge[3]),
      q: edges.map(() => 0.25),
      prior: edges.map(() => 0.5),
      child_value: edges.map(() => 0.2),
      pruned: edges.map(() => false),
    },
  };
}

const DIAMOND = columns(5, [
  [0, 1, 'd2d4', 600],
  [0, 2, 'g1f3', 300],
  [1, 3, 'g1f3', 400],
  [2, 3, 'd2d4', 100],
  [1, 4, 'c2c4', 50],
]);

describe('the model', () => {
  const graph = graphOf(DIAMOND);

  it('has both parents of a position that two lines reach', () => {
    expect(transpositions(graph).map((node) => node.id)).toEqual([3]);
    expect(graph.nodes[3]?.above.map((edge) => edge.source)).toEqual([1, 2]);
    expect(pathsTo(graph, 3)).toEqual([
      ['d2d4', 'g1f3'],
      ['g1f3', 'd2d4'],
    ]);
  });

  it('traces a line as far as the graph has it', () => {
    expect(trace(graph, ['d2d4', 'g1f3', 'a7a6']).map((edge) => edge.target)).toEqual([1, 3]);
    expect(pathTo(graph, 3).map((edge) => edge.move)).toEqual(['d2d4', 'g1f3']);
    expect(pathTo(graph, 0)).toEqual([]);
  });

  it('computes the leak, and values for White', () => {
    expect(graph.edges[0]?.leak).toBeCloseTo(0.05);
    expect(graph.nodes[1]?.white).toBe(-0.5);
    expect(edgeText(graph.edges[0] ?? never())).toBe('N 600 Q +0.250 P 0.500 leak 0.0500');
    expect(edgeText(graph.edges[2] ?? never())).toBe('N 400 Q −0.250 P 0.500 leak 0.0500'); // Black moves
  });

  it('does not hang on a cycle', () => {
    const circle = graphOf(
      columns(3, [
        [1, 2, 'a', 1],
        [2, 1, 'b', 1],
      ]),
    );
    expect(pathTo(circle, 2)).toEqual([]);
  });
});

describe('the layout', () => {
  it('puts depth in layers, and nodes of a layer side by side without overlap', () => {
    const edges: [number, number, string, number][] = [];
    let seed = 1;
    const random = (limit: number): number => (seed = (seed * 48271) % 2147483647) % limit;
    for (let id = 1; id < 2000; id++) {
      edges.push([random(id), id, 'm', 1 + random(500)]);
    }
    const graph = graphOf(columns(2000, edges));
    const { spots, width, height } = computeLayout(graph);
    const layers = new Map<number, { x: number; radius: number }[]>();
    graph.nodes.forEach((node, id) => {
      const spot = spots[id] ?? never();
      expect(spot.x).toBeGreaterThanOrEqual(0);
      expect(spot.x).toBeLessThanOrEqual(width);
      expect(spot.y).toBeLessThanOrEqual(height);
      layers.set(node.depth, [...(layers.get(node.depth) ?? []), spot]);
    });
    for (const layer of layers.values()) {
      layer.sort((first, second) => first.x - second.x);
      for (let index = 1; index < layer.length; index++) {
        const [left, right] = [layer[index - 1] ?? never(), layer[index] ?? never()];
        expect(right.x - left.x).toBeGreaterThanOrEqual(left.radius + right.radius + 4.9);
      }
    }
  });

  it('is the same for the same graph, and wider where there is room', () => {
    const graph = graphOf(DIAMOND);
    expect(computeLayout(graph)).toEqual(computeLayout(graph));
    expect(computeLayout(graph, 3).width).toBeGreaterThan(computeLayout(graph).width);
  });

  it('puts the most visited child in the middle', () => {
    const graph = graphOf(
      columns(4, [
        [0, 1, 'a', 900],
        [0, 2, 'b', 50],
        [0, 3, 'c', 40],
      ]),
    );
    const { spots } = computeLayout(graph);
    const places = [1, 2, 3].map((id) => spots[id]?.x ?? 0);
    const sorted = [...places].sort((first, second) => first - second);
    expect(sorted[1]).toBe(places[0]);
  });
});

describe('files', () => {
  const graph = graphOf(DIAMOND);

  it('are JSON with the names of the package', () => {
    const values = JSON.parse(toJson(graph, 'chess')) as {
      variant: string;
      nodes: unknown[];
      edges: Record<string, unknown>[];
    };
    expect(values.variant).toBe('chess');
    expect(values.nodes).toHaveLength(5);
    expect(Object.keys(values.edges[0] ?? {})).toEqual([
      'source',
      'target',
      'move',
      'visits',
      'q',
      'prior',
      'child_value',
      'pruned',
      'in_flight',
    ]);
  });

  it('are DOT with boxes for solved nodes and double borders for transpositions', () => {
    const text = toDot(graph);
    expect(text.startsWith('digraph search {')).toBe(true);
    expect(text).toMatch(/^ {2}4 \[.*shape=box/m);
    expect(text).toMatch(/^ {2}3 \[.*peripheries=2/m);
    expect(text).toContain('1 -> 3 [label="g1f3"');
  });

  it('are SVG with a line for every edge', () => {
    const text = toSvg(graph, computeLayout(graph), new Set(trace(graph, ['d2d4'])), LIGHT);
    expect(text.match(/<path/g)).toHaveLength(5);
    expect(text.match(/<circle/g)).toHaveLength(4);
    expect(text).toContain(LIGHT.line);
    expect(text).toContain(LIGHT.transposition);
  });

  it('have lighter colours for values that are better for White', () => {
    const light = (value: number): number => Number((/\d+/.exec(shade(value)) ?? ['0'])[0]);
    expect([-1, -0.3, 0, 0.3, 1].map(light)).toEqual(
      [...[-1, -0.3, 0, 0.3, 1].map(light)].sort((a, b) => a - b),
    );
    expect(light(1)).toBeGreaterThan(light(-1));
  });
});

function never(): never {
  throw new Error('this cannot be');
}
