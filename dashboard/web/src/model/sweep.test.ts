import { describe, expect, it } from "vitest";
import { gainText, ofSweeps, settingName } from "./sweep";

describe("a sweep in words", () => {
  it("names a setting without the sections of its keys", () => {
    expect(settingName(["search.policy=mcts", "llm=rules", "llm.code.base_url=http://a.b/c"])).toBe("policy=mcts llm=rules base_url=http://a.b/c");
    expect(settingName([])).toBe("the defaults");
    expect(settingName(["search.control=1"])).toBe("independent draws");
    expect(settingName(["search.control=0.1"])).toBe("control=0.1");
  });
  it("knows which sweep, setting and seed a run has", () => {
    const of = ofSweeps([{ name: "mine", runs: [{ run: "a", setting: ["search.policy=mcts"], seed: 3 }] }] as never);
    expect(of.get("a")).toEqual({ sweep: "mine", setting: "policy=mcts", seed: 3 });
  });
  it("says a difference with its interval and verdict", () => {
    expect(gainText(0.5, [0.25, 0.75], "better")).toBe("+0.5 (+0.25 … +0.75): better");
    expect(gainText(-0.5, null, "too few seeds")).toBe("-0.5: too few seeds");
    expect(gainText(null, null, "")).toBe("–");
  });
});
