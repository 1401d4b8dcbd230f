// Places of the nodes of the graph: one pass down, one pass up, no recursion. O(n) in nodes and edges.

export interface DagNode {
  id: string;
  parents: readonly string[];
  lane: number | null;
}

export interface Layout {
  x: Float64Array;
  y: Float64Array;
  /** Index of the first parent, or -1. */
  parent: Int32Array;
  lanes: { lane: number; from: number; to: number }[];
  width: number;
  height: number;
}

export const GAP_X = 18;
export const GAP_Y = 44;
const LANE_GAP = 36;

/**
 * Places nodes (parents before children) in columns: depth downwards; a parent stands over the middle of its children;
 * leaves take the next free column of their lane, in the order in which a walk meets them.
 */
export function layout(nodes: readonly DagNode[]): Layout {
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
  const y = Float64Array.from(depth, (d) => d * GAP_Y);
  const lanes: Layout["lanes"] = [];
  let column = 0;
  for (const lane of [...roots.keys()].sort((a, b) => a - b)) {
    const from = column;
    for (const root of roots.get(lane) ?? []) column = place(root, children, x, column);
    lanes.push({ lane, from, to: Math.max(from, column - GAP_X) });
    column += LANE_GAP;
  }
  const height = y.reduce((top, value) => Math.max(top, value), 0);
  return { x, y, parent, lanes, width: Math.max(0, column - LANE_GAP - GAP_X), height };
}

/** The same with more room between the levels where the graph is wide and shallow, so that it fills a window. */
export function stretched(at: Layout, ratio = 0.62, most = 7): Layout {
  if (at.height === 0) return at;
  const factor = Math.min(most, Math.max(1, (ratio * at.width) / at.height));
  return factor === 1 ? at : { ...at, y: at.y.map((y) => y * factor), height: at.height * factor };
}

/** Places one tree from `column` on, leaves first; returns the next free column. */
function place(root: number, children: number[][], x: Float64Array, column: number): number {
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
    for (let i = below.length - 1; i >= 0; i -= 1) stack.push(below[i]);
  }
  for (let i = order.length - 1; i >= 0; i -= 1) {
    const below = children[order[i]];
    if (below.length > 0) x[order[i]] = (x[below[0]] + x[below[below.length - 1]]) / 2;
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
