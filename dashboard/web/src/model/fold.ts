// Which nodes the graph shows: what brought nothing new and has no children is folded into a count at its parent.
import { isScored } from "./facts";
import { isStep } from "./operators";
import type { NodeFact } from "./facts";

export interface Shown {
  nodes: NodeFact[];
  /** Index in the run → index among the shown, -1 where folded. */
  place: Int32Array;
  /** Of each node shown, how many are folded into it. */
  folded: Int32Array;
}

export function folding(all: readonly NodeFact[], children: ReadonlyMap<string, string[]>, fold: boolean, keep: ReadonlySet<string>): Shown {
  const place = new Int32Array(all.length).fill(-1);
  const index = new Map<string, number>();
  const nodes: NodeFact[] = [];
  const counts: number[] = [];
  for (const node of all) {
    const parent = index.get(node.parent_ids?.[0] ?? "");
    if (fold && parent !== undefined && !keep.has(node.node_id) && isIdle(node) && !children.get(node.node_id)?.length) {
      counts[parent] += 1;
      continue;
    }
    index.set(node.node_id, nodes.length);
    place[node.index] = nodes.length;
    nodes.push(node);
    counts.push(0);
  }
  return { nodes, place, folded: Int32Array.from(counts) };
}

/** A duplicate, or only looked at. */
const isIdle = (node: NodeFact): boolean => !isScored(node) && !node.failure && !node.is_buggy && !node.mark && isStep(node.operator);
