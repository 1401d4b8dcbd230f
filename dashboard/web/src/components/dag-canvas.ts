// Draws the graph: what is in view, in few strokes. While one moves, the last picture is moved; it is drawn again after.
import type { NodeFact } from "../model/run-state";
import { GAP_X, GAP_Y, Grid, type Layout } from "../model/dag";

export interface Colors {
  bg: string;
  line: string;
  strong: string;
  text: string;
  muted: string;
  accent: string;
  good: string;
  bad: string;
  warn: string;
}

export type Paint = "state" | "metric" | "operator";

export interface Scene {
  nodes: readonly NodeFact[];
  at: Layout;
  /** Colour of each node: an index into `palette`. */
  colors: Uint8Array;
  palette: readonly string[];
  best: number;
  selected: number;
  /** First-parent line of the selected node, and its second parents as (from, to) pairs. */
  line: readonly number[];
  links: readonly (readonly [number, number])[];
  lanes: boolean;
}

const MARGIN = 24;
const REDRAW_MS = 90;

export class DagCanvas {
  scale = 1;
  originX = 0;
  originY = 0;
  frames = 0;
  private scene: Scene | null = null;
  private grid: Grid | null = null;
  private cache: HTMLCanvasElement = document.createElement("canvas");
  private cached: { scale: number; x: number; y: number; w: number; h: number } | null = null;
  private frame = 0;
  private settle = 0;
  private fitted = false;

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private colors: Colors,
  ) {}

  setScene(scene: Scene, colors: Colors): void {
    if (this.scene?.at !== scene.at) this.grid = new Grid(scene.at);
    this.scene = scene;
    this.colors = colors;
    this.cached = null;
    if (!this.fitted && scene.nodes.length > 0 && this.canvas.clientWidth > 0) this.fit();
    this.request();
  }

  fit(): void {
    if (!this.scene) return;
    const { width, height } = this.scene.at;
    const w = this.canvas.clientWidth - 2 * MARGIN;
    const h = this.canvas.clientHeight - 2 * MARGIN;
    this.scale = Math.max(0.02, Math.min(2, w / Math.max(width, GAP_X), h / Math.max(height, GAP_Y)));
    this.originX = MARGIN + (w - width * this.scale) / 2;
    this.originY = MARGIN + Math.max(0, (h - height * this.scale) / 2);
    this.fitted = true;
    this.cached = null;
    this.request();
  }

  resize(): void {
    this.cached = null;
    if (!this.fitted && this.scene && this.canvas.clientWidth > 0) this.fit();
    this.request();
  }

  pan(dx: number, dy: number): void {
    this.originX += dx;
    this.originY += dy;
    this.fitted = true;
    this.request();
  }

  zoom(factor: number, x = this.canvas.clientWidth / 2, y = this.canvas.clientHeight / 2): void {
    const next = Math.min(6, Math.max(0.02, this.scale * factor));
    const ratio = next / this.scale;
    this.originX = x - (x - this.originX) * ratio;
    this.originY = y - (y - this.originY) * ratio;
    this.scale = next;
    this.fitted = true;
    this.request();
  }

  /** Brings a node into the middle when it is out of view. */
  show(index: number): void {
    if (!this.scene) return;
    const x = this.scene.at.x[index] * this.scale + this.originX;
    const y = this.scene.at.y[index] * this.scale + this.originY;
    const { clientWidth: w, clientHeight: h } = this.canvas;
    if (x < MARGIN || y < MARGIN || x > w - MARGIN || y > h - MARGIN) this.pan(w / 2 - x, h / 2 - y);
  }

  pick(x: number, y: number): number {
    if (!this.grid) return -1;
    return this.grid.nearest((x - this.originX) / this.scale, (y - this.originY) / this.scale, Math.max(10, 12 / this.scale));
  }

  /** Screen position of a node. */
  place(index: number): [number, number] {
    const at = this.scene?.at;
    return at ? [at.x[index] * this.scale + this.originX, at.y[index] * this.scale + this.originY] : [0, 0];
  }

  destroy(): void {
    cancelAnimationFrame(this.frame);
    window.clearTimeout(this.settle);
  }

  private request(): void {
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      this.frames += 1;
      this.draw();
    });
  }

  private draw(): void {
    const { canvas, scene } = this;
    const ratio = Math.min(2, window.devicePixelRatio || 1);
    const w = canvas.clientWidth;
    const h = canvas.clientHeight;
    if (!scene || w === 0 || h === 0) return;
    if (canvas.width !== Math.round(w * ratio) || canvas.height !== Math.round(h * ratio)) {
      canvas.width = Math.round(w * ratio);
      canvas.height = Math.round(h * ratio);
      this.cached = null;
    }
    if (!this.cached || !this.covers(w, h)) this.render(ratio, w, h);
    const cached = this.cached as unknown as NonNullable<DagCanvas["cached"]>;
    const context = canvas.getContext("2d", { alpha: false });
    if (!context) return;
    const zoom = this.scale / cached.scale;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.fillStyle = this.colors.bg;
    context.fillRect(0, 0, canvas.width, canvas.height);
    const x = (this.originX - cached.x * zoom) * ratio;
    const y = (this.originY - cached.y * zoom) * ratio;
    if (zoom === 1) context.drawImage(this.cache, Math.round(x), Math.round(y));
    else context.drawImage(this.cache, x, y, this.cache.width * zoom, this.cache.height * zoom);
    if (zoom !== 1 || this.offCentre(w, h)) {
      window.clearTimeout(this.settle);
      this.settle = window.setTimeout(() => {
        this.cached = null;
        this.request();
      }, REDRAW_MS);
    }
  }

  /** The picture reaches a third of the view beyond it on each side; it serves while it covers the view well enough. */
  private covers(w: number, h: number): boolean {
    const c = this.cached as NonNullable<DagCanvas["cached"]>;
    const zoom = this.scale / c.scale;
    if (zoom < 0.6 || zoom > 1.8) return false;
    const left = this.originX - c.x * zoom;
    const top = this.originY - c.y * zoom;
    return left <= 0 && top <= 0 && left + c.w * zoom >= w && top + c.h * zoom >= h;
  }

  private offCentre(w: number, h: number): boolean {
    const c = this.cached as NonNullable<DagCanvas["cached"]>;
    return Math.abs(this.originX - c.x + w / 3) > w / 6 || Math.abs(this.originY - c.y + h / 3) > h / 6;
  }

  private render(ratio: number, w: number, h: number): void {
    const padX = Math.round(w / 3);
    const padY = Math.round(h / 3);
    this.cached = { scale: this.scale, x: this.originX + padX, y: this.originY + padY, w: w + 2 * padX, h: h + 2 * padY };
    this.cache.width = Math.round(this.cached.w * ratio);
    this.cache.height = Math.round(this.cached.h * ratio);
    const context = this.cache.getContext("2d", { alpha: false });
    if (!context) return;
    context.scale(ratio, ratio);
    context.fillStyle = this.colors.bg;
    context.fillRect(0, 0, this.cached.w, this.cached.h);
    paint(context, this.scene as Scene, this.colors, this.scale, this.cached.x, this.cached.y, this.cached.w, this.cached.h);
  }
}

function paint(g: CanvasRenderingContext2D, scene: Scene, colors: Colors, scale: number, ox: number, oy: number, w: number, h: number): void {
  const { at, nodes } = scene;
  const radius = Math.max(1.7, Math.min(7, 5 * scale));
  if (scene.lanes) paintLanes(g, scene, colors, scale, ox, h);
  const seen = (i: number): boolean => {
    const x = at.x[i] * scale + ox;
    const y = at.y[i] * scale + oy;
    return x > -20 && x < w + 20 && y > -20 && y < h + 20;
  };
  paintEdges(g, scene, colors, scale, ox, oy, w, h);
  const marked = new Set(scene.line);
  for (let color = 0; color < scene.palette.length; color += 1) {
    g.fillStyle = scene.palette[color];
    g.beginPath();
    for (let i = 0; i < nodes.length; i += 1) {
      if (scene.colors[i] !== color || !seen(i)) continue;
      const x = at.x[i] * scale + ox;
      const y = at.y[i] * scale + oy;
      if (radius < 2.5) g.rect(x - radius, y - radius, radius * 2, radius * 2);
      else {
        g.moveTo(x + radius, y);
        g.arc(x, y, radius, 0, 6.2832);
      }
    }
    g.fill();
  }
  const ring = (i: number, color: string, extra: number, width: number) => {
    g.strokeStyle = color;
    g.lineWidth = width;
    g.beginPath();
    g.arc(at.x[i] * scale + ox, at.y[i] * scale + oy, radius + extra, 0, 6.2832);
    g.stroke();
  };
  for (let i = 0; i < nodes.length; i += 1) {
    if (nodes[i].mark && seen(i)) ring(i, nodes[i].mark === "pinned" ? colors.warn : colors.bad, 2, 2);
  }
  for (const i of marked) if (seen(i)) ring(i, colors.accent, 1.5, 1.5);
  if (scene.best >= 0 && seen(scene.best)) ring(scene.best, colors.text, 3.5, 2);
  if (scene.selected >= 0 && seen(scene.selected)) ring(scene.selected, colors.accent, 5, 2.5);
  if (scale > 1.35) {
    g.fillStyle = colors.muted;
    g.font = "10px ui-monospace, Menlo, Consolas, monospace";
    g.textAlign = "center";
    for (let i = 0; i < nodes.length; i += 1) {
      if (seen(i)) g.fillText(String(nodes[i].step), at.x[i] * scale + ox, at.y[i] * scale + oy + radius + 12);
    }
  }
}

function paintEdges(g: CanvasRenderingContext2D, scene: Scene, colors: Colors, scale: number, ox: number, oy: number, w: number, h: number): void {
  const { at } = scene;
  g.lineWidth = Math.max(0.5, Math.min(1.4, scale * 1.4));
  g.strokeStyle = colors.strong;
  g.beginPath();
  for (let i = 0; i < at.parent.length; i += 1) {
    const p = at.parent[i];
    if (p < 0) continue;
    const x1 = at.x[p] * scale + ox;
    const y1 = at.y[p] * scale + oy;
    const x2 = at.x[i] * scale + ox;
    const y2 = at.y[i] * scale + oy;
    if ((x1 < 0 && x2 < 0) || (x1 > w && x2 > w) || (y1 < 0 && y2 < 0) || (y1 > h && y2 > h)) continue;
    g.moveTo(x1, y1);
    g.lineTo(x2, y2);
  }
  g.stroke();
  g.strokeStyle = colors.accent;
  g.lineWidth = 2;
  g.beginPath();
  for (let k = 0; k + 1 < scene.line.length; k += 1) {
    g.moveTo(at.x[scene.line[k]] * scale + ox, at.y[scene.line[k]] * scale + oy);
    g.lineTo(at.x[scene.line[k + 1]] * scale + ox, at.y[scene.line[k + 1]] * scale + oy);
  }
  g.stroke();
  g.setLineDash([5, 4]);
  g.beginPath();
  for (const [from, to] of scene.links) {
    const x1 = at.x[from] * scale + ox;
    const x2 = at.x[to] * scale + ox;
    const y1 = at.y[from] * scale + oy;
    const y2 = at.y[to] * scale + oy;
    g.moveTo(x1, y1);
    g.quadraticCurveTo((x1 + x2) / 2, Math.min(y1, y2) - 20 * scale, x2, y2);
  }
  g.stroke();
  g.setLineDash([]);
}

function paintLanes(g: CanvasRenderingContext2D, scene: Scene, colors: Colors, scale: number, ox: number, h: number): void {
  g.font = "11px ui-monospace, Menlo, Consolas, monospace";
  g.textAlign = "left";
  for (const lane of scene.at.lanes) {
    const x = (lane.from - GAP_X) * scale + ox;
    const width = (lane.to - lane.from + 2 * GAP_X) * scale;
    g.strokeStyle = colors.line;
    g.lineWidth = 1;
    g.strokeRect(x, -2, width, h + 4);
  }
}
