// Colours of the graph's nodes, and what belongs to the selected one.
import { isScored } from "./facts";
import { COLOURS, type Colour, colourOf, isStep, namesBy } from "./operators";
import type { NodeFact } from "./facts";

/** `state`, `metric`, `operator`, `island`, or the name of a measure of its own. */
export type Paint = string;

type Palette = Record<"accent" | "good" | "bad" | "muted" | "warn" | "line-strong" | Colour, string>;

export interface Shade {
  color: string;
  label: string;
}

/** From worst to best: dark blue over teal to yellow, told apart also without colour by their lightness. */
const SCALE = ["#3b3f8f", "#33638d", "#23898e", "#2fb47c", "#8fd744", "#f2d51f"];

export function paletteOf(paint: Paint, p: Palette, nodes: readonly NodeFact[] = []): Shade[] {
  if (paint === "island") {
    const islands = [...new Set(nodes.flatMap((node) => (node.island == null ? [] : [node.island])))].sort((a, b) => a - b);
    return COLOURS.map((colour, i) => ({ color: p[colour], label: islands.filter((island) => island % COLOURS.length === i).map((island) => `island ${island}`).join(", ") }));
  }
  if (paint === "operator") {
    const names = namesBy(nodes.map((node) => node.operator));
    return COLOURS.map((colour) => ({ color: p[colour], label: (names.get(colour) ?? []).join(", ") }));
  }
  if (paint !== "state") {
    const names = paint === "metric" ? ["worst sixth", "", "", "", "", "best sixth"] : ["lowest sixth", "", "", "", "", "highest sixth"];
    return [...SCALE.map((color, i) => ({ color, label: names[i] || `${i + 1} of 6` })), { color: p["line-strong"], label: paint === "metric" ? "no score" : "not measured" }];
  }
  return [{ color: p["blue"], label: "scored" }, { color: p.bad, label: "failed" }, { color: p["line-strong"], label: "duplicate or without a score" }, { color: p["grey"], label: "given, not searched for" }];
}

/** An index into the palette for each node. `values`: of each node's id, where the paint is a measure of its own. */
export function colorsOf(nodes: readonly NodeFact[], paint: Paint, lower: boolean, values?: ReadonlyMap<string, number>): Uint8Array {
  if (paint === "metric") return byRank(nodes, (node) => (isScored(node) ? (lower ? -1 : 1) * (node.metric as number) : undefined));
  if (values) return byRank(nodes, (node) => values.get(node.node_id));
  return Uint8Array.from(nodes, (node) => {
    if (paint === "operator") return COLOURS.indexOf(colourOf(node.operator));
    if (paint === "island") return (node.island ?? 0) % COLOURS.length;
    if (node.is_buggy || node.failure) return 1;
    if (!isStep(node.operator)) return 3;
    return isScored(node) ? 0 : 2;
  });
}

/** By rank, so that one very bad score does not take the whole scale. */
function byRank(nodes: readonly NodeFact[], valueOf: (node: NodeFact) => number | undefined): Uint8Array {
  const colors = new Uint8Array(nodes.length).fill(SCALE.length);
  const known = nodes.map((node, i) => [i, valueOf(node)] as const).filter((pair): pair is [number, number] => pair[1] !== undefined).sort((a, b) => a[1] - b[1]);
  known.forEach(([i], rank) => {
    colors[i] = Math.min(SCALE.length - 1, Math.floor((rank / Math.max(1, known.length)) * SCALE.length));
  });
  return colors;
}

/** Indices along the first parents, the node first. */
export function lineOf(node: NodeFact, byId: ReadonlyMap<string, NodeFact>): number[] {
  const line: number[] = [];
  for (let at: NodeFact | undefined = node; at; at = byId.get(at.parent_ids?.[0] ?? "")) line.push(at.index);
  return line;
}

/** Pairs (parent, node) of places in `nodes` between two islands that the tree does not draw. */
export function crossings(nodes: readonly NodeFact[], placeOf: (id: string) => number, drawn: ArrayLike<number>): [number, number][] {
  return nodes.flatMap((node, i) =>
    (node.parent_ids ?? []).map(placeOf).filter((p) => p >= 0 && p !== drawn[i] && (nodes[p].island ?? 0) !== (node.island ?? 0)).map((p): [number, number] => [p, i]),
  );
}

/** Links that the tree does not draw: (second parent, node) for the node itself and for what it was merged into. */
export function linksOf(node: NodeFact, byId: ReadonlyMap<string, NodeFact>, children: ReadonlyMap<string, string[]>): [number, number][] {
  const links: [number, number][] = [];
  for (const parent of (node.parent_ids ?? []).slice(1)) {
    const from = byId.get(parent);
    if (from) links.push([from.index, node.index]);
  }
  for (const child of children.get(node.node_id) ?? []) {
    const to = byId.get(child);
    if (to && to.parent_ids?.[0] !== node.node_id) links.push([node.index, to.index]);
  }
  return links;
}
