// The layout of a graph: layers by depth, an order with few crossings in each layer, and nodes as near to
// their parents as their neighbours allow. The most visited child is in the middle, so the principal
// variation runs down the centre. Pure arithmetic.
import type { Graph, GraphNode } from './model';

export interface Spot {
  x: number;
  y: number;
  radius: number;
}

export interface Layout {
  spots: Spot[];
  width: number;
  height: number;
}

const MIN_RADIUS = 3.5;
const MAX_RADIUS = 24;
const GAP = 5;
const LAYER_HEIGHT = 92;
const SWEEPS = 4;
const MAX_STRETCH = 4;

/** The places of all nodes; a graph that is narrower than `aspect` (width by height) is stretched. */
export function computeLayout(graph: Graph, aspect = 0): Layout {
  const spots = graph.nodes.map((node): Spot => ({
    x: 0,
    y: node.depth * LAYER_HEIGHT,
    radius: radiusOf(node, graph),
  }));
  const layers: GraphNode[][] = [];
  for (const node of graph.nodes) (layers[node.depth] ??= []).push(node);
  const filled = layers.filter((layer) => layer.length > 0);
  const desired = new Float64Array(graph.nodes.length);
  const spotOf = (node: GraphNode): Spot => spots[node.id] ?? { x: 0, y: 0, radius: 0 };

  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    for (const layer of filled) {
      for (const node of layer) desired[node.id] = desiredFromParents(node, graph, spots);
      layer.sort(
        (first, second) => (desired[first.id] ?? 0) - (desired[second.id] ?? 0) || first.id - second.id,
      );
      place(layer, desired, spotOf);
    }
    if (sweep === SWEEPS - 1) break;
    for (const layer of filled.toReversed()) {
      for (const node of layer) desired[node.id] = desiredFromChildren(node, spots, spotOf(node).x);
      place(layer, desired, spotOf);
    }
  }
  return bounded(spots, aspect);
}

function radiusOf(node: GraphNode, graph: Graph): number {
  const most = Math.max(1, graph.nodes[0]?.visits ?? 1);
  const share = Math.sqrt(Math.min(1, node.visits / most));
  return MIN_RADIUS + (MAX_RADIUS - MIN_RADIUS) * share;
}

/** The mean of the parents, weighted by visits. Siblings spread by rank, the most visited in the middle. */
function desiredFromParents(node: GraphNode, graph: Graph, spots: readonly Spot[]): number {
  let sum = 0;
  let weight = 0;
  for (const edge of node.above) {
    const parent = graph.nodes[edge.source];
    if (!parent || parent.depth >= node.depth) continue;
    const rank = parent.below.indexOf(edge);
    const offset = Math.ceil(rank / 2) * (rank % 2 ? 1 : -1) * 14;
    const share = edge.visits + 1;
    sum += share * ((spots[edge.source]?.x ?? 0) + offset);
    weight += share;
  }
  return weight ? sum / weight : 0;
}

function desiredFromChildren(node: GraphNode, spots: readonly Spot[], present: number): number {
  let sum = present;
  let weight = 1;
  for (const edge of node.below) {
    const share = Math.sqrt(edge.visits + 1);
    sum += share * (spots[edge.target]?.x ?? 0);
    weight += share;
  }
  return sum / weight;
}

/** Place a layer: nodes as near to `desired` as their sizes allow, in their order (least squares). */
function place(layer: readonly GraphNode[], desired: Float64Array, spotOf: (node: GraphNode) => Spot): void {
  interface Block {
    sum: number;
    weight: number;
    first: number;
  }
  const offsets: number[] = [];
  const blocks: Block[] = [];
  let offset = 0;
  layer.forEach((node, index) => {
    const before = layer[index - 1];
    if (before) offset += spotOf(before).radius + spotOf(node).radius + GAP;
    offsets.push(offset);
    const weight = spotOf(node).radius;
    let block: Block = { sum: weight * ((desired[node.id] ?? 0) - offset), weight, first: index };
    for (
      let last = blocks.at(-1);
      last && last.sum / last.weight > block.sum / block.weight;
      last = blocks.at(-1)
    ) {
      block = { sum: last.sum + block.sum, weight: last.weight + block.weight, first: last.first };
      blocks.pop();
    }
    blocks.push(block);
  });
  blocks.forEach((block, number) => {
    const end = blocks[number + 1]?.first ?? layer.length;
    for (let index = block.first; index < end; index++) {
      const node = layer[index];
      if (node) spotOf(node).x = block.sum / block.weight + (offsets[index] ?? 0);
    }
  });
}

function bounded(spots: Spot[], aspect: number): Layout {
  const margin = MAX_RADIUS + 8;
  let left = 0;
  let right = 0;
  let bottom = 0;
  for (const spot of spots) {
    left = Math.min(left, spot.x);
    right = Math.max(right, spot.x);
    bottom = Math.max(bottom, spot.y);
  }
  const height = bottom + 2 * margin;
  const stretch = Math.min(
    MAX_STRETCH,
    Math.max(1, (aspect * height - 2 * margin) / Math.max(1, right - left)),
  );
  for (const spot of spots) {
    spot.x = (spot.x - left) * stretch + margin;
    spot.y += margin;
  }
  return { spots, width: (right - left) * stretch + 2 * margin, height };
}
