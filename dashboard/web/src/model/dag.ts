// Places of the nodes of the graph: one pass down, one pass up, no recursion. O(n) in nodes and edges.
import { yRange } from "./curve";
import { tickTexts } from "./format";
import { groupsOf } from "./groups";

export interface DagNode {
  id: string;
  parents: readonly string[];
  lane: number | null;
}

/** A height that means something: a score, a generation. */
export interface Level {
  y: number;
  text: string;
}

export interface Layout {
  x: Float64Array;
  y: Float64Array;
  /** Index of the first parent, or -1. */
  parent: Int32Array;
  lanes: { lane: number; from: number; to: number }[];
  width: number;
  height: number;
  levels?: Level[];
  /** Nodes whose height is off the scale: they stand at its edge. */
  beyond?: ReadonlySet<number>;
}

export const GAP_X = 18;
export const GAP_Y = 44;
const LANE_GAP = 36;

const FEW = 80;
const MOST_ROWS = 12;

/** In how many rows childless siblings stand so that the graph is about as high as `ratio` times its width; 1 for a small one. */
export function rowsFor(nodes: readonly DagNode[], ratio = 0.7): number {
  if (nodes.length < FEW) return 1;
  const parents = new Set(nodes.flatMap((node) => node.parents.slice(0, 1)));
  const leaves = nodes.filter((node) => !parents.has(node.id)).length;
  const levels = layout(nodes).height / GAP_Y + 1;
  return Math.max(1, Math.min(MOST_ROWS, Math.round(Math.sqrt((ratio * leaves) / levels))));
}

/**
 * Places nodes (parents before children) in columns: depth downwards; a parent stands over the middle of its children;
 * leaves take the next free column of their lane, in the order in which a walk meets them. With more than one row,
 * childless siblings stand in a block below their parent, and so do the childless roots of a lane.
 */
export function layout(nodes: readonly DagNode[], rows = 1): Layout {
  const n = nodes.length;
  const index = new Map<string, number>();
  nodes.forEach((node, i) => index.set(node.id, i));
  const parent = new Int32Array(n).fill(-1);
  const depth = new Int32Array(n);
  const children: number[][] = Array.from({ length: n }, () => []);
  const roots = new Map<number, number[]>();
  for (let i = 0; i < n; i += 1) {
    const first = index.get(nodes[i].parents[0] ?? "");
    const lane = nodes[i].lane ?? 0;
    // a parent in another lane (a migrant) is drawn as a link, not as the place to hang from
    if (first !== undefined && first < i && (nodes[first].lane ?? 0) === lane) {
      parent[i] = first;
      depth[i] = depth[first] + 1;
      children[first].push(i);
    } else {
      if (first !== undefined && first < i) depth[i] = depth[first] + 1;
      const line = roots.get(lane);
      if (line) line.push(i);
      else roots.set(lane, [i]);
    }
  }
  const x = new Float64Array(n);
  const row = new Int32Array(n);
  const lanes: Layout["lanes"] = [];
  let column = 0;
  for (const lane of [...roots.keys()].sort((a, b) => a - b)) {
    const from = column;
    const own = roots.get(lane) ?? [];
    for (const root of own) if (rows === 1 || children[root].length > 0) column = place(root, children, x, row, rows, column);
    if (rows > 1) column = placeAlone(own.filter((root) => children[root].length === 0), depth, x, row, rows, column);
    lanes.push({ lane, from, to: Math.max(from, column - GAP_X) });
    column += LANE_GAP;
  }
  const level = GAP_Y + (rows - 1) * GAP_X;
  const y = Float64Array.from(depth, (d, i) => d * level + row[i] * GAP_X);
  const height = y.reduce((top, value) => Math.max(top, value), 0);
  return { x, y, parent, lanes, width: Math.max(0, column - LANE_GAP - GAP_X), height };
}

/** The same with more room between the levels where the graph is wide, and between the columns where it is high, so that it fills a window. */
export function stretched(at: Layout, ratio = 0.7, most = 7): Layout {
  if (at.height === 0 || at.width === 0) return at;
  const down = Math.min(most, (ratio * at.width) / at.height);
  if (down >= 1) return { ...at, y: at.y.map((y) => y * down), height: at.height * down, levels: at.levels?.map((level) => ({ ...level, y: level.y * down })) };
  const across = Math.min(most, at.height / (ratio * at.width));
  return { ...at, x: at.x.map((x) => x * across), width: at.width * across, lanes: at.lanes.map(({ lane, from, to }) => ({ lane, from: from * across, to: to * across })) };
}

const WIDE = 6000;

/** By order from left to right and by score, the best on top; what has none lies on a line of its own below. */
export function byScore(nodes: readonly (DagNode & { metric: number | null })[], lower: boolean): Layout {
  const width = Math.min(WIDE, Math.max(900, nodes.length * GAP_X));
  const height = width * 0.7;
  const scores = nodes.flatMap((node) => (node.metric === null ? [] : [node.metric]));
  const range = yRange(scores, lower); // as the curve: a few very bad ones must not flatten the rest
  const [best, worst] = lower ? range : [range[1], range[0]];
  const span = worst - best;
  const floor = height * 0.9;
  const y = Float64Array.from(nodes, ({ metric }) => (metric === null ? height : Math.min(1, (metric - best) / span) * floor));
  const x = Float64Array.from(nodes, (_, i) => (nodes.length > 1 ? (i / (nodes.length - 1)) * width : width / 2));
  const ticks = roundTicks(range[0], range[1]);
  const texts = tickTexts(ticks);
  const levels = [...ticks.map((tick, i) => ({ y: ((tick - best) / span) * floor, text: texts[i] })), ...(scores.length < nodes.length ? [{ y: height, text: "no score" }] : [])];
  const beyond = new Set(nodes.flatMap(({ metric }, i) => (metric !== null && (metric - best) / span > 1 ? [i] : [])));
  return { x, y, parent: firstParents(nodes), lanes: [], width, height, levels, beyond };
}

/** Generations downwards; islands side by side, each generation in the middle of its island. */
export function byGeneration(nodes: readonly (DagNode & { generation: number })[]): Layout {
  const lanesOf = groupsOf(nodes.keys(), (i) => nodes[i].lane ?? 0);
  const x = new Float64Array(nodes.length);
  const first = nodes.reduce((least, node) => Math.min(least, node.generation), Infinity);
  const y = Float64Array.from(nodes, (node) => (node.generation - first) * GAP_Y);
  const lanes: Layout["lanes"] = [];
  let column = 0;
  for (const [lane, members] of [...lanesOf].sort(([a], [b]) => a - b)) {
    const rows = [...groupsOf(members, (i) => nodes[i].generation).values()];
    const width = (rows.reduce((most, row) => Math.max(most, row.length), 0) - 1) * GAP_X;
    for (const row of rows) row.forEach((i, k) => { x[i] = column + (width - (row.length - 1) * GAP_X) / 2 + k * GAP_X; });
    lanes.push({ lane, from: column, to: column + width });
    column += width + GAP_X + LANE_GAP;
  }
  const known = [...new Set(nodes.map((node) => node.generation))].sort((a, b) => a - b);
  const every = Math.max(1, Math.ceil(known.length / 12));
  const levels = known.filter((_, i) => i % every === 0).map((generation) => ({ y: (generation - first) * GAP_Y, text: String(generation) }));
  return { x, y, parent: firstParents(nodes), lanes, width: Math.max(0, column - GAP_X - LANE_GAP), height: y.reduce((top, value) => Math.max(top, value), 0), levels };
}

function firstParents(nodes: readonly DagNode[]): Int32Array {
  const index = new Map(nodes.map((node, i) => [node.id, i]));
  return Int32Array.from(nodes, (node) => index.get(node.parents[0] ?? "") ?? -1);
}

/** Round numbers of a range, some five of them. */
export function roundTicks(low: number, high: number): number[] {
  const rough = (high - low) / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= rough * 0.999) ?? 10 * power;
  const first = Math.ceil(low / step - 1e-9);
  return Array.from({ length: Math.max(0, Math.floor(high / step + 1e-9) - first + 1) }, (_, k) => Number(((first + k) * step).toPrecision(12)));
}

/** Places siblings from `column` on, `rows` below each other; returns the next free column. */
function block(members: readonly number[], x: Float64Array, row: Int32Array, rows: number, column: number): number {
  members.forEach((node, k) => {
    x[node] = column + Math.floor(k / rows) * GAP_X;
    row[node] = k % rows;
  });
  return column + Math.ceil(members.length / rows) * GAP_X;
}

/** Roots that nothing descends from: a block a depth, below each other. */
function placeAlone(alone: readonly number[], depth: Int32Array, x: Float64Array, row: Int32Array, rows: number, column: number): number {
  const levels = [...groupsOf(alone, (node) => depth[node]).values()];
  return levels.reduce((next, level) => Math.max(next, block(level, x, row, rows, column)), column);
}

/** Places one tree from `column` on, leaves first; returns the next free column. */
function place(root: number, children: number[][], x: Float64Array, row: Int32Array, rows: number, column: number): number {
  const stack = [root];
  const order: number[] = [];
  while (stack.length > 0) {
    const node = stack.pop() as number;
    order.push(node);
    const below = children[node];
    if (below.length === 0) {
      x[node] = column;
      column += GAP_X;
    }
    const grouped = rows > 1 ? below.filter((child) => children[child].length === 0) : [];
    if (grouped.length > 0) column = block(grouped, x, row, rows, column);
    for (let i = below.length - 1; i >= 0; i -= 1) if (grouped.length === 0 || children[below[i]].length > 0) stack.push(below[i]);
  }
  for (let i = order.length - 1; i >= 0; i -= 1) {
    const below = children[order[i]];
    if (below.length === 0) continue;
    const [least, most] = below.reduce(([low, high], child) => [Math.min(low, x[child]), Math.max(high, x[child])], [Infinity, -Infinity]);
    x[order[i]] = (least + most) / 2;
  }
  return column;
}

/** Finds the node nearest to a point in O(1): nodes lie in a grid of cells. */
export class Grid {
  private cells = new Map<number, number[]>();

  constructor(private readonly at: Layout) {
    for (let i = 0; i < at.x.length; i += 1) {
      const key = this.key(Math.round(at.x[i] / GAP_X), Math.round(at.y[i] / GAP_Y));
      const cell = this.cells.get(key);
      if (cell) cell.push(i);
      else this.cells.set(key, [i]);
    }
  }

  nearest(x: number, y: number, radius: number): number {
    const spanX = Math.ceil(radius / GAP_X);
    const spanY = Math.ceil(radius / GAP_Y);
    const column = Math.round(x / GAP_X);
    const row = Math.round(y / GAP_Y);
    let best = -1;
    let least = radius * radius;
    for (let c = column - spanX; c <= column + spanX; c += 1) {
      for (let r = row - spanY; r <= row + spanY; r += 1) {
        for (const i of this.cells.get(this.key(c, r)) ?? []) {
          const away = (this.at.x[i] - x) ** 2 + (this.at.y[i] - y) ** 2;
          if (away <= least) {
            least = away;
            best = i;
          }
        }
      }
    }
    return best;
  }

  private key(column: number, row: number): number {
    return column * 1_000_003 + row;
  }
}
