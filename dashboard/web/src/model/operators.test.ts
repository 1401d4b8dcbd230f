import { describe, expect, it } from "vitest";
import { colorsOf, paletteOf } from "./dag-colors";
import { COLOURS, colourOf, isStep, learn, meaningOf } from "./operators";
import type { NodeFact } from "./facts";

const nodes = ["draft", "simplify", "user"].map((operator, index) => ({ operator, index, metric: 1, is_valid: true, is_buggy: false }) as unknown as NodeFact);

describe("operators", () => {
  it("are shown as the server says, those of plug-ins too", () => {
    expect(colourOf("simplify")).toBe("grey");
    learn({
      draft: { meaning: "a program from nothing", colour: "violet", is_step: true },
      simplify: { meaning: "the same in fewer words", colour: "teal", is_step: true },
      user: { meaning: "a program of the user", colour: "grey", is_step: false },
    });
    expect(nodes.map((node) => colourOf(node.operator))).toEqual(["violet", "teal", "grey"]);
    expect([meaningOf("simplify"), isStep("simplify"), isStep("user")]).toEqual(["the same in fewer words", true, false]);
  });
  it("colour the graph, and the legend names those that are there", () => {
    const palette = Object.fromEntries([...COLOURS, "accent", "good", "bad", "muted", "warn", "line-strong"].map((name) => [name, name])) as Parameters<typeof paletteOf>[1];
    const shades = paletteOf("operator", palette, nodes);
    const given = paletteOf("state", palette)[colorsOf(nodes.filter(({ operator }) => operator === "user"), "state", true)[0]];
    expect([given.label, given.color]).toEqual(["given, not searched for", "grey"]); // as in the charts, and no operator's colour
    expect([...colorsOf(nodes, "operator", false)].map((index) => shades[index])).toEqual([
      { color: "violet", label: "draft" }, { color: "teal", label: "simplify" }, { color: "grey", label: "user" },
    ]); // prettier-ignore
    expect([...colorsOf(nodes, "state", false)]).toEqual([0, 0, 3]);
  });
});
