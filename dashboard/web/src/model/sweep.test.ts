import { describe, expect, it } from "vitest";
import { gainText, ofSweeps } from "./sweep";

describe("a sweep in words", () => {
  it("knows which sweep, setting and seed a run has", () => {
    const of = ofSweeps([{ name: "mine", runs: [{ run: "a", setting: ["search.policy=mcts"], name: "policy=mcts", seed: 3 }] }] as never);
    expect(of.get("a")).toEqual({ sweep: "mine", setting: "policy=mcts", seed: 3 });
  });
  it("says a difference with its interval and verdict", () => {
    expect(gainText(0.5, [0.25, 0.75], "better")).toBe("+0.5 (+0.25 … +0.75): better");
    expect(gainText(-0.5, null, "too few seeds")).toBe("-0.5: too few seeds");
    expect(gainText(null, null, "")).toBe("–");
    expect(gainText(0.012345, [0.0099996, 0.0146904], "better"), "as `sweep show` prints it").toBe("+0.01235 (+0.01 … +0.01469): better");
  });
});
