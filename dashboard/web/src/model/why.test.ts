import { describe, expect, it } from "vitest";
import { sentences } from "./why";
import { rowsOf, wordDiff } from "./words";

describe("differences", () => {
  it("mark the words that changed, and none where little is common", () => {
    const [left, right] = wordDiff("x = alpha + 1", "x = beta + 1");
    expect(left).toEqual([{ text: "x = ", changed: false }, { text: "alpha", changed: true }, { text: " + 1", changed: false }]);
    expect(right[1]).toEqual({ text: "beta", changed: true });
    expect(wordDiff("import numpy", "return None")[0]).toHaveLength(1);
  });

  it("stand side by side", () => {
    const rows = rowsOf([{ kind: "same", old: 1, new: 1, text: "a" }, { kind: "del", old: 2, text: "b 1" }, { kind: "add", new: 2, text: "b 2" }, { kind: "add", new: 3, text: "c" }, { kind: "skip", text: "9 equal lines" }] as never);
    expect(rows.map((row) => [row.kind, row.left?.number ?? null, row.right?.number ?? null])).toEqual([["same", 1, 1], ["changed", 2, 2], ["changed", null, 3], ["skip", null, null]]);
  });
});

describe("why", () => {
  it("is told in sentences with numbers that people can read", () => {
    const told = sentences("mutate", { rule: "TournamentSelector", draw: 0.44637888721055463, pool: 2, candidates: ["5e5a9af714da", "bcf6367b63af"] });
    expect(told.join(" ")).toContain("tournament");
    expect(told.join(" ")).toContain("It chose among 2: 5e5a9af714da, bcf6367b63af.");
    expect(sentences("improve", { rule: "improve phase: the best node", draw: 0.81234567, merge_prob: 0.2 }).join(" ")).toContain("The draw was 0.81, not below 0.2: no two programs were to be merged.");
    expect(sentences("tune", {})[0]).toContain("recorded nothing more");
  });
});

describe("why: what a draw decided", () => {
  it("is told as it went, whichever operator followed", () => {
    const chances = { debug_draw: 0.1, debug_prob: 0.5, draw: 0.05, merge_prob: 0.2 };
    const improved = sentences("improve", chances).join(" ");
    expect(improved).toContain("The draw was 0.1, below 0.5: a repair was due, but no failed program was worth one.");
    expect(improved).toContain("The draw was 0.05, below 0.2: a merge was due, but no second program fitted.");
    expect(sentences("debug", { draw: 0.1, debug_prob: 0.5 })).toEqual(["The draw was 0.1, below 0.5: a failed program was repaired."]);
    expect(sentences("merge", { ...chances, debug_draw: 0.9 }).join(" ")).toContain("two programs were merged");
  });
  it("calls the parent the best only where its score was", () => {
    const why = { rule: "improve phase: the best node", candidates: [{ node_id: "a", metric: 2 }, { node_id: "b", metric: 1 }] };
    expect(sentences("improve", why, false)[0]).toContain("The best program that was known");
    expect(sentences("improve", why, true)[0]).toContain("the steadiest became the parent");
  });
});
