import { expect, it } from "vitest";
import { placeAfter, places } from "./chart-points";

it("the keys walk the points that are there, to both ends and no further", () => {
  const among = places([{ kind: "points", values: [1, null, 2, null] }, { kind: "step", values: [null, null, 2, 3] }, { kind: "edge", values: [1, 1, 1, 1] }], 4);
  expect(among).toEqual([0, 2, 3]);
  expect(placeAfter("ArrowRight", among, null)).toBe(0);
  expect(placeAfter("ArrowLeft", among, null)).toBe(3);
  expect(placeAfter("ArrowRight", among, 0)).toBe(2);
  expect(placeAfter("ArrowRight", among, 3)).toBe(3);
  expect(placeAfter("Home", among, 3)).toBe(0);
  expect(placeAfter("End", among, null)).toBe(3);
  expect(placeAfter("PageUp", among, 0)).toBe(3);
  expect(placeAfter("x", among, 0)).toBe(null);
  expect(placeAfter("End", [], null)).toBe(null);
});
