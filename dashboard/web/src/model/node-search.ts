// Nodes by words: in the table and in the graph.
import type { NodeFact } from "./facts";
import { type Field, searching } from "./search";

export const FIELDS: Record<string, (node: NodeFact) => Field> = {
  failure: (n) => (n.failure ? [n.failure] : []), operator: (n) => [n.operator], writer: (n) => n.writer, step: (n) => n.number,
  island: (n) => n.island, generation: (n) => n.generation,
}; // prettier-ignore

/** A test of a node: its id, name, operator, failure, message and writer are searched. */
export function searchingNodes(text: string, names: ReadonlyMap<string, string>): (node: NodeFact) => boolean {
  return searching(text, FIELDS, (n) => [n.node_id, names.get(n.node_id), n.operator, n.failure, n.message, n.writer]);
}

/** What is typed to find the nodes that failed so. */
export const failedAs = (failure: string): string => `failure:${failure}`;
