import { expect, test } from "vitest";
import { scoreText } from "./score";

test("scores are pawns, forced wins are moves", () => {
  expect([35, -120, 0, -0.2].map(scoreText)).toEqual(["+0.35", "-1.20", "0.00", "0.00"]);
  expect([99_999, 99_995, -99_994, 100_000].map(scoreText)).toEqual(["#1", "#3", "#-3", "#0"]);
});
