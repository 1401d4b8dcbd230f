import { describe, expect, it } from "vitest";
import { chessSquares, fourCells, fourInARow, moveSquares, squareIndex, textRows, toMove } from "./position";

describe("positions", () => {
  it("reads a FEN", () => {
    const squares = chessSquares("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1");
    expect(squares[0]).toBe("r");
    expect(squares[squareIndex("e4")]).toBe("P");
    expect(squares[squareIndex("e2")]).toBe(null);
    expect(squares[squareIndex("h1")]).toBe("R");
  });
  it("reads connect four", () => {
    const cells = fourCells("7/7/7/7/3o3/2xx3 o");
    expect(cells.length).toBe(42);
    expect([cells[31], cells[37], cells[38]]).toEqual(["o", "x", "x"]);
  });
  it("takes bad text for an empty board", () => {
    for (const bad of ["", "9/9", "<script>", "rnbqkbnr", "8/8/8/8/8/8/8/7Z w"]) expect(chessSquares(bad)).toEqual(new Array(64).fill(null));
    expect(fourCells("7/7 x")).toEqual(new Array(42).fill(null));
  });
  it("shows a game of one's own by its text", () => {
    expect(textRows("bbbb/..../..../wwww w")).toEqual(["bbbb", "....", "....", "wwww"]);
    expect(textRows("3/1x1/o2 x")).toEqual(["...", ".x.", "o.."]);
    expect(textRows("heaps 3 5 12")).toEqual(["heaps 3 5 12"]);
    expect(textRows("1/2/3")).toEqual(["1", "2", "3"]);
    expect(textRows("")).toEqual([""]);
    expect(textRows("x".repeat(60)).map((line) => line.length)).toEqual([24, 24, 12]);
    expect(textRows("999999999999/1 x").join("")).toBe("999999999999/1 x");
    expect(textRows("♟".repeat(30)).join("")).toBe("♟".repeat(30));
    expect(textRows("😀".repeat(30))).toEqual(["😀".repeat(24), "😀".repeat(6)]);
  });
  it("draws no more of a position than anybody reads", () => {
    for (const text of ["x".repeat(10 ** 6), "x/".repeat(10 ** 6), `${"24/".repeat(10 ** 5)} w`, "\n".repeat(10 ** 5)]) {
      const rows = textRows(text);
      expect(rows.length).toBeLessThanOrEqual(48);
      expect(rows.join("").length).toBeLessThanOrEqual(24 * 48);
      expect(rows.at(-1)).toBe("…");
    }
  });
  it("knows whose turn it is and what a move touched", () => {
    expect([toMove("8/8 b - -"), toMove("8/8 w - -"), toMove("7/7 x"), toMove("7/7 o")]).toEqual([1, 0, 0, 1]);
    expect(moveSquares("e2e4")).toEqual([52, 36]);
    expect(moveSquares("4")).toEqual([]);
  });
});

describe("four in a row", () => {
  it("is found in each direction and nowhere else", () => {
    const board = (marks: Record<number, "x" | "o">) => Array.from({ length: 42 }, (_, i) => marks[i] ?? null);
    expect(fourInARow(board({ 35: "x", 36: "x", 37: "x", 38: "x" }))).toEqual([35, 38]);
    expect(fourInARow(board({ 3: "o", 9: "o", 15: "o", 21: "o" }))).toEqual([3, 21]);
    expect(fourInARow(board({ 5: "x", 6: "x", 7: "x", 8: "x" }))).toBeNull(); // a row ends at the edge
    expect(fourInARow(board({ 35: "x", 36: "x", 37: "o", 38: "x" }))).toBeNull();
  });
});
