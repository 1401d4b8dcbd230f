import { describe, expect, it } from "vitest";
import type { RunDetail, RunSummary } from "../api/types";
import { bandOf, bySetup, dashOf, differences, hidden, islandCurves, overText } from "./compare";
import { labelChanges, namesText, wanted } from "./runs";

describe("runs", () => {
  const run = (name: string, more: Partial<RunSummary> = {}) => ({ run: name, live: false, archived: false, steps: 0, tags: [], ...more }) as unknown as RunSummary;
  const wish = { text: "", show: "listed", sort: "run", down: false } as const;

  it("changes of the labels what the user changed, not what another put there meanwhile", () => {
    const before = { title: "first", note: "as it was", tags: ["paper", "draft"] };
    expect(labelChanges(before, { title: "first", note: "as it was", tags: "paper, good" })).toEqual({ add: ["good"], remove: ["draft"] });
    expect(labelChanges(before, { title: "", note: "new", tags: "paper draft" })).toEqual({ title: "", note: "new", add: [], remove: [] });
    expect(labelChanges({ title: "", note: "", tags: [] }, { title: "", note: "", tags: "" })).toEqual({ add: [], remove: [] });
  });

  it("searches words that JavaScript knows too", () => {
    expect(wanted([run("a"), run("constructor:x")], { ...wish, text: "constructor:x" }).map((line) => line.run)).toEqual(["constructor:x"]);
    expect(wanted([run("a")], { ...wish, text: "__proto__:a" })).toEqual([]);
  });

  it("keeps the runs of a problem together where scores are compared", () => {
    const of = (name: string, problem: string, gain: number | null) => ({ run: name, problem, gain, live: false }) as unknown as RunSummary;
    const runs = [of("a", "arena", 40), of("b", "bins", 0.1), of("c", "arena", null), of("d", "bins", 0.3), of("e", "arena", 90)];
    const by = (down: boolean) => wanted(runs, { text: "", show: "listed", sort: "gain", down }).map((line) => line.run).join("");
    expect([by(true), by(false)]).toEqual(["eacdb", "aecbd"]);
  });

  it("put the best first at the first click, whichever way their problem goes", () => {
    const of = (name: string, best: number | null, lower: boolean) => run(name, { problem: lower ? "bins" : "arena", best_metric: best, final_metric: best, lower_is_better: lower });
    const runs = [of("a", 2, true), of("b", 1, true), of("c", 5, false), of("d", 7, false), of("e", null, true)];
    for (const sort of ["best", "final"] as const) {
      const by = (down: boolean) => wanted(runs, { ...wish, sort, down }).map((line) => line.run).join("");
      expect([by(true), by(false)]).toEqual(["dcbae", "cdabe"]);
    }
  });

  it("are found by a whole number and a whole tag", () => {
    const runs = [run("a", { seed: 2, tags: ["pap"] }), run("b", { seed: 42, tags: ["paper", "pap:2"], problem: "bin_packing" }), run("c")];
    const names = (text: string) => wanted(runs, { ...wish, text }).map((line) => line.run).join("");
    expect(["seed:2", "seed:42", "seed:4", "tag:pap", "tag:PAPER", "tag:pap:2", "problem:bin", "seed:"].map(names)).toEqual(["a", "b", "", "a", "b", "b", "b", ""]);
  });

  it("are found by words and by fields, sorted with what is unknown last", () => {
    const runs = [run("b", { tags: ["paper"], cost_usd: 2 }), run("a", { title: "Paper run", cost_usd: null }), run("c", { archived: true }), run("d", { cost_usd: 1 })];
    expect(namesText([{ run: "a", title: "first" }, { run: "b" }, { run: "c" }] as never, 2)).toBe("first, b and 1 more");
    const names = (more: object) => wanted(runs, { ...wish, ...more }).map((line) => line.run);
    expect(names({})).toEqual(["b", "d", "a"]); // the title stands for the id
    expect(names({ text: "paper" })).toEqual(["b", "a"]);
    expect(names({ text: "tag:paper" })).toEqual(["b"]);
    expect(names({ show: "archived" })).toEqual(["c"]);
    expect(names({ sort: "cost", down: true })).toEqual(["b", "d", "a"]);
    expect(names({ sort: "cost" })).toEqual(["d", "b", "a"]);
  });

  const detail = (config: object) => ({ problem: "p", config }) as unknown as RunDetail;

  it("are found where their curves are the same", () => {
    const curve = (...best: number[]) => ({ steps: best.map((_, i) => i), best });
    const whole = (curve: number, whole = true) => ({ curve, whole });
    expect(hidden([curve(3, 2), curve(4, 1), curve(3, 2), curve(), curve(3, 2, 1)])).toEqual([[], [], [whole(0)], [], [whole(0, false), whole(2, false)]]);
    expect(hidden([curve(9, 2, 2), curve(8, 2, 1)])[1]).toEqual([whole(0, false)]); // from the second step to the third
    const sparse = { steps: [0, 9], best: [3, 3] };
    expect(hidden([sparse, { steps: [0, 4, 9], best: [3, 3, 3] }])[1]).toEqual([whole(0)]); // one changes where the other holds
  });

  it("are dashed and told where they lie over another, islands as well as runs", () => {
    const island = (...history: [number, number][]) => ({ history }) as never;
    const over = hidden(islandCurves([island([0, 9], [2, 7]), island([0, 9], [2, 7]), island([0, 5])], 3));
    expect(over.map((one) => [dashOf(one), overText(one, ["island 0", "island 1", "island 2"])])).toEqual([[undefined, ""], [[7, 7], ", the same as island 0"], [undefined, ""]]);
  });

  it("are compared by what differs, and belong together when only the seed does", () => {
    const runs = [detail({ project: { seed: 1 }, search: { policy: "mcts" } }), detail({ project: { seed: 2 }, search: { policy: "mcts" } }), detail({ project: { seed: 1 }, search: {} })];
    expect(differences(runs)).toEqual([["project.seed", ["1", "2", "1"]], ["search.policy", ["mcts", "mcts", ""]]]);
    expect(bySetup(runs)).toEqual([[0, 1], [2]]);
    const swept = [{ problem: "p", config: { project: { seed: 1, dir: "." }, logging: { view: "auto" } } }, { problem: "p", config: { project: { seed: 2, dir: "/here" }, logging: { view: "quiet" } } }] as unknown as typeof runs;
    expect([differences(swept), bySetup(swept)]).toEqual([[["project.seed", ["1", "2"]]], [[0, 1]]]);
  });

  it("are not compared by options of a policy that one of them does not use", () => {
    const of = (policy: string, size: number) => detail({ search: { policy, islands: { size }, mcts: { c: size } } });
    expect(differences([of("mcts", 1), of("islands", 2)]).map(([key]) => key)).toEqual(["search.policy"]);
    expect(differences([of("mcts", 1), of("islands", 2), of("islands", 3)])[0]).toEqual(["search.islands.size", ["", "2", "3"]]);
  });

  it("have a mean where all have a value", () => {
    const band = bandOf([{ steps: [0, 4], best: [4, 2] }, { steps: [1, 2, 9], best: [8, 6, 5] }]);
    expect(band.steps).toEqual([1, 2, 4]);
    expect(band.mean).toEqual([6, 5, 4]);
    expect(band.high[1] - band.mean[1]).toBeCloseTo(Math.SQRT2);
    const without = bandOf([{ steps: [], best: [] }, { steps: [0, 4], best: [4, 2] }, { steps: [1, 2, 9], best: [8, 6, 5] }]);
    expect(without, "a seed without a score hid the mean of all others").toEqual(band);
    expect(bandOf([{ steps: [], best: [] }])).toEqual({ steps: [], mean: [], low: [], high: [] });
  });
});
