// Colours of the graph's nodes, and what belongs to the selected one.
import type { Paint } from "../components/dag-canvas";
import { isScored } from "./curve";
import { COLOURS, type Colour, colourOf, isStep, namesBy } from "./operators";
import type { NodeFact } from "./run-state";

type Palette = Record<"accent" | "good" | "bad" | "muted" | "warn" | "line-strong" | Colour, string>;

export interface Shade {
  color: string;
  label: string;
}

/** From worst to best: dark blue over teal to yellow, told apart also without colour by their lightness. */
const SCALE = ["#3b3f8f", "#33638d", "#23898e", "#2fb47c", "#8fd744", "#f2d51f"];

export function paletteOf(paint: Paint, p: Palette, nodes: readonly NodeFact[] = []): Shade[] {
  if (paint === "operator") {
    const names = namesBy(nodes.map((node) => node.operator));
    return COLOURS.map((colour) => ({ color: p[colour], label: (names.get(colour) ?? []).join(", ") }));
  }
  if (paint === "metric") {
    const names = ["worst sixth", "", "", "", "", "best sixth"];
    return [...SCALE.map((color, i) => ({ color, label: names[i] || `${i + 1} of 6` })), { color: p["line-strong"], label: "no score" }];
  }
  return [{ color: p["blue"], label: "scored" }, { color: p.bad, label: "failed" }, { color: p["grey"], label: "duplicate or without a score" }, { color: p["violet"], label: "given, not searched for" }];
}

/** An index into the palette for each node. */
export function colorsOf(nodes: readonly NodeFact[], paint: Paint, lower: boolean): Uint8Array {
  if (paint === "metric") return byMetric(nodes, lower);
  return Uint8Array.from(nodes, (node) => {
    if (paint === "operator") return COLOURS.indexOf(colourOf(node.operator));
    if (node.is_buggy || node.failure) return 1;
    if (!isStep(node.operator)) return 3;
    return isScored(node) ? 0 : 2;
  });
}

/** By rank, so that one very bad score does not take the whole scale. */
function byMetric(nodes: readonly NodeFact[], lower: boolean): Uint8Array {
  const colors = new Uint8Array(nodes.length).fill(SCALE.length);
  const scored = nodes.filter(isScored).sort((a, b) => (lower ? -1 : 1) * ((a.metric as number) - (b.metric as number)));
  scored.forEach((node, rank) => {
    colors[node.index] = Math.min(SCALE.length - 1, Math.floor((rank / Math.max(1, scored.length)) * SCALE.length));
  });
  return colors;
}

/** Indices along the first parents, the node first. */
export function lineOf(node: NodeFact, byId: ReadonlyMap<string, NodeFact>): number[] {
  const line: number[] = [];
  for (let at: NodeFact | undefined = node; at; at = byId.get(at.parent_ids?.[0] ?? "")) line.push(at.index);
  return line;
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
