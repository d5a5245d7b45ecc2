// Draws the visible part of a graph on a canvas, with more detail at higher zoom. The camera and its events
// are in `canvas.ts`.
import { count, signed, verdictText } from '../numbers';
import type { Spot } from './layout';
import type { Graph, GraphEdge, GraphNode } from './model';
import type { Palette } from './palette';
import { shade } from './palette';

export interface Camera {
  x: number;
  y: number;
  zoom: number;
}

export interface Scene {
  graph: Graph;
  spots: readonly Spot[];
  line: ReadonlySet<GraphEdge>;
  selected: number | null;
  hovered: number | null;
  palette: Palette;
  sanOf: (fen: string, move: string) => string;
}

const MOVES_ZOOM = 0.75;
const NUMBERS_ZOOM = 1.7;
const MAX_LABELS = 240;

/** The area of a label. */
interface Box {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

export function draw(
  context: CanvasRenderingContext2D,
  width: number,
  height: number,
  camera: Camera,
  scene: Scene,
): void {
  const { palette } = scene;
  context.fillStyle = palette.ground;
  context.fillRect(0, 0, width, height);
  context.save();
  context.translate(camera.x, camera.y);
  context.scale(camera.zoom, camera.zoom);
  const margin = 40;
  const view = {
    left: -camera.x / camera.zoom - margin,
    top: -camera.y / camera.zoom - margin,
    right: (width - camera.x) / camera.zoom + margin,
    bottom: (height - camera.y) / camera.zoom + margin,
  };
  const seen = (from: Spot, to: Spot): boolean =>
    Math.max(from.x, to.x) > view.left &&
    Math.min(from.x, to.x) < view.right &&
    Math.max(from.y, to.y) > view.top &&
    Math.min(from.y, to.y) < view.bottom;
  const near = edgesInFocus(scene);
  const labels: [GraphEdge, Spot, Spot][] = [];
  const most = Math.max(1, scene.graph.nodes[0]?.visits ?? 1);
  for (const edge of scene.graph.edges) {
    const from = scene.spots[edge.source];
    const to = scene.spots[edge.target];
    if (!from || !to || !seen(from, to)) continue;
    drawEdge(context, edge, from, to, most, near, scene);
    if (camera.zoom >= MOVES_ZOOM || near?.has(edge)) labels.push([edge, from, to]);
  }
  for (const edge of scene.line) {
    const from = scene.spots[edge.source];
    const to = scene.spots[edge.target];
    if (from && to) drawCurve(context, from, to, palette.line, 3.2, 1);
  }
  const lineNodes = new Set([0, ...[...scene.line].map((edge) => edge.target)]);
  for (const node of scene.graph.nodes) {
    const spot = scene.spots[node.id];
    if (spot && seen(spot, spot)) drawNode(context, node, spot, lineNodes.has(node.id), camera.zoom, scene);
  }
  const weight = (edge: GraphEdge): number =>
    edge.visits + (near?.has(edge) ? 1e12 : scene.line.has(edge) ? 1e11 : 0);
  labels.sort((first, second) => weight(second[0]) - weight(first[0]));
  const taken: Box[] = [];
  for (const [edge, from, to] of labels.slice(0, MAX_LABELS))
    drawLabel(context, edge, from, to, camera.zoom, scene, taken);
  context.restore();
}

/** The edges of the hovered or selected node. */
function edgesInFocus(scene: Scene): Set<GraphEdge> | null {
  const node = scene.graph.nodes[scene.hovered ?? scene.selected ?? -1];
  return node ? new Set([...node.above, ...node.below]) : null;
}

function drawEdge(
  context: CanvasRenderingContext2D,
  edge: GraphEdge,
  from: Spot,
  to: Spot,
  most: number,
  near: Set<GraphEdge> | null,
  scene: Scene,
): void {
  const meets = (scene.graph.nodes[edge.target]?.above.length ?? 0) > 1;
  const isNear = near?.has(edge) ?? false;
  const strength = 0.8 + 6 * Math.sqrt(edge.visits / most) + (isNear ? 1 : 0);
  const opacity = isNear ? 1 : near ? 0.25 : meets ? 0.5 : 0.7;
  drawCurve(context, from, to, meets ? scene.palette.transposition : scene.palette.edge, strength, opacity);
}

function drawCurve(
  context: CanvasRenderingContext2D,
  from: Spot,
  to: Spot,
  colour: string,
  width: number,
  opacity: number,
): void {
  const bend = (to.y - from.y) * 0.5;
  context.globalAlpha = opacity;
  context.strokeStyle = colour;
  context.lineWidth = width;
  context.beginPath();
  context.moveTo(from.x, from.y);
  context.bezierCurveTo(from.x, from.y + bend, to.x, to.y - bend, to.x, to.y);
  context.stroke();
  context.globalAlpha = 1;
}

/** A point of the curve between two nodes. */
function onCurve(from: Spot, to: Spot, share: number): { x: number; y: number } {
  const rest = 1 - share;
  const [a, b, c, d] = [rest ** 3, 3 * rest * rest * share, 3 * rest * share * share, share ** 3];
  const bend = (to.y - from.y) * 0.5;
  return {
    x: (a + b) * from.x + (c + d) * to.x,
    y: a * from.y + b * (from.y + bend) + c * (to.y - bend) + d * to.y,
  };
}

function drawNode(
  context: CanvasRenderingContext2D,
  node: GraphNode,
  spot: Spot,
  onLine: boolean,
  zoom: number,
  scene: Scene,
): void {
  const { palette } = scene;
  const meets = node.above.length > 1;
  if (meets) {
    outline(context, node, spot, 3.2);
    context.strokeStyle = palette.transposition;
    context.lineWidth = 1.8;
    context.stroke();
  }
  if (node.id === scene.selected || node.id === scene.hovered) {
    outline(context, node, spot, 6);
    context.strokeStyle = palette.ink;
    context.lineWidth = node.id === scene.selected ? 2.4 : 1.4;
    context.stroke();
  }
  outline(context, node, spot, 0);
  context.fillStyle = shade(node.white);
  context.fill();
  context.strokeStyle = meets ? palette.transposition : onLine ? palette.line : palette.faint;
  context.lineWidth = onLine || meets ? 2 : 1;
  context.stroke();
  if (node.state !== 'unknown') drawVerdict(context, node, spot, palette);
  if (zoom >= NUMBERS_ZOOM && spot.radius * zoom > 16) drawNumbers(context, node, spot);
}

/** Solved nodes are boxes. */
function outline(context: CanvasRenderingContext2D, node: GraphNode, spot: Spot, grow: number): void {
  const radius = spot.radius + grow;
  context.beginPath();
  if (node.state === 'unknown') context.arc(spot.x, spot.y, radius, 0, 2 * Math.PI);
  else context.rect(spot.x - radius, spot.y - radius, 2 * radius, 2 * radius);
}

/** Mark a solved node with a coloured corner: win, loss or draw for the side to move. */
function drawVerdict(context: CanvasRenderingContext2D, node: GraphNode, spot: Spot, palette: Palette): void {
  const colour = node.state.endsWith('win')
    ? palette.win
    : node.state.endsWith('loss')
      ? palette.loss
      : palette.draw;
  const size = Math.max(4, spot.radius * 0.8);
  context.fillStyle = colour;
  context.beginPath();
  context.moveTo(spot.x + spot.radius, spot.y - spot.radius);
  context.lineTo(spot.x + spot.radius - size, spot.y - spot.radius);
  context.lineTo(spot.x + spot.radius, spot.y - spot.radius + size);
  context.fill();
}

function drawNumbers(context: CanvasRenderingContext2D, node: GraphNode, spot: Spot): void {
  const size = Math.min(7, spot.radius * 0.55);
  context.font = `600 ${size}px system-ui, sans-serif`;
  context.textAlign = 'center';
  context.textBaseline = 'middle';
  context.fillStyle = node.white > -0.12 ? '#1c242b' : '#f1f3f5';
  context.fillText(count(node.visits), spot.x, spot.y - size * 0.55);
  context.fillText(verdictText(node.state, node.plies) || signed(node.white, 2), spot.x, spot.y + size * 0.6);
}

/** Write the move of an edge and, at high zoom, its numbers. Skip it where it would overlap a label. */
function drawLabel(
  context: CanvasRenderingContext2D,
  edge: GraphEdge,
  from: Spot,
  to: Spot,
  zoom: number,
  scene: Scene,
  taken: Box[],
): void {
  const source = scene.graph.nodes[edge.source];
  if (!source) return;
  const isFull = zoom >= NUMBERS_ZOOM;
  const size = (isFull ? 9.5 : 11) / Math.max(zoom, 0.75);
  const lines = [scene.sanOf(source.fen, edge.move)];
  if (isFull)
    lines.push(`N ${count(edge.visits)}  Q ${signed(edge.white, 2)}`, `leak ${edge.leak.toFixed(3)}`);
  context.font = `500 ${size}px system-ui, sans-serif`;
  context.textAlign = 'center';
  context.textBaseline = 'middle';
  const at = onCurve(from, to, 0.68); // nearer to the child, where the edges of a node are apart
  const half = Math.max(...lines.map((text) => context.measureText(text).width)) / 2;
  const box = {
    left: at.x - half,
    right: at.x + half,
    top: at.y - lines.length * size * 0.6,
    bottom: at.y + lines.length * size * 0.6,
  };
  if (
    taken.some(
      (other) =>
        box.left < other.right && box.right > other.left && box.top < other.bottom && box.bottom > other.top,
    )
  )
    return;
  taken.push(box);
  lines.forEach((text, index) => {
    const y = at.y + (index - (lines.length - 1) / 2) * size * 1.15;
    context.lineWidth = 3 / zoom;
    context.strokeStyle = scene.palette.ground;
    context.strokeText(text, at.x, y);
    context.fillStyle = index ? scene.palette.faint : scene.palette.ink;
    context.fillText(text, at.x, y);
  });
}
