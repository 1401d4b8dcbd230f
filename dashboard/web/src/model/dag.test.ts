import { describe, expect, it } from "vitest";
import { byGeneration, byScore, type DagNode, GAP_X, GAP_Y, Grid, layout, roundTicks, rowsFor, stretched } from "./dag";
import { folding } from "./fold";
import { crossings, lineOf, linksOf } from "./dag-colors";
import type { NodeFact } from "./facts";

function random(seed: number): () => number {
  let state = seed;
  return () => ((state = (state * 1664525 + 1013904223) >>> 0) / 2 ** 32);
}

/** `among`: only so many of the first have children, as where a search returns to its best. */
function tree(n: number, lanes = 1, seed = 1, among = n): DagNode[] {
  const draw = random(seed);
  return Array.from({ length: n }, (_, i) => {
    const lane = i % lanes;
    const before = Math.floor((draw() * Math.min(i, among)) / lanes) * lanes + lane;
    return { id: `n${i}`, parents: i >= lanes * 3 && before < i ? [`n${before}`] : [], lane: lanes > 1 ? lane : null };
  });
}

describe("layout", () => {
  it("puts children one level below their first parent, and no two nodes of a level on one place", () => {
    const nodes = tree(2000);
    const at = layout(nodes);
    const seen = new Set<string>();
    nodes.forEach((node, i) => {
      const parent = at.parent[i];
      expect(at.y[i]).toBe(parent < 0 ? 0 : at.y[parent] + GAP_Y);
      if (parent >= 0) expect(nodes[parent].id).toBe(node.parents[0]);
      const key = `${at.x[i]}/${at.y[i]}`;
      expect(seen.has(key)).toBe(false);
      seen.add(key);
    });
  });

  it("keeps nodes of a level at least a gap apart", () => {
    const at = layout(tree(1500, 1, 7));
    const levels = new Map<number, number[]>();
    at.x.forEach((x, i) => levels.set(at.y[i], [...(levels.get(at.y[i]) ?? []), x]));
    for (const xs of levels.values()) {
      xs.sort((a, b) => a - b);
      for (let i = 1; i < xs.length; i += 1) expect(xs[i] - xs[i - 1]).toBeGreaterThanOrEqual(GAP_X * 0.5);
    }
  });

  it("gives each island a lane of its own", () => {
    const nodes = tree(900, 3);
    const at = layout(nodes);
    expect(at.lanes.map((l) => l.lane)).toEqual([0, 1, 2]);
    nodes.forEach((node, i) => {
      const lane = at.lanes[node.lane as number];
      expect(at.x[i]).toBeGreaterThanOrEqual(lane.from);
      expect(at.x[i]).toBeLessThanOrEqual(lane.to);
    });
    expect(at.lanes[0].to).toBeLessThan(at.lanes[1].from);
  });

  it("survives a chain of 20,000 nodes: no recursion", () => {
    const nodes = Array.from({ length: 20_000 }, (_, i) => ({ id: `n${i}`, parents: i ? [`n${i - 1}`] : [], lane: null }));
    expect(layout(nodes).height).toBe(19_999 * GAP_Y);
  });

  it("lays out 200,000 nodes by work that grows with them, not with their square", { timeout: 60_000 }, () => {
    const work = (count: number): number => {
      const nodes = tree(count);
      const before = process.cpuUsage();
      layout(nodes);
      const { user, system } = process.cpuUsage(before);
      return user + system;
    };
    const least = (count: number): number => Math.min(...Array.from({ length: 4 }, () => work(count)));
    least(20_000); // compiled by now; what else the machine does only adds, so the least of several counts
    expect(least(200_000) / least(20_000)).toBeLessThan(50); // by squares it is 100
  });

  it("finds the node under the pointer", () => {
    const at = layout(tree(500));
    const grid = new Grid(at);
    for (let i = 0; i < 500; i += 7) expect(grid.nearest(at.x[i] + 2, at.y[i] - 2, 10)).toBe(i);
    expect(grid.nearest(-500, -500, 10)).toBe(-1);
  });

  it("is stretched where it is wide and shallow, and is found there still", () => {
    const flat = layout(Array.from({ length: 300 }, (_, i) => ({ id: `n${i}`, parents: i > 99 ? [`n${i % 100}`] : [], lane: null })));
    const at = stretched(flat);
    expect(at.height).toBeGreaterThan(flat.height * 3);
    expect(new Grid(at).nearest(at.x[222], at.y[222], 10)).toBe(222);
    expect(stretched(layout([])).height).toBe(0);
  });

  it("puts childless siblings into blocks below their parent, each on a place of its own", () => {
    const nodes = tree(742, 3, 1, 60);
    const rows = rowsFor(nodes);
    expect(rows).toBeGreaterThan(2);
    const at = layout(nodes, rows);
    expect(at.width).toBeLessThan(layout(nodes).width / 2);
    expect(new Set(nodes.map((_, i) => `${at.x[i]}/${at.y[i]}`)).size).toBe(nodes.length);
    const level = GAP_Y + (rows - 1) * GAP_X;
    nodes.forEach((node, i) => {
      if (at.parent[i] >= 0) expect(Math.floor(at.y[i] / level)).toBe(Math.floor(at.y[at.parent[i]] / level) + 1);
      const lane = at.lanes[node.lane as number];
      expect(at.x[i] >= lane.from && at.x[i] <= lane.to).toBe(true);
    });
    expect(rowsFor(tree(40))).toBe(1);
  });

  it("has more room between its columns where it is high and narrow", () => {
    const at = byGeneration(Array.from({ length: 60 }, (_, i) => ({ id: `n${i}`, parents: [], lane: i % 3, generation: Math.floor(i / 3) })));
    const wide = stretched(at);
    expect(wide.width).toBeGreaterThan(at.width * 2);
    expect(wide.lanes[2].from).toBeLessThanOrEqual(Math.max(...wide.x));
  });

  it("places nothing for no nodes", () => {
    expect(layout([])).toMatchObject({ width: 0, height: 0, lanes: [] });
  });
});

describe("the selected node", () => {
  const facts = [["a", []], ["b", ["a"]], ["c", ["b", "a"]], ["d", ["b", "c"]]].map(([id, parents], index) => ({ node_id: id, parent_ids: parents, index }) as unknown as NodeFact);
  const byId = new Map(facts.map((n) => [n.node_id, n]));
  const children = new Map([["a", ["b", "c"]], ["b", ["c", "d"]], ["c", ["d"]]]);

  it("has its line of first parents", () => {
    expect(lineOf(facts[3], byId)).toEqual([3, 1, 0]);
  });

  it("has links to second parents and to what it was merged into", () => {
    expect(linksOf(facts[2], byId, children)).toEqual([[0, 2], [2, 3]]);
  });

  it("is not needed for the edges between islands: all that the tree leaves out", () => {
    const islands = facts.map((node, i) => ({ ...node, island: i < 2 ? 0 : 1 }));
    const place = (id: string) => facts.findIndex((node) => node.node_id === id);
    expect(crossings(islands, place, [-1, 0, -1, -1])).toEqual([[1, 2], [0, 2], [1, 3]]);
    expect(crossings(islands, place, [-1, 0, 1, 1])).toEqual([[0, 2]]);
    expect(crossings(facts, place, [-1, 0, -1, -1])).toEqual([]);
  });
});

describe("heights that mean something", () => {
  const node = (id: string, metric: number | null, generation = 0, lane: number | null = null, parents: string[] = []) => ({ id, metric, generation, lane, parents });

  it("put the best on top and what has no score below all", () => {
    const at = byScore([node("a", 30), node("b", 1, 0, null, ["a"]), node("c", null), node("d", 2)], true);
    expect([...at.y].map((y) => Math.round((10 * y) / at.height))).toEqual([9, 0, 10, 1]); // a very bad one does not stretch the rest
    expect([...(at.beyond ?? [])]).toEqual([0]); // it is drawn as off the scale
    expect(at.x[0]).toBeLessThan(at.x[3]);
    expect(at.parent[1]).toBe(0);
    expect(at.levels?.at(-1)?.text).toBe("no score");
    expect(at.levels?.map(({ text }) => text)).toEqual(["2", "4", "6", "8", "no score"]);
    expect(at.levels?.map(({ y }) => y)).toEqual([...(at.levels ?? [])].map(({ y }) => y).sort((a, b) => a - b));
  });

  it("mark heights with round numbers, whatever the scores are", () => {
    expect(roundTicks(0.2136, 0.8)).toEqual([0.4, 0.6, 0.8]);
    expect(roundTicks(-120, 260)).toEqual([-100, 0, 100, 200]);
    expect(roundTicks(0.06641, 0.06678)).toEqual([0.0665, 0.0666, 0.0667]);
  });

  it("put generations below each other and islands beside each other", () => {
    const at = byGeneration([node("a", 1, 2, 0), node("b", 1, 2, 0), node("c", 1, 3, 0), node("d", 1, 2, 1)]);
    expect([...at.y]).toEqual([0, 0, GAP_Y, 0]);
    expect(at.lanes.map((l) => l.lane)).toEqual([0, 1]);
    expect(at.x[2]).toBe((at.x[0] + at.x[1]) / 2);
    expect(at.levels?.map((l) => l.text)).toEqual(["2", "3"]);
  });
});

describe("a graph of a long search", () => {
  const many = Array.from({ length: 150_000 }, (_, i) => ({ id: `n${i}`, parents: [], lane: null, generation: i % 2 }));

  it("is placed in one pass, also where nothing hangs from anything", () => {
    const begun = process.cpuUsage();
    expect(byGeneration(many).levels).toHaveLength(2);
    expect(layout(many, 12).width).toBe((150_000 / 12 - 1) * GAP_X);
    expect(process.cpuUsage(begun).user / 1e6).toBeLessThan(10); // minutes, when each row was copied for each of its nodes
  });

  it("may have more generations than a call takes arguments", () => {
    expect(byGeneration(many.map((node, generation) => ({ ...node, generation }))).height).toBe((150_000 - 1) * GAP_Y);
  });
});

describe("folding", () => {
  const fact = (index: number, id: string, more: object = {}) => ({ index, node_id: id, operator: "mutate", is_valid: true, is_buggy: false, metric: 1, parent_ids: index ? ["a"] : [], ...more }) as unknown as NodeFact;

  it("keeps what was scored, failed, chosen or has children, and counts the rest", () => {
    const all = [fact(0, "a"), fact(1, "b", { is_valid: false, metric: null }), fact(2, "c", { metric: null }), fact(3, "d", { is_buggy: true, failure: "timeout", metric: null }), fact(4, "e", { metric: null })];
    const shown = folding(all, new Map([["a", ["b", "c", "d", "e"]]]), true, new Set(["e"]));
    expect(shown.nodes.map((n) => n.node_id)).toEqual(["a", "d", "e"]);
    expect([...shown.folded]).toEqual([2, 0, 0]);
    expect([...shown.place]).toEqual([0, -1, -1, 1, 2]);
    expect(folding(all, new Map(), false, new Set()).nodes).toHaveLength(5);
  });
});
