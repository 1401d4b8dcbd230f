import { describe, expect, it } from "vitest";
import { hasRatios, logRange, logTicks } from "./log-scale";

describe("a logarithmic axis", () => {
  it("is offered for scores above 0 that are far apart, and for no others", () => {
    expect(hasRatios([0.01, null, 5])).toBe(true);
    expect(hasRatios([1, 2.9])).toBe(false);
    expect(hasRatios([0, 5])).toBe(false);
    expect(hasRatios([-1, 5])).toBe(false);
    expect(hasRatios([])).toBe(false);
  });

  it("shows every score, and reference lines above 0", () => {
    const [low, high] = logRange([0.2, null, 40], [-3, 0, 90]);
    expect(low).toBeLessThan(0.2);
    expect(low).toBeGreaterThan(0.18);
    expect(high).toBeGreaterThan(90);
    expect(logRange([null])).toEqual([1, 10]);
  });

  it("has ticks that people read, neither too few nor too many", () => {
    expect(logTicks(0.95, 4.2)).toEqual([1, 2, 3, 4]);
    expect(logTicks(0.19, 42)).toEqual([0.2, 0.5, 1, 2, 5, 10, 20]);
    expect(logTicks(1e-6, 1e4)).toEqual([1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 1, 10, 100, 1000, 10000]);
    for (const low of [0.003, 0.7, 1.1, 85]) expect(logTicks(low, 3 * low).length).toBeGreaterThanOrEqual(2);
  });
});
