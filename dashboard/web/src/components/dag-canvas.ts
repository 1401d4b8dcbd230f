// Draws the graph: what is in view, in few strokes. While one moves, the last picture is moved; it is drawn again after.
import type { NodeFact } from "../model/facts";
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

export interface Scene {
  /** What heights mean: another kind of picture is fitted anew. */
  kind: string;
  nodes: readonly NodeFact[];
  at: Layout;
  /** Colour of each node: an index into `palette`. */
  colors: Uint8Array;
  palette: readonly string[];
  best: number;
  selected: number;
  /** Line of descent of the best node, always drawn. */
  winner: readonly number[];
  /** How many nodes are folded into each. */
  folded: Int32Array;
  /** First-parent line of the selected node, and its second parents as (from, to) pairs. */
  line: readonly number[];
  links: readonly (readonly [number, number])[];
  /** Parent and node of two islands: thin lines beside those of the tree. */
  across: readonly (readonly [number, number])[];
  lanes: boolean;
  /** What stands below a node, from so near on: its name, or which step it is. */
  labelOf: (node: NodeFact) => string;
  /** What the height says, at the upper edge; '' where it is descent. */
  axis: string;
  /** Name of each lane. */
  names: readonly string[];
}

const MARGIN = 24;
/** Half of a name below a node, which a fitted picture shows whole. */
const SIDE = 40;
/** Pixels of the line in which the lanes' names stand. */
const LANE_TITLE = 22;
const REDRAW_MS = 90;
/** Pixels of half a count, and of its height. */
const LABEL = { w: 14, h: 11 };
const MINI = { w: 168, h: 104, gap: 10 };

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
  private mini: HTMLCanvasElement | null = null;

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private colors: Colors,
  ) {}

  setScene(scene: Scene, colors: Colors): void {
    if (this.scene?.at !== scene.at) this.grid = new Grid(scene.at);
    if (this.scene && this.scene.kind !== scene.kind) this.fitted = false;
    this.scene = scene;
    this.colors = colors;
    this.cached = null;
    this.mini = null;
    if (!this.fitted && scene.nodes.length > 0 && this.canvas.clientWidth > 0) this.fit();
    this.request();
  }

  fit(): void {
    if (!this.scene) return;
    const { width, height } = this.scene.at;
    const { left, top } = marginsOf(this.scene);
    const w = this.canvas.clientWidth - left - SIDE;
    const h = this.canvas.clientHeight - top - MARGIN;
    this.scale = Math.max(0.02, Math.min(2, w / Math.max(width, GAP_X), h / Math.max(height, GAP_Y)));
    this.originX = left + (w - width * this.scale) / 2;
    this.originY = top + Math.max(0, (h - height * this.scale) / 2);
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

  /** Goes to a place of the small map; false where the point is not on it. */
  jump(x: number, y: number): boolean {
    const box = this.miniBox();
    if (!box || !this.scene || x < box.x || y < box.y || x > box.x + MINI.w || y > box.y + MINI.h) return false;
    this.originX = this.canvas.clientWidth / 2 - ((x - box.x - box.padX) / box.scale) * this.scale;
    this.originY = this.canvas.clientHeight / 2 - ((y - box.y - box.padY) / box.scale) * this.scale;
    this.request();
    return true;
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
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.drawLabels(context, w, h);
    this.drawMini(context);
    if (zoom !== 1 || this.offCentre(w, h)) {
      window.clearTimeout(this.settle);
      this.settle = window.setTimeout(() => {
        this.cached = null;
        this.request();
      }, REDRAW_MS);
    }
  }

  /** Names of the lanes at the upper edge and of the levels at the left one, wherever the picture was moved. */
  private drawLabels(g: CanvasRenderingContext2D, w: number, h: number): void {
    const { at, axis, names, lanes } = this.scene as Scene;
    g.font = "11px ui-monospace, Menlo, Consolas, monospace";
    g.textBaseline = "middle";
    const label = (text: string, x: number, y: number) => {
      g.fillStyle = this.colors.bg;
      g.globalAlpha = 0.85;
      g.fillRect(x - 3, y - 8, g.measureText(text).width + 6, 16);
      g.globalAlpha = 1;
      g.fillStyle = this.colors.muted;
      g.fillText(text, x, y);
    };
    g.textAlign = "left";
    for (const { y, text } of at.levels ?? []) {
      const place = y * this.scale + this.originY;
      if (place > 28 && place < h - 6) label(text, 6, place);
    }
    if (axis) label(axis, 6, 12);
    if (!lanes) return;
    at.lanes.forEach((lane, i) => {
      const left = Math.max(lane.from * this.scale + this.originX, at.levels ? 46 : 4);
      const right = (lane.to + GAP_X) * this.scale + this.originX;
      if (right - left > 40 && left < w) label(fitting(g, names[i] ?? "", right - left), left, 12);
    });
  }

  private miniBox(): { x: number; y: number; scale: number; padX: number; padY: number } | null {
    const { canvas, scene } = this;
    if (!scene || canvas.clientWidth < 480) return null;
    const { width, height } = scene.at;
    const left = -this.originX / this.scale;
    const top = -this.originY / this.scale;
    if (left <= 0 && top <= 0 && left + canvas.clientWidth / this.scale >= width && top + canvas.clientHeight / this.scale >= height) return null;
    const scale = Math.min((MINI.w - 12) / Math.max(1, width), (MINI.h - 12) / Math.max(1, height));
    return { x: canvas.clientWidth - MINI.w - MINI.gap, y: canvas.clientHeight - MINI.h - MINI.gap, scale, padX: (MINI.w - width * scale) / 2, padY: (MINI.h - height * scale) / 2 };
  }

  /** The whole graph small, with a frame round what is in view; only while something is out of view. */
  private drawMini(g: CanvasRenderingContext2D): void {
    const box = this.miniBox();
    if (!box || !this.scene) return;
    this.mini ??= miniature(this.scene, this.colors, box);
    g.drawImage(this.mini, box.x, box.y);
    const clip = (value: number, most: number) => Math.max(0, Math.min(most, value));
    const x = clip((-this.originX / this.scale) * box.scale + box.padX, MINI.w);
    const y = clip((-this.originY / this.scale) * box.scale + box.padY, MINI.h);
    const right = clip(((this.canvas.clientWidth - this.originX) / this.scale) * box.scale + box.padX, MINI.w);
    const bottom = clip(((this.canvas.clientHeight - this.originY) / this.scale) * box.scale + box.padY, MINI.h);
    g.strokeStyle = this.colors.accent;
    g.lineWidth = 1.5;
    g.strokeRect(box.x + x, box.y + y, Math.max(3, right - x), Math.max(3, bottom - y));
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

/** Room for the names of levels and lanes, so that a fitted picture does not lie below them. */
function marginsOf(scene: Scene): { left: number; top: number } {
  const longest = Math.max(0, ...(scene.at.levels ?? []).map(({ text }) => text.length));
  return { left: longest ? MARGIN + 7 * longest : SIDE, top: MARGIN + (scene.lanes ? LANE_TITLE : 0) };
}

function fitting(g: CanvasRenderingContext2D, whole: string, width: number): string {
  let text = whole;
  while (text.length > 3 && g.measureText(text).width > width) text = `${text.slice(0, -2)}…`;
  return text;
}

function miniature(scene: Scene, colors: Colors, box: { scale: number; padX: number; padY: number }): HTMLCanvasElement {
  const made = document.createElement("canvas");
  made.width = MINI.w;
  made.height = MINI.h;
  const g = made.getContext("2d");
  if (!g) return made;
  g.fillStyle = colors.bg;
  g.fillRect(0, 0, MINI.w, MINI.h);
  g.strokeStyle = colors.strong;
  g.strokeRect(0.5, 0.5, MINI.w - 1, MINI.h - 1);
  for (let color = 0; color < scene.palette.length; color += 1) {
    g.fillStyle = scene.palette[color];
    for (let i = 0; i < scene.nodes.length; i += 1) {
      if (scene.colors[i] === color) g.fillRect(scene.at.x[i] * box.scale + box.padX - 0.75, scene.at.y[i] * box.scale + box.padY - 0.75, 1.5, 1.5);
    }
  }
  return made;
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
      if (at.beyond?.has(i)) {
        g.moveTo(x, y + radius + 2);
        g.lineTo(x - radius - 1, y - radius);
        g.lineTo(x + radius + 1, y - radius);
      } else if (radius < 2.5) g.rect(x - radius, y - radius, radius * 2, radius * 2);
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
  if (scale > 0.35) {
    g.fillStyle = colors.muted;
    g.font = "10px ui-monospace, Menlo, Consolas, monospace";
    g.textAlign = "left";
    const taken = new Set<string>();
    for (let i = 0; i < nodes.length; i += 1) {
      if (!scene.folded[i] || !seen(i)) continue;
      const [x, y] = [at.x[i] * scale + ox + radius + 2, at.y[i] * scale + oy - radius];
      // a count that would stand on another one is left out: zooming in brings it
      const cells = [0, 1].map((k) => `${Math.round(x / LABEL.w) + k}/${Math.round(y / LABEL.h)}`);
      if (cells.some((cell) => taken.has(cell))) continue;
      for (const cell of cells) taken.add(cell);
      write(g, `+${scene.folded[i]}`, x, y, colors);
    }
  }
  if (scale > 1.35) {
    g.fillStyle = colors.muted;
    g.font = "10px ui-monospace, Menlo, Consolas, monospace";
    g.textAlign = "center";
    const lines = new LabelLines();
    for (let i = 0; i < nodes.length; i += 1) {
      const text = seen(i) ? scene.labelOf(nodes[i]) : "";
      if (!text) continue;
      const [x, y] = [at.x[i] * scale + ox, at.y[i] * scale + oy + radius + 12];
      write(g, text, x, y + 11 * lines.of(x, y, g.measureText(text).width / 2 + 2), colors);
    }
  }
}

/** A text that lines of the graph do not run through: they end at its rim. */
function write(g: CanvasRenderingContext2D, text: string, x: number, y: number, colors: Colors): void {
  g.strokeStyle = colors.bg;
  g.lineWidth = 4;
  g.lineJoin = "round";
  g.strokeText(text, x, y);
  g.fillText(text, x, y);
}

/** In which line below its node a label stands, so that it lies over none of its neighbours. */
class LabelLines {
  private readonly taken = new Map<number, [number, number][]>();

  of(x: number, y: number, half: number): number {
    for (let line = 0; ; line += 1) {
      const row = this.taken.get(Math.round(y) + 11 * line) ?? [];
      if (line < 4 && row.some(([left, right]) => x - half < right && x + half > left)) continue;
      this.taken.set(Math.round(y) + 11 * line, [...row, [x - half, x + half]]);
      return line;
    }
  }
}

/** Nodes from which on their lines step back behind them. */
const MANY = 150;

function paintEdges(g: CanvasRenderingContext2D, scene: Scene, colors: Colors, scale: number, ox: number, oy: number, w: number, h: number): void {
  const { at } = scene;
  g.lineWidth = Math.max(0.5, Math.min(1.4, scale * 1.4));
  g.strokeStyle = at.parent.length > MANY ? colors.line : colors.strong;
  g.beginPath();
  const edge = (p: number, i: number): void => {
    const x1 = at.x[p] * scale + ox;
    const y1 = at.y[p] * scale + oy;
    const x2 = at.x[i] * scale + ox;
    const y2 = at.y[i] * scale + oy;
    if ((x1 < 0 && x2 < 0) || (x1 > w && x2 > w) || (y1 < 0 && y2 < 0) || (y1 > h && y2 > h)) return;
    g.moveTo(x1, y1);
    g.lineTo(x2, y2);
  };
  for (let i = 0; i < at.parent.length; i += 1) if (at.parent[i] >= 0) edge(at.parent[i], i);
  g.stroke();
  g.lineWidth = 0.5;
  g.beginPath();
  for (const [from, to] of scene.across) edge(from, to);
  g.stroke();
  const descent = (line: readonly number[], color: string, width: number) => {
    g.strokeStyle = color;
    g.lineWidth = width;
    g.beginPath();
    for (let k = 0; k + 1 < line.length; k += 1) {
      g.moveTo(at.x[line[k]] * scale + ox, at.y[line[k]] * scale + oy);
      g.lineTo(at.x[line[k + 1]] * scale + ox, at.y[line[k + 1]] * scale + oy);
    }
    g.stroke();
  };
  descent(scene.winner, colors.good, 3);
  descent(scene.line, colors.accent, 2);
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
  g.strokeStyle = colors.line;
  g.lineWidth = 1;
  for (const lane of scene.at.lanes) g.strokeRect((lane.from - GAP_X) * scale + ox, -2, (lane.to - lane.from + 2 * GAP_X) * scale, h + 4);
}
