// The live view of a graph: a canvas with a camera. Handles pan, zoom, hover and selection by pointer and
// by arrow keys, and animates nodes to their new places when the graph changes.
import type { Camera, Scene } from './draw';
import { draw } from './draw';
import type { Layout, Spot } from './layout';
import { computeLayout } from './layout';
import type { Graph, GraphEdge } from './model';
import type { Palette } from './palette';

const ANIMATION_MS = 260;
const HIT_DISTANCE = 14;

export interface GraphListener {
  onHover(id: number | null, x: number, y: number): void;
  onSelect(id: number | null): void;
}

export class GraphCanvas {
  /** The layout of the shown graph. */
  layout: Layout = { spots: [], width: 1, height: 1 };
  /** Milliseconds that the last frame took. */
  frameMs = 0;
  /** Milliseconds that the last layout took. */
  layoutMs = 0;

  private readonly context: CanvasRenderingContext2D | null;
  private readonly camera: Camera = { x: 0, y: 0, zoom: 1 };
  private scene: Scene | null = null;
  private from: Spot[] = [];
  private animationStart = 0;
  private isCameraMoved = false;
  private pending = 0;
  private readonly pointers = new Map<number, { x: number; y: number }>();
  private travelled = 0;
  private readonly observer: ResizeObserver;

  constructor(
    readonly canvas: HTMLCanvasElement,
    private readonly listener: GraphListener,
    private readonly sanOf: (fen: string, move: string) => string,
  ) {
    this.context = canvas.getContext('2d');
    this.observer = new ResizeObserver(() => {
      if (!this.isCameraMoved) this.fit();
      this.redraw();
    });
    this.observer.observe(canvas);
    canvas.addEventListener('wheel', (event) => this.wheel(event), { passive: false });
    canvas.addEventListener('pointerdown', (event) => this.down(event));
    canvas.addEventListener('pointermove', (event) => this.move(event));
    canvas.addEventListener('pointerup', (event) => this.up(event));
    canvas.addEventListener('pointercancel', (event) => this.pointers.delete(event.pointerId));
    canvas.addEventListener('pointerleave', () => this.hover(null, 0, 0));
    canvas.addEventListener('keydown', (event) => this.key(event));
  }

  destroy(): void {
    this.observer.disconnect();
    cancelAnimationFrame(this.pending);
  }

  /** Show a graph. Nodes that were shown before move to their new places in an animation. */
  show(graph: Graph, line: readonly GraphEdge[], palette: Palette, selectedKey: string | null): void {
    const before = new Map<string, Spot>();
    const shown = this.present();
    this.scene?.graph.nodes.forEach((node, index) => {
      const spot = shown[index];
      if (spot) before.set(node.key, spot);
    });
    const isNew = this.scene?.graph.nodes[0]?.key !== graph.nodes[0]?.key;
    const oldRoot = shown[0];
    const { width, height } = this.size();
    const begun = performance.now();
    this.layout = computeLayout(graph, width / height);
    this.layoutMs = performance.now() - begun;
    // The root stays where it is on the screen while the graph grows around it.
    const root = this.layout.spots[0];
    const shift = root && oldRoot && !isNew ? root.x - oldRoot.x : 0;
    if (this.isCameraMoved) this.camera.x -= shift * this.camera.zoom;
    this.from = this.layout.spots.map((spot, index) => {
      const old = isNew ? undefined : before.get(graph.nodes[index]?.key ?? '');
      return old
        ? { x: old.x + shift, y: old.y, radius: old.radius }
        : { ...spot, radius: isNew ? spot.radius : 0 };
    });
    const selected = selectedKey === null ? -1 : graph.nodes.findIndex((node) => node.key === selectedKey);
    this.scene = {
      graph,
      spots: this.layout.spots,
      line: new Set(line),
      selected: selected < 0 ? null : selected,
      hovered: null,
      palette,
      sanOf: this.sanOf,
    };
    this.animationStart = matchMedia('(prefers-reduced-motion: reduce)').matches ? 0 : performance.now();
    if (isNew) this.isCameraMoved = false;
    if (!this.isCameraMoved) this.fit();
    this.redraw();
  }

  /** Show nothing. */
  clear(): void {
    this.scene = null;
    this.layout = { spots: [], width: 1, height: 1 };
    this.context?.clearRect(0, 0, this.canvas.width, this.canvas.height);
  }

  select(id: number | null): void {
    if (this.scene) this.scene.selected = id;
    this.redraw();
  }

  setPalette(palette: Palette): void {
    if (this.scene) this.scene.palette = palette;
    this.redraw();
  }

  /** Zoom to the whole graph, or to its upper part where the whole would be too small. */
  fit(): void {
    const { width, height } = this.size();
    const across = width / this.layout.width;
    const down = height / this.layout.height;
    const zoom = Math.min(1.6, Math.max(Math.min(across, down), Math.min(across, 0.12)));
    this.camera.zoom = zoom;
    const root = this.layout.spots[0];
    const isWhole = this.layout.width * zoom <= width + 1;
    this.camera.x = isWhole || !root ? (width - this.layout.width * zoom) / 2 : width / 2 - root.x * zoom;
    this.camera.y = Math.max(8, (height - this.layout.height * zoom) / 2);
    this.isCameraMoved = false;
    this.redraw();
  }

  zoomBy(factor: number): void {
    const { width, height } = this.size();
    const at = this.scene?.selected ?? this.scene?.hovered ?? null;
    const spot = at === null ? undefined : this.layout.spots[at];
    const x = spot ? spot.x * this.camera.zoom + this.camera.x : width / 2;
    const y = spot ? spot.y * this.camera.zoom + this.camera.y : height / 3;
    this.zoomAt(x, y, factor);
  }

  /** Move the camera to a node. */
  centre(id: number, zoom = Math.max(1, this.camera.zoom)): void {
    const spot = this.layout.spots[id];
    if (!spot) return;
    const { width, height } = this.size();
    this.camera.zoom = zoom;
    this.camera.x = width / 2 - spot.x * zoom;
    this.camera.y = height / 2 - spot.y * zoom;
    this.isCameraMoved = true;
    this.redraw();
  }

  /** The place of a node on the canvas, in CSS pixels. */
  screen(id: number): { x: number; y: number } | null {
    const spot = this.layout.spots[id];
    return spot
      ? { x: spot.x * this.camera.zoom + this.camera.x, y: spot.y * this.camera.zoom + this.camera.y }
      : null;
  }

  /** What is on the canvas, as a picture. */
  picture(use: (picture: Blob) => void): void {
    this.frame();
    this.canvas.toBlob((picture) => {
      if (picture) use(picture);
    });
  }

  redraw(): void {
    if (!this.pending) this.pending = requestAnimationFrame(() => this.frame());
  }

  private size(): { width: number; height: number } {
    return { width: this.canvas.clientWidth || 1, height: this.canvas.clientHeight || 1 };
  }

  private frame(): void {
    this.pending = 0;
    const { context, scene } = this;
    if (!context || !scene) return;
    const begun = performance.now();
    const { width, height } = this.size();
    const ratio = devicePixelRatio || 1;
    if (
      this.canvas.width !== Math.round(width * ratio) ||
      this.canvas.height !== Math.round(height * ratio)
    ) {
      this.canvas.width = Math.round(width * ratio);
      this.canvas.height = Math.round(height * ratio);
    }
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    draw(context, width, height, this.camera, { ...scene, spots: this.present() });
    this.frameMs = performance.now() - begun;
    if (performance.now() - this.animationStart < ANIMATION_MS) this.redraw();
  }

  /** The places of the nodes at this moment of the animation. */
  private present(): Spot[] {
    const share = Math.min(1, (performance.now() - this.animationStart) / ANIMATION_MS);
    if (share >= 1) return this.layout.spots;
    const eased = 1 - (1 - share) ** 3;
    return this.layout.spots.map((to, index) => {
      const from = this.from[index] ?? to;
      return {
        x: from.x + (to.x - from.x) * eased,
        y: from.y + (to.y - from.y) * eased,
        radius: Math.max(0, from.radius + (to.radius - from.radius) * eased),
      };
    });
  }

  private zoomAt(x: number, y: number, factor: number): void {
    const zoom = Math.min(6, Math.max(0.03, this.camera.zoom * factor));
    const change = zoom / this.camera.zoom;
    this.camera.x = x - (x - this.camera.x) * change;
    this.camera.y = y - (y - this.camera.y) * change;
    this.camera.zoom = zoom;
    this.isCameraMoved = true;
    this.redraw();
  }

  private wheel(event: WheelEvent): void {
    event.preventDefault();
    this.zoomAt(event.offsetX, event.offsetY, Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0016)));
  }

  private down(event: PointerEvent): void {
    this.canvas.setPointerCapture(event.pointerId);
    this.pointers.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
    this.travelled = 0;
  }

  private move(event: PointerEvent): void {
    const before = this.pointers.get(event.pointerId);
    if (!before) {
      this.hover(this.find(event.offsetX, event.offsetY), event.offsetX, event.offsetY);
      return;
    }
    const now = { x: event.offsetX, y: event.offsetY };
    const other = [...this.pointers].find(([id]) => id !== event.pointerId)?.[1];
    if (other) {
      const factor =
        Math.hypot(now.x - other.x, now.y - other.y) /
        Math.max(1, Math.hypot(before.x - other.x, before.y - other.y));
      this.zoomAt((now.x + other.x) / 2, (now.y + other.y) / 2, factor);
    } else {
      this.camera.x += now.x - before.x;
      this.camera.y += now.y - before.y;
    }
    this.travelled += Math.hypot(now.x - before.x, now.y - before.y);
    this.pointers.set(event.pointerId, now);
    if (this.travelled > 4) this.isCameraMoved = true;
    this.redraw();
  }

  private up(event: PointerEvent): void {
    this.pointers.delete(event.pointerId);
    if (this.travelled > 4 || this.pointers.size) return;
    this.pick(this.find(event.offsetX, event.offsetY));
  }

  private find(x: number, y: number): number | null {
    const at = { x: (x - this.camera.x) / this.camera.zoom, y: (y - this.camera.y) / this.camera.zoom };
    let best: number | null = null;
    let least = Infinity;
    this.layout.spots.forEach((spot, id) => {
      const distance = Math.hypot(spot.x - at.x, spot.y - at.y) - spot.radius;
      if (distance < least && distance < HIT_DISTANCE / this.camera.zoom) {
        best = id;
        least = distance;
      }
    });
    return best;
  }

  private hover(id: number | null, x: number, y: number): void {
    if (!this.scene) return;
    if (this.scene.hovered !== id) this.redraw();
    this.scene.hovered = id;
    this.canvas.style.cursor = id === null ? 'grab' : 'pointer';
    this.listener.onHover(id, x, y);
  }

  private pick(id: number | null): void {
    if (this.scene) this.scene.selected = id;
    this.redraw();
    this.listener.onSelect(id);
  }

  private key(event: KeyboardEvent): void {
    const graph = this.scene?.graph;
    if (!graph || event.ctrlKey || event.metaKey || event.altKey) return;
    const next = this.step(graph, event.key);
    if (next !== undefined) {
      event.preventDefault();
      event.stopPropagation();
      this.pick(next);
      if (next !== null) this.centre(next, this.camera.zoom);
    } else if (event.key === '+' || event.key === '=') this.zoomBy(1.3);
    else if (event.key === '-') this.zoomBy(1 / 1.3);
    else if (event.key === '0') this.fit();
  }

  /** The node that a key selects: up to a parent, down to the most visited child, sideways in the layer. */
  private step(graph: Graph, key: string): number | null | undefined {
    const node = graph.nodes[this.scene?.selected ?? -1];
    if (key === 'Escape') return null;
    if (!node) return key.startsWith('Arrow') ? 0 : undefined;
    switch (key) {
      case 'ArrowUp':
        return node.above[0]?.source ?? node.id;
      case 'ArrowDown':
        return node.below[0]?.target ?? node.id;
      case 'ArrowLeft':
      case 'ArrowRight': {
        const layer = graph.nodes
          .filter((other) => other.depth === node.depth)
          .sort((a, b) => (this.layout.spots[a.id]?.x ?? 0) - (this.layout.spots[b.id]?.x ?? 0));
        const at = layer.indexOf(node) + (key === 'ArrowLeft' ? -1 : 1);
        return layer[at]?.id ?? node.id;
      }
      default:
        return undefined;
    }
  }
}
