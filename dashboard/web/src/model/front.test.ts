import { describe, expect, it } from "vitest";
import { frontOf } from "./front";

const points = [
  { id: "quick", x: 1, metric: 5 },
  { id: "good", x: 3, metric: 9 },
  { id: "beaten", x: 3, metric: 8 },
  { id: "slow", x: 7, metric: 9 },
  { id: "middle", x: 2, metric: 6 },
  { id: "its twin", x: 2, metric: 6 },
];
const ids = (lower: boolean, least: boolean) => frontOf(points, lower, least).map(({ id }) => id);

describe("the front", () => {
  it("keeps who is beaten by nobody in both, equals too", () => {
    expect(ids(false, true)).toEqual(["quick", "middle", "its twin", "good"]);
  });
  it("turns with what is better", () => {
    expect(ids(false, false)).toEqual(["slow"]);
    expect(ids(true, true)).toEqual(["quick"]);
    expect(ids(true, false)).toEqual(["slow", "beaten", "middle", "its twin", "quick"]);
  });
  it("agrees with its definition on drawn points", () => {
    let seed = 1;
    const draw = () => (seed = (seed * 48271) % 2147483647) % 12;
    for (let round = 0; round < 50; round += 1) {
      const drawn = Array.from({ length: 25 }, () => ({ x: draw(), metric: draw() }));
      const beats = (a: { x: number; metric: number }, b: { x: number; metric: number }) => a.x <= b.x && a.metric >= b.metric && (a.x < b.x || a.metric > b.metric);
      const wanted = drawn.filter((point) => !drawn.some((other) => beats(other, point)));
      expect(new Set(frontOf(drawn, false, true))).toEqual(new Set(wanted));
    }
  });
  it("is empty where nothing is", () => expect(frontOf([], true, true)).toEqual([]));
});
