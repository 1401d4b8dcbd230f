import { describe, expect, it } from "vitest";
import type { Curve } from "../api/types";
import { islandCurves, mergeCurves } from "./compare";
import { beyond, curveOf, disagrees, linesRange, stacked, told, xRange, yRange, zoomOf } from "./curve";
import type { NodeFact } from "./facts";

describe("scores off the scale", () => {
  it("are those outside of the drawn range, not the ones at its edge or without a value", () => {
    expect(beyond([1, 5, null, 5.1, -3, undefined, 0], [0, 5])).toEqual([3, 4]);
  });
});

describe("curves", () => {
  const nodes = [[0, 5], [1, null], [2, 7], [3, 3], [4, 4]].map(([step, value]) => ({ step, metric: value, is_valid: true, is_buggy: false, operator: "draft", node_id: `n${step}` }) as unknown as NodeFact);
  it("follows the best in the problem's direction", () => {
    expect(curveOf(nodes, true).best).toEqual([5, 5, 3, 3]);
    expect(curveOf(nodes, false).best).toEqual([5, 7, 7, 7]);
  });
  it("shows baselines beside the search at its start, as those that are its first nodes, and leaves its line alone", () => {
    const beside = [{ ...nodes[0], metric: 1, node_id: "b" }, { ...nodes[0], is_buggy: true, node_id: "c" }];
    const curve = curveOf(nodes, true, beside);
    expect([curve.ids[0], curve.x[0], curve.metrics[0]]).toEqual(["b", 0, 1]);
    expect(curve.best).toEqual([null, 5, 5, 3, 3]);
  });
  it("runs along the steps, or along seconds that never go back, though a kill takes some", () => {
    const timed = nodes.map((n, i) => ({ ...n, elapsed: [1, 2, 30.004, 20, 31][i] }));
    expect(curveOf(timed, true).x).toEqual([0, 2, 3, 4]);
    expect(curveOf(timed, true, [{ ...timed[0], node_id: "b", elapsed: 0 }], "seconds").x).toEqual([0, 1, 30, 30, 31]);
  });
  it("leaves out duplicates and buggy nodes", () => {
    expect(curveOf(nodes.map((n) => ({ ...n, is_valid: n.step !== 3 })), true).best).toEqual([5, 5, 4]);
  });
  it("is not flattened by one very bad score", () => {
    const values = [...Array.from({ length: 50 }, (_, i) => 50 + (i % 7)), 1e9];
    const [low, high] = yRange(values, true);
    expect(low).toBeLessThan(50);
    expect(high).toBeLessThan(100);
  });
  it("has a range that can be read for none, one and equal values", () => {
    for (const values of [[0.106993], [0.106993, 0.106993], [-3], [0], []]) {
      const [low, high] = yRange(values, true);
      expect(high - low).toBeGreaterThanOrEqual(0.09 * Math.abs(values[0] ?? 1));
      for (const value of values) expect(low < value && value < high).toBe(true);
    }
    expect(yRange([1, 2], false)).toEqual([0.94, 2.06]);
    const many = yRange([0.0719, 0.0667, 1.46, 0.0667, 0.0692, 1.46, 0.0667, 0.0667, 1.46], true, [0.0719]);
    expect(many[1]).toBeGreaterThan(0.0719);
    const [ahead, above] = yRange([63], true, [54.8, 61.5, 79.5]);
    expect([ahead < 54.8, above > 63, above < 79]).toEqual([true, true, true]);
    expect(many[1]).toBeLessThan(0.1);
  });
  it("shows every line at its newest value, however far behind it is", () => {
    const lines = [{ best: [9, 3, 2, 1.2, 1.1, 1] }, { best: [900, 400] }, { best: [] }];
    const range = linesRange(lines, true);
    expect([yRange(lines.flatMap(({ best }) => best), true)[1] < 400, range[0] < 1, range[1] > 400]).toEqual([true, true, true]);
    expect(beyond(lines[1].best, range)).toEqual([0]); // told by a triangle
  });
  it("puts a single step in the middle and leaves a zoom alone", () => {
    expect(xRange([0], 0, 100)).toEqual([-0.5, 0.5]);
    expect(xRange([0, 0, 0], 0, 0), "baselines before the first step: on an axis without length nothing was drawn").toEqual([-0.5, 0.5]);
    expect(xRange([], null, null)).toEqual([0, 1]);
    expect(xRange([0, 1, 9], 3, 4)).toEqual([3, 4]);
  });
  it("keeps labels of close lines apart", () => {
    expect(stacked([0, 40, 45, 90], 15, 7)).toEqual([7, 40, 55, 90]);
  });
  it("tells what the nearest place of a chart holds, off the scale or not", () => {
    const series = [{ label: "mutate", kind: "points", values: [5, null] }, { label: "best so far", kind: "step", values: [2, 1] }, { label: "low", kind: "edge", values: [0, 0] }];
    const chart = { x: [3, 4], axis: "step", range: [0, 3] as const, series, nameOf: (i: number) => ["ab12", "cd34"][i] };
    expect(told(chart, 0)).toBe("step 3, ab12\nmutate: 5, off the scale\nbest so far: 2");
    expect(told({ ...chart, nameOf: undefined }, 1)).toBe("step 4\nbest so far: 1");
    expect(told({ ...chart, nameOf: () => "step 4" }, 1)).toBe("step 4\nbest so far: 1");
  });
  it("draws each island up to the newest generation", () => {
    const island = (history: [number, number][]) => ({ history }) as never;
    const lines = islandCurves([island([[0, 9], [0, 8], [2, 7]]), island([[3, 5]]), island([])], 3);
    expect(lines).toEqual([{ steps: [0, 2, 3], best: [8, 7, 7] }, { steps: [3], best: [5] }, { steps: [], best: [] }]);
  });
  it("tells a disagreement from rounding", () => {
    expect(disagrees(45.8352, 45.83521)).toBe(false);
    expect(disagrees(41, 45.8)).toBe(true);
    expect(disagrees(null, 1)).toBe(false);
  });
  it("keeps the stretch that was chosen to be seen, and none where all is", () => {
    expect(zoomOf([0, 5, 9], { min: 2, max: 5 })).toEqual({ min: 2, max: 5 });
    expect(zoomOf([0, 5, 9], { min: 0, max: 5 })).toEqual({ min: 0, max: 5 });
    expect([zoomOf([0, 5, 9], { min: 0, max: 9 }), zoomOf([4], { min: 3.5, max: 4.5 }), zoomOf([], {}), zoomOf([1, 2], { min: null, max: null })]).toEqual([null, null, null, null]);
  });
  it("puts several runs on one axis", () => {
    const line = (steps: number[], best: number[]) => ({ steps, best }) as unknown as Curve;
    expect(mergeCurves([line([0, 4], [9, 8]), line([2, 4], [7, 6])])).toEqual({ steps: [0, 2, 4], series: [[9, null, 8], [null, 7, 6]] });
  });
});
