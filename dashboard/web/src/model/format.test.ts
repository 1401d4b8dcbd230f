import { describe, expect, it } from "vitest";
import { endOf } from "../components/parallel";
import { waitingText } from "../views/quote";
import { bytes, clock, count, counted, dollars, interval, metric, seconds, shortened, shortMoment, tickTexts, whole, wholeSeconds, words } from "./format";
import { sorted } from "./sorted";

describe("format", () => {
  it("shows null as a dash and never as 0", () => {
    expect([metric(null), count(undefined), dollars(null), seconds(null)]).toEqual(["–", "–", "–", "–"]);
    expect([metric(0), count(0), dollars(0)]).toEqual(["0", "0", "$0.0000"]);
  });
  it("counts as people say it", () => {
    expect([counted(0, "node"), counted(1, "node"), counted(2, "node"), counted(12_345, "node")]).toEqual(["0 nodes", "1 node", "2 nodes", "12.3k nodes"]);
    expect([counted(1, "ply was", "plies were"), counted(2, "ply was", "plies were"), counted(null, "token")]).toEqual(["1 ply was", "2 plies were", "– tokens"]);
  });
  it("rounds a rating as Python does, so that terminal, report and page say one number", () => {
    expect([-315.5, -316.5, 0.5, 1.5, -0.2, 89.49].map(whole)).toEqual(["-316", "-316", "0", "2", "0", "89"]);
  });
  it("counts seconds without tenths that never move", () => {
    expect([-3, 0, 7.4, 59.6, 3700].map(wholeSeconds)).toEqual(["0 s", "0 s", "7 s", "1 min 00 s", "1 h 01 min"]);
  });
  it("says the size of a file in a unit", () => {
    expect([1, 812, 15_648, 999_960, 64e6, 2.5e9].map(bytes)).toEqual(["1 byte", "812 bytes", "15.6 kB", "1.0 MB", "64.0 MB", "2.5 GB"]);
  });
  it("keeps six digits and the sign", () => {
    expect(metric(-45.835212)).toBe("-45.8352");
    expect(metric(0.1 + 0.2)).toBe("0.3");
    expect(metric(1e-7)).toBe("1e-7");
    expect([metric(2_345_678), metric(2_344_001), metric(1.23456e-5)]).toEqual(["2.34568e+6", "2.344e+6", "1.23456e-5"]);
  });
  it("shows an interval that holds the value beside it", () => {
    expect([metric(10004.5), interval([10004.1, 10004.8])], "in four digits it read 10000 … 10000").toEqual(["10004.5", "10004.1 … 10004.8"]);
    expect([interval(null), interval(undefined)]).toEqual(["–", "–"]);
  });
  it("says a moment as every other time of the page, with its day, whatever the browser's language", () => {
    const at = new Date(2020, 0, 2, 15, 4, 59);
    expect([shortMoment(at.getTime() / 1000), shortMoment(1e18)]).toEqual(["2020-01-02 15:04", "–"]);
  });
  it("gives ticks as many digits as tell them apart, and no more", () => {
    expect(tickTexts([0.1069931, 0.1069932, 0.1069933])).toEqual(["0.1069931", "0.1069932", "0.1069933"]);
    expect(tickTexts([2_000_000, 2_000_200, 2_000_400])).toEqual(["2e+6", "2.0002e+6", "2.0004e+6"]);
    expect(tickTexts([0, 0.2, 0.4])).toEqual(["0", "0.2", "0.4"]);
    expect(tickTexts([])).toEqual([]);
  });
  it("cuts a name only where it is very long, and says so", () => {
    expect([shortened("HistGradientBoostingRegressor"), shortened("x".repeat(40)).length, shortened("x".repeat(40)).at(-1)]).toEqual(["HistGradientBoostingRegressor", 32, "…"]);
  });
  it("writes names of the program as words", () => {
    expect(words("four_in_a_row")).toBe("four in a row");
  });
  it("writes times and clocks", () => {
    expect([seconds(0.02), seconds(5), seconds(119.9), seconds(3661)]).toEqual(["20 ms", "5.0 s", "2 min 00 s", "1 h 01 min"]);
    expect([seconds(59.9), seconds(59.97), count(999_949), count(999_960)]).toEqual(["59.9 s", "1 min 00 s", "999.9k", "1.00M"]);
    expect([clock(61), clock(9.94), clock(-3), clock(null)]).toEqual(["1:01", "0:09.9", "0:00.0", "--:--"]);
  });
});

describe("rows of a table", () => {
  it("keep what is not known last and equal ones in their order, whichever way", () => {
    const rows = [["a", 2], ["b", null], ["c", 10], ["d", 2]] as [string, number | null][];
    const names = (down: boolean) => sorted(rows, ([, value]) => value, down).map(([name]) => name).join("");
    expect([names(false), names(true)]).toEqual(["adcb", "cadb"]);
  });
});

describe("what a form and an axis say", () => {
  it("asks what rules would try, not what they would cost", () => {
    expect(waitingText("rules")).not.toContain("cost");
    expect(waitingText("openai")).toContain("cost");
  });
  it("gives a name all the room that there is", () => {
    expect([endOf("learners.params (number)", 24), endOf("learners.params (number)", 9)]).toEqual(["learners.params (number)", "…(number)"]);
  });
});
