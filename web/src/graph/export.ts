// The graph as files: SVG as it is drawn, DOT for Graphviz, JSON as `anabranch.graph.SearchGraph` reads it.
import { count, signed, verdictText } from '../numbers';
import type { Layout } from './layout';
import type { Graph, GraphEdge, GraphNode } from './model';
import type { Palette } from './palette';
import { shade } from './palette';

export function toJson(graph: Graph, variant: string): string {
  return JSON.stringify({
    variant,
    nodes: graph.nodes.map((node) => ({
      id: node.id,
      position: node.fen,
      depth: node.depth,
      visits: node.visits,
      value: node.value,
      raw: node.raw,
      state: node.state,
      plies: node.plies,
      transposition: node.transposition,
      legal: node.legal,
    })),
    edges: graph.edges.map((edge) => ({
      source: edge.source,
      target: edge.target,
      move: edge.move,
      visits: edge.visits,
      q: edge.q,
      prior: edge.prior,
      child_value: edge.child,
      pruned: edge.pruned,
      in_flight: 0,
    })),
  });
}

export function toDot(graph: Graph): string {
  const most = Math.max(1, graph.nodes[0]?.visits ?? 1);
  const lines = [
    'digraph search {',
    '  node [style=filled, fontname="sans-serif"];',
    '  edge [fontsize=10];',
  ];
  for (const node of graph.nodes) {
    const attributes = [
      `label="${count(node.visits)}\\n${signed(node.white, 2)}"`,
      `tooltip="${node.fen}"`,
      `fillcolor="${hex(shade(node.white))}"`,
      `fontcolor="${node.white > -0.1 ? 'black' : 'white'}"`,
    ];
    if (node.state !== 'unknown') attributes.push('shape=box');
    if (node.above.length > 1) attributes.push('peripheries=2', 'color="#e8590c"', 'penwidth=2');
    lines.push(`  ${node.id} [${attributes.join(', ')}];`);
  }
  for (const edge of graph.edges) {
    const width = (0.5 + (4 * edge.visits) / most).toFixed(2);
    lines.push(
      `  ${edge.source} -> ${edge.target} ` +
        `[label="${edge.move}", tooltip="${edgeText(edge)}", penwidth=${width}];`,
    );
  }
  return [...lines, '}', ''].join('\n');
}

export function edgeText(edge: GraphEdge): string {
  const [prior, leak] = [edge.prior.toFixed(3), edge.leak.toFixed(4)];
  return `N ${edge.visits} Q ${signed(edge.white, 3)} P ${prior} leak ${leak}`;
}

function nodeText(node: GraphNode): string {
  const proven = verdictText(node.state, node.plies);
  return `N ${node.visits} V ${signed(node.white, 3)}${proven ? ` ${proven}` : ''}`;
}

export function toSvg(graph: Graph, layout: Layout, line: ReadonlySet<GraphEdge>, palette: Palette): string {
  const { spots, width, height } = layout;
  const parts: string[] = [];
  const most = Math.max(1, graph.nodes[0]?.visits ?? 1);
  for (const edge of graph.edges) {
    const from = spots[edge.source];
    const to = spots[edge.target];
    if (!from || !to) continue;
    const meets = (graph.nodes[edge.target]?.above.length ?? 0) > 1;
    const colour = line.has(edge) ? palette.line : meets ? palette.transposition : palette.edge;
    const strength = line.has(edge) ? 3 : 0.6 + 4 * Math.sqrt(edge.visits / most);
    const middle = n((from.y + to.y) / 2);
    const start = `${n(from.x)} ${n(from.y)}`;
    const path = `M${start}C${n(from.x)} ${middle} ${n(to.x)} ${middle} ${n(to.x)} ${n(to.y)}`;
    const style = `stroke="${colour}" stroke-width="${n(strength)}" opacity="${line.has(edge) ? 1 : 0.6}"`;
    parts.push(`<path d="${path}" ${style}><title>${edge.move} ${edgeText(edge)}</title></path>`);
  }
  const lineNodes = new Set([0, ...[...line].map((edge) => edge.target)]);
  for (const node of graph.nodes) {
    const spot = spots[node.id];
    if (!spot) continue;
    const meets = node.above.length > 1;
    const stroke = meets ? palette.transposition : lineNodes.has(node.id) ? palette.line : palette.faint;
    const style = `fill="${shade(node.white)}" stroke="${stroke}" stroke-width="${meets ? 2.5 : 1.2}"`;
    const title = `<title>${node.fen} ${nodeText(node)}</title>`;
    const { x, y, radius } = spot;
    const side = n(2 * radius);
    parts.push(
      node.state === 'unknown'
        ? `<circle cx="${n(x)}" cy="${n(y)}" r="${n(radius)}" ${style}>${title}</circle>`
        : `<rect x="${n(x - radius)}" y="${n(y - radius)}" width="${side}" height="${side}" ${style}>` +
            `${title}</rect>`,
    );
  }
  const ground = `<rect width="100%" height="100%" fill="${palette.ground}"/>`;
  const box = `viewBox="0 0 ${n(width)} ${n(height)}" fill="none"`;
  return `<svg xmlns="http://www.w3.org/2000/svg" ${box}>${ground}${parts.join('')}</svg>\n`;
}

function n(number: number): string {
  return String(Math.round(number * 10) / 10);
}

function hex(colour: string): string {
  const parts = colour.match(/\d+/g) ?? [];
  return `#${parts.map((part) => Number(part).toString(16).padStart(2, '0')).join('')}`;
}
