import { expect, it } from "vitest";
import type { NodeFact } from "./facts";
import { failedAs, searchingNodes } from "./node-search";

const node = (node_id: string, facts: Partial<NodeFact>) => ({ node_id, operator: "mutate", number: 1, ...facts }) as NodeFact;
const NODES = [
  node("aa11", { failure: "timeout", message: "ran 60 s" }),
  node("bb22", { failure: "runtime", message: "timeout of a socket", operator: "improve", number: 12 }),
  node("cc33", { island: 1, number: 2 }),
];
const found = (text: string) => NODES.filter(searchingNodes(text, new Map([["cc33", "best_fit"]]))).map((n) => n.node_id);

it("finds nodes by words in all that a row says, each of which must be there", () => {
  expect(found("")).toEqual(["aa11", "bb22", "cc33"]);
  expect(found("TIMEOUT")).toEqual(["aa11", "bb22"]);
  expect(found("timeout improve")).toEqual(["bb22"]);
  expect(found("best_fit")).toEqual(["cc33"]);
});

it("finds the nodes of one failure, which a message may name as well, and numbers as they are", () => {
  expect(found(failedAs("timeout"))).toEqual(["aa11"]);
  expect(found("step:1")).toEqual(["aa11"]);
  expect(found("island:1")).toEqual(["cc33"]);
});
