import { describe, expect, it } from "vitest";
import { flatten } from "./flatten";
import { endLine, endText, plainMessage } from "./plain";
import { tokens } from "./python";
import { parse, plyOf, saying } from "./router";
import { wordDiff } from "./words";

describe("text", () => {
  it("marks a number that changed as one thing, its point and exponent too", () => {
    const [left, right] = wordDiff("weight = x ** -3.07 + 1e-3", "weight = x ** -2.50 + 1e-3");
    expect([left, right].map((pieces) => pieces.filter((piece) => piece.changed).map((piece) => piece.text))).toEqual([["3.07"], ["2.50"]]);
  });
  it("says why a run ended as people say it, and each thing once", () => {
    expect(endText("max_steps: 600 of 600 steps")).toBe("all 600 steps are done");
    expect(endText("max_steps: 1 of 1 step")).toBe("its one step is done");
    expect(endText("max_generations: 1 of 1 generation")).toBe("its one generation is played");
    expect(endText("budget.seconds is reached; what was running stays open")).toBe("its seconds are used up; what was running then is left undone");
    expect(endText("budget.usd=0.5 is reached: $0.4900 used, the next call may cost $0.1")).toBe("its dollars are used up; $0.4900 used, the next call may cost $0.1");
    expect(endText("target metric")).toBe("target metric");
    expect(endLine("interrupted", "interrupted", 720)).toBe("stopped by you, after 720 steps");
    expect(endLine("interrupted", "interrupted", 1)).toBe("stopped by you, after 1 step");
    expect(endLine("finished", "budget.stagnation: no new best in 1 step", 4)).toBe("finished: budget.stagnation: no new best in 1 step");
    expect(endLine("finished", "max_steps: 6 of 6 steps", 6)).toBe("finished: all 6 steps are done");
  });
  it("tells of a program without the ladder's own words", () => {
    expect(plainMessage("given up at the cheap look; on the probe states it decides as abc123 does")).toBe("left off after a small part of the cases: too far behind; in sample situations it decides as abc123 does");
  });
  it("colours Python without changing it", () => {
    const line = "x = 'if' + \"a # b\"  # <b>note</b> 12";
    expect(tokens(line).map((t) => t.text).join("")).toBe(line);
    expect(tokens("if x: return 1.5e3").map((t) => t.kind)).toEqual(["keyword", "", "", "", "keyword", "", "number"]);
    expect(tokens(line).filter((t) => t.kind === "comment").map((t) => t.text)).toEqual(["# <b>note</b> 12"]);
  });
  it("reads addresses, also broken ones", () => {
    expect(parse("#/run/a%20b/node/ff00?speed=5")).toMatchObject({ run: "a b", view: "node", id: "ff00" });
    expect(parse("#/run/a%ZZ")).toMatchObject({ run: "a%ZZ", view: "overview" });
    expect(parse("")).toMatchObject({ run: null, view: "runs" });
  });
  it("keep the position of a game, and the newest one without a word", () => {
    expect(["ply=12", "ply=0", "ply=", "", "ply=-1", "ply=x"].map((said) => plyOf(parse(`#/run/a/game?id=g1&${said}`)))).toEqual([12, 0, null, null, null, null]);
    expect(saying("#/run/a/game?id=g1&ply=3", { ply: "" })).toBe("#/run/a/game?id=g1");
  });
  it("flattens a configuration and leaves out what is not set", () => {
    expect(flatten({ a: { b: 1, c: null }, d: [1, 2], e: [] })).toEqual([["a.b", "1"], ["d", "1, 2"]]);
  });
});
