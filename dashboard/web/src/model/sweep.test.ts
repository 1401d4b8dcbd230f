import { describe, expect, it } from "vitest";
import { gainText, settingName } from "./sweep";

describe("a sweep in words", () => {
  it("names a setting without the sections of its keys", () => {
    expect(settingName(["search.policy=mcts", "llm=rules", "llm.code.base_url=http://a.b/c"])).toBe("policy=mcts llm=rules base_url=http://a.b/c");
    expect(settingName([])).toBe("the defaults");
  });
  it("says a difference with its interval and verdict", () => {
    expect(gainText(0.5, [0.25, 0.75], "better")).toBe("+0.5 (+0.25 … +0.75): better");
    expect(gainText(-0.5, null, "too few seeds")).toBe("-0.5: too few seeds");
    expect(gainText(null, null, "")).toBe("–");
  });
});
