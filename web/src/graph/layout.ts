// Where the nodes of a graph stand: layers by depth, in each layer an order with few crossings, and places as
// near to the parents as the neighbours allow. The most visited child stands in the middle, so the main
// stream of the search runs down the centre. Pure arithmetic.
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

const LEAST_RADIUS = 3.5;
const LARGEST_RADIUS = 24;
const GAP = 5;
const LAYER_HEIGHT = 92;
const SWEEPS = 4;
const MOST_STRETCH = 4;

/** The places of all nodes; a graph that is narrower than `aspect` (width by height) is stretched. */
export function layOut(graph: Graph, aspect = 0): Layout {
  const spots = graph.nodes.map((node): Spot => ({
    x: 0,
    y: node.depth * LAYER_HEIGHT,
    radius: radiusOf(node, graph),
  }));
  const layers: GraphNode[][] = [];
  for (const node of graph.nodes) (layers[node.depth] ??= []).push(node);
  const filled = layers.filter((layer) => layer.length > 0);
  const wish = new Float64Array(graph.nodes.length);
  const spotOf = (node: GraphNode): Spot => spots[node.id] ?? { x: 0, y: 0, radius: 0 };

  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    for (const layer of filled) {
      for (const node of layer) wish[node.id] = wishFromParents(node, graph, spots);
      layer.sort((first, second) => (wish[first.id] ?? 0) - (wish[second.id] ?? 0) || first.id - second.id);
      place(layer, wish, spotOf);
    }
    if (sweep === SWEEPS - 1) break;
    for (const layer of filled.toReversed()) {
      for (const node of layer) wish[node.id] = wishFromChildren(node, spots, spotOf(node).x);
      place(layer, wish, spotOf);
    }
  }
  return bounded(spots, aspect);
}

export function radiusOf(node: GraphNode, graph: Graph): number {
  const most = Math.max(1, graph.nodes[0]?.visits ?? 1);
  const share = Math.sqrt(Math.min(1, node.visits / most));
  return LEAST_RADIUS + (LARGEST_RADIUS - LEAST_RADIUS) * share;
}

/** The mean of the parents, by visits, and beside it: siblings spread by rank, the most visited in the middle. */
function wishFromParents(node: GraphNode, graph: Graph, spots: readonly Spot[]): number {
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

function wishFromChildren(node: GraphNode, spots: readonly Spot[], present: number): number {
  let sum = present;
  let weight = 1;
  for (const edge of node.below) {
    const share = Math.sqrt(edge.visits + 1);
    sum += share * (spots[edge.target]?.x ?? 0);
    weight += share;
  }
  return sum / weight;
}

/** Nodes of a layer as near to their wishes as their sizes allow, in their order (least squares). */
function place(layer: readonly GraphNode[], wish: Float64Array, spotOf: (node: GraphNode) => Spot): void {
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
    let block: Block = { sum: weight * ((wish[node.id] ?? 0) - offset), weight, first: index };
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
  const margin = LARGEST_RADIUS + 8;
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
    MOST_STRETCH,
    Math.max(1, (aspect * height - 2 * margin) / Math.max(1, right - left)),
  );
  for (const spot of spots) {
    spot.x = (spot.x - left) * stretch + margin;
    spot.y += margin;
  }
  return { spots, width: (right - left) * stretch + 2 * margin, height };
}
