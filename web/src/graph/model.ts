// The search graph of the page: nodes with their edges in both directions, the principal variation, and the
// paths to a node. Knows nothing of the screen.
import type { GraphColumns, Sharing, Verdict } from '../protocol';
import type { Color } from '../rules';
import { samePositionKey, turnOf } from '../rules';

export interface GraphNode {
  id: number;
  key: string;
  fen: string;
  turn: Color;
  depth: number;
  visits: number;
  /** V for the side to move. */
  value: number;
  /** V for White. */
  white: number;
  /** U, the first evaluation. */
  raw: number;
  state: Verdict;
  plies: number | null;
  transposition: boolean;
  legal: number;
  /** Edges from parents, most visited first. */
  above: GraphEdge[];
  /** Edges to children, most visited first. */
  below: GraphEdge[];
}

export interface GraphEdge {
  source: number;
  target: number;
  move: string;
  visits: number;
  /** Q for the side to move at the parent. */
  q: number;
  /** Q for White. */
  white: number;
  prior: number;
  /** Value of the child for the side to move at the parent. */
  child: number;
  pruned: boolean;
  /** The distance between Q and the value of the child. */
  leak: number;
}

export interface Graph {
  nodes: GraphNode[];
  edges: GraphEdge[];
  sharing: Sharing | null;
}

export function graphOf(columns: GraphColumns, sharing: Sharing | null = null): Graph {
  const from = columns.nodes;
  const nodes = from.position.map((fen, id): GraphNode => {
    const turn = turnOf(fen);
    const value = from.value[id] ?? 0;
    const depth = from.depth[id] ?? 0;
    return {
      id,
      key: keyOf(depth, fen),
      fen,
      turn,
      depth,
      visits: from.visits[id] ?? 0,
      value,
      white: turn === 'white' ? value : -value,
      raw: from.raw[id] ?? 0,
      state: from.state[id] ?? 'unknown',
      plies: from.plies[id] ?? null,
      transposition: from.transposition[id] ?? false,
      legal: from.legal[id] ?? 0,
      above: [],
      below: [],
    };
  });
  const rows = columns.edges;
  const edges = rows.source.map((source, index): GraphEdge => {
    const q = rows.q[index] ?? 0;
    const child = rows.child_value[index] ?? 0;
    return {
      source,
      white: nodes[source]?.turn === 'black' ? -q : q,
      target: rows.target[index] ?? 0,
      move: rows.move[index] ?? '',
      visits: rows.visits[index] ?? 0,
      q,
      prior: rows.prior[index] ?? 0,
      child,
      pruned: rows.pruned[index] ?? false,
      leak: Math.abs(q - child),
    };
  });
  for (const edge of edges) {
    nodes[edge.target]?.above.push(edge);
    nodes[edge.source]?.below.push(edge);
  }
  for (const node of nodes) {
    node.above.sort(byVisits);
    node.below.sort(byVisits);
  }
  return { nodes, edges, sharing };
}

/** What identifies a node in the graphs of one search. */
export function keyOf(depth: number, fen: string): string {
  return `${depth} ${samePositionKey(fen)}`;
}

function byVisits(first: GraphEdge, second: GraphEdge): number {
  return second.visits - first.visits;
}

/** The edges of a line of moves from the root, as far as the graph has them. */
export function trace(graph: Graph, moves: readonly string[]): GraphEdge[] {
  const edges: GraphEdge[] = [];
  let at = graph.nodes[0];
  for (const move of moves) {
    const edge = at?.below.find((candidate) => candidate.move === move);
    if (!edge) break;
    edges.push(edge);
    at = graph.nodes[edge.target];
  }
  return edges;
}

/** The most visited path from the root to a node. */
export function pathTo(graph: Graph, id: number): GraphEdge[] {
  const path: GraphEdge[] = [];
  const seen = new Set([id]);
  let node = graph.nodes[id];
  while (node && node.id !== 0) {
    const edge: GraphEdge | undefined = node.above.find((candidate) => !seen.has(candidate.source));
    if (!edge) return [];
    seen.add(edge.source);
    path.push(edge);
    node = graph.nodes[edge.source];
  }
  return path.reverse();
}

/** The most visited paths to a node, one through each of its parents. */
export function pathsTo(graph: Graph, id: number): string[][] {
  const node = graph.nodes[id];
  if (!node) return [];
  return node.above.map((edge) => [...pathTo(graph, edge.source).map((step) => step.move), edge.move]);
}

/** Nodes with several parents in the graph, most visited first. */
export function transpositions(graph: Graph): GraphNode[] {
  return graph.nodes
    .filter((node) => new Set(node.above.map((edge) => edge.source)).size > 1)
    .sort((first, second) => second.visits - first.visits || first.id - second.id);
}
