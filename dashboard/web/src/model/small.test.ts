import { describe, expect, it } from "vitest";
import type { Curve } from "../api/types";
import { allTime, crossTable, gallery, isCalibration, points, scopes, standings } from "./arena";
import { lowest, pliesOf, positionAfter } from "./game-line";
import type { RunDetail, RunSummary } from "../api/types";
import { bandOf, bySetup, dashOf, differences, hidden, islandCurves, mergeCurves, overText } from "./compare";
import { activeSeconds, importance, leftText, meanSpeed, operatorsOf, secondsLeft, sharesOf, speedOf } from "./progress";
import { learn } from "./operators";
import { namesText, wanted } from "./runs";
import { sentences } from "./why";
import { rowsOf, wordDiff } from "./words";
import { beyond, curveOf, disagrees, linesRange, stacked, told, xRange, yRange } from "./curve";
import { feedLine } from "./feed";
import { flatten } from "./flatten";
import { clock, count, dollars, metric, seconds, shortened, tickTexts, words } from "./format";
import { chessSquares, fourCells, fourInARow, moveSquares, squareIndex, toMove } from "./position";
import { inOrder, workersText } from "./open-work";
import { endLine, endText, plainMessage } from "./plain";
import { tokens } from "./python";
import { sorted } from "./sorted";
import { parse, plyOf, saying } from "./router";
import { type GameState, type NodeFact, RunState } from "./run-state";
import { waitingText } from "../views/quote";
import { endOf } from "../components/parallel";

describe("format", () => {
  it("shows null as a dash and never as 0", () => {
    expect([metric(null), count(undefined), dollars(null), seconds(null)]).toEqual(["–", "–", "–", "–"]);
    expect([metric(0), count(0), dollars(0)]).toEqual(["0", "0", "$0.0000"]);
  });
  it("keeps six digits and the sign", () => {
    expect(metric(-45.835212)).toBe("-45.8352");
    expect(metric(0.1 + 0.2)).toBe("0.3");
    expect(metric(1e-7)).toBe("1.000e-7");
  });
  it("gives ticks as many digits as tell them apart, and no more", () => {
    expect(tickTexts([0.1069931, 0.1069932, 0.1069933])).toEqual(["0.1069931", "0.1069932", "0.1069933"]);
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

describe("scores off the scale", () => {
  it("are those outside of the drawn range, not the ones at its edge or without a value", () => {
    expect(beyond([1, 5, null, 5.1, -3, undefined, 0], [0, 5])).toEqual([3, 4]);
  });
});

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
  it("knows whose turn it is and what a move touched", () => {
    expect([toMove("8/8 b - -"), toMove("8/8 w - -"), toMove("7/7 x"), toMove("7/7 o")]).toEqual([1, 0, 0, 1]);
    expect(moveSquares("e2e4")).toEqual([52, 36]);
    expect(moveSquares("4")).toEqual([]);
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

describe("curves", () => {
  const nodes = [[0, 5], [1, null], [2, 7], [3, 3], [4, 4]].map(([step, value]) => ({ step, metric: value, is_valid: true, is_buggy: false, operator: "draft", node_id: `n${step}` }) as unknown as NodeFact);
  it("follows the best in the problem's direction", () => {
    expect(curveOf(nodes, true).best).toEqual([5, 5, 3, 3]);
    expect(curveOf(nodes, false).best).toEqual([5, 7, 7, 7]);
  });
  it("shows baselines beside the search at its start, as those that are its first nodes, and leaves its line alone", () => {
    const beside = [{ ...nodes[0], metric: 1, node_id: "b" }, { ...nodes[0], is_buggy: true, node_id: "c" }];
    const curve = curveOf(nodes, true, beside);
    expect([curve.ids[0], curve.steps[0], curve.metrics[0]]).toEqual(["b", 0, 1]);
    expect(curve.best).toEqual([null, 5, 5, 3, 3]);
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
  it("puts several runs on one axis", () => {
    const line = (steps: number[], best: number[]) => ({ steps, best }) as unknown as Curve;
    expect(mergeCurves([line([0, 4], [9, 8]), line([2, 4], [7, 6])])).toEqual({ steps: [0, 2, 4], series: [[9, null, 8], [null, 7, 6]] });
  });
});

describe("arena", () => {
  const state = new RunState("r");
  state.generations.set(0, { generation: 0, champion: null, ratings: [], promoted: [], decision: {}, questions: [], done: false });
  const game = (id: string, white: string, black: string, result: string | null) => state.games.set(id, { id, white, black, result, generation: 0 } as unknown as GameState);
  game("1", "a", "b", "1-0");
  game("2", "b", "a", "1/2-1/2");
  game("3", "a", "c", null);
  it("counts points of finished games", () => {
    expect(points("0-1")).toEqual([0, 1]);
    const { rows, provisional } = standings(state);
    expect(provisional).toBe(true);
    expect(rows.map((r) => [r.node_id, r.points, r.wins, r.draws, r.losses])).toEqual([["a", 1.5, 1, 1, 0], ["b", 0.5, 0, 1, 1]]);
  });
  it("has a cross-table whose mirrored cells add up to the games", () => {
    const table = crossTable(state, 0);
    expect(table.players).toEqual(["a", "b"]);
    expect(table.points[0][1] + table.points[1][0]).toBe(table.games[0][1]);
  });

  it("counts the round robin of a generation without the gate's games and the final part's", () => {
    const other = new RunState("r2");
    let seq = 0;
    const take = (type: string, more: object) => other.apply({ type, seq: (seq += 1), at: "", ...more } as never);
    const play = (id: string, white: string, black: string, result: string | null = "1-0") => {
      take("game.started", { game_id: id, game: "chess", white, black, start: "" });
      if (result) take("game.finished", { game_id: id, white, black, result, termination: "x", plies: 1 });
    };
    play("0", "old", "random");
    take("generation.finished", { generation: 0, ratings: [] });
    take("generation.started", { generation: 1 });
    play("gate", "new", "random");
    play("1", "new", "old");
    take("generation.finished", { generation: 1, ratings: ["new", "old"].map((node_id, i) => ({ node_id, elo: -i })), promoted: [] });
    play("g", "gauntlet:deep", "old");
    play("f", "new", "old", "0-1");
    expect(scopes(other)).toEqual([null, 1, 0]);
    expect(crossTable(other, 1)).toMatchObject({ players: ["new", "old"], games: [[0, 1], [1, 0]] });
    expect(crossTable(other, null)).toMatchObject({ players: ["new", "old", "gauntlet:deep"], games: [[0, 1, 0], [1, 0, 1], [0, 1, 0]] });
    learn({ baseline: { meaning: "", colour: "grey", is_step: false } });
    take("node.proposed", { node_id: "new", operator: "build", round: 0, slot: 0 });
    const calibrates = [...other.games.values()].filter((game) => isCalibration(game, other)).map(({ id }) => id);
    expect(calibrates).toEqual(["0", "g"]); // a baseline against the gauntlet is no candidate's game either
    play("live", "old", "gauntlet:deep", null);
    expect(gallery([...other.games.values()], (game) => game.white === "new", "running", true)).toMatchObject({ running: 0, finished: 3, games: [{ id: "f" }, { id: "1" }, { id: "gate" }] });
    expect(gallery([...other.games.values()], () => true, "running", true).games).toMatchObject([{ id: "live" }]);
  });
  it("numbers moves as the PGN does, the opening's first", () => {
    const move = (ply: number, san: string) => ({ ply, san, uci: san, fen: `f${ply} b`, clock: [null, null] as [null, null], seconds: 0 });
    const opening = [{ uci: "a2a4", san: "a4", fen: "1 b" }, { uci: "d7d6", san: "d6", fen: "2 w" }, { uci: "a1a2", san: "Ra2", fen: "3 b" }];
    const told = { origin: "o w", start: "3 b", opening, moves: [move(1, "g6"), move(2, "d4")] };
    const plies = pliesOf(told);
    expect(plies.map((ply) => `${ply.number}${ply.san}`)).toEqual(["1.a4", "d6", "2.Ra2", "g6", "3.d4"]);
    expect(plies.map((ply) => ply.played?.ply)).toEqual([undefined, undefined, undefined, 1, 2]);
    expect([0, 2, 3, 4].map((at) => positionAfter(told, plies, at))).toEqual(["o w", "2 w", "3 b", "f1 b"]);
    expect([lowest(told), lowest({ ...told, origin: "" })]).toEqual([0, 3]);
  });
});

describe("text", () => {
  it("marks a number that changed as one thing, its point and exponent too", () => {
    const [left, right] = wordDiff("weight = x ** -3.07 + 1e-3", "weight = x ** -2.50 + 1e-3");
    expect([left, right].map((pieces) => pieces.filter((piece) => piece.changed).map((piece) => piece.text))).toEqual([["3.07"], ["2.50"]]);
  });
  it("says why a run ended as people say it, and each thing once", () => {
    expect(endText("max_steps: 600 of 600 steps")).toBe("all 600 steps are done");
    expect(endText("max_generations: 1 of 1 generations")).toBe("its one generation is played");
    expect(endText("budget.seconds is reached; what was running stays open")).toBe("its seconds are used up; what was running then is left undone");
    expect(endText("budget.usd=0.5 is reached: $0.4900 used, the next call may cost $0.1")).toBe("its dollars are used up; $0.4900 used, the next call may cost $0.1");
    expect(endText("target metric")).toBe("target metric");
    expect(endLine("interrupted", "interrupted", 720)).toBe("stopped by you, after 720 steps");
    expect(endLine("finished", "max_steps: 6 of 6 steps", 6)).toBe("finished: all 6 steps are done");
  });
  it("tells of a program without the ladder's own words", () => {
    expect(plainMessage("given up at the cheap look; on the probe states it decides as abc123 does")).toBe("left off after a small part of the cases: too far behind; in sample situations it decides as abc123 does");
  });
  it("colours Python without changing it", () => {
    const line = "x = 'if' + \"a # b\"  # <b>note</b> 12";
    expect(tokens(line).map((t) => t.text).join("")).toBe(line);
    expect(tokens("if x: return 1.5e3").map((t) => t.kind)).toEqual(["keyword", "", "", "", "keyword", "", "number"]);
    expect(tokens(line).filter((t) => t.kind === "comment").map((t) => t.text)).toEqual(["# <b>note</b> 12"]);
  });
  it("reads addresses, also broken ones", () => {
    expect(parse("#/run/a%20b/node/ff00?speed=5")).toMatchObject({ run: "a b", view: "node", id: "ff00" });
    expect(parse("#/run/a%ZZ")).toMatchObject({ run: "a%ZZ", view: "overview" });
    expect(parse("")).toMatchObject({ run: null, view: "runs" });
  });
  it("keep the position of a game, and the newest one without a word", () => {
    expect(["ply=12", "ply=0", "ply=", "", "ply=-1", "ply=x"].map((said) => plyOf(parse(`#/run/a/game?id=g1&${said}`)))).toEqual([12, 0, null, null, null, null]);
    expect(saying("#/run/a/game?id=g1&ply=3", { ply: "" })).toBe("#/run/a/game?id=g1");
  });
  it("flattens a configuration and leaves out what is not set", () => {
    expect(flatten({ a: { b: 1, c: null }, d: [1, 2], e: [] })).toEqual([["a.b", "1"], ["d", "1, 2"]]);
  });
});

describe("runs", () => {
  const run = (name: string, more: Partial<RunSummary> = {}) => ({ run: name, live: false, archived: false, steps: 0, tags: [], ...more }) as unknown as RunSummary;
  const wish = { text: "", show: "listed", sort: "run", down: false } as const;

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
  });

  it("have a mean where all have a value", () => {
    const band = bandOf([{ steps: [0, 4], best: [4, 2] }, { steps: [1, 2, 9], best: [8, 6, 5] }]);
    expect(band.steps).toEqual([1, 2, 4]);
    expect(band.mean).toEqual([6, 5, 4]);
    expect(band.high[1] - band.mean[1]).toBeCloseTo(Math.SQRT2);
  });
});

describe("progress", () => {
  const node = (step: number, more: object = {}) => ({ step, elapsed: step * 2, exec_time: 1, operator: "improve", is_valid: true, is_buggy: false, metric: 1, cost_usd: 0.5, ...more }) as never;
  const nodes = Array.from({ length: 10 }, (_, i) => node(i, i % 2 ? { failure: "timeout", is_buggy: true, is_valid: false } : { is_best: i === 4 }));

  it("tells speed and the seconds to the first limit", () => {
    expect(speedOf(nodes)).toBeCloseTo(0.5);
    const of = (more: object) => secondsLeft({ steps: 10, worked: 20, whole: 20, generationsDone: 0, nodes, totals: {}, ...more } as never);
    expect(of({ started: { max_steps: 20, budget: { seconds: 1000 } } })).toBeCloseTo(20);
    expect(of({ started: { max_steps: 20, budget: { seconds: 30 } } })).toBeCloseTo(10);
    expect(speedOf([])).toBeNull();
    expect(of({ nodes: [], started: { max_steps: 20, budget: { seconds: 1000 } } })).toBeNull(); // the cap is not what will end it
    expect(of({ nodes: [], started: { budget: { seconds: 1000 } } })).toBe(980);
    expect(of({ started: { max_generations: 4, budget: { seconds: 1000 } } })).toBeNull();
    expect(of({ generationsDone: 1, whole: 30, started: { max_generations: 4, budget: { seconds: 1000 } } })).toBe(90);
  });

  it("says final scoring where no time of the search is left", () => {
    expect([leftText(null, 0), leftText(5, 0), leftText(0, 2), leftText(0, 0)]).toEqual(["", "about 5.0 s left", "finishing what runs", "final scoring"]);
  });

  it("has a speed again at once after a kill took seconds from the count", () => {
    expect(speedOf([{ elapsed: 40 }, { elapsed: 50 }, { elapsed: 12 }, { elapsed: 14 }])).toBeCloseTo(0.5);
  });

  it("has one active time and one speed, whatever the newest node was told", () => {
    const of = (more: object) => activeSeconds({ elapsed: 20, worked: 22, atEnd: true, run: { seconds: 25 }, ...more } as never);
    expect([of({}), of({ run: { seconds: 5 } }), of({ atEnd: false })]).toEqual([25, 20, 22]);
    expect([meanSpeed(10, 20), meanSpeed(0, 20), meanSpeed(3, 0)]).toEqual([0.5, null, null]);
  });

  it("counts failures over time and what operators bring", () => {
    expect(sharesOf(nodes, 1).failed).toEqual([50, 50]);
    const steps = (count: number, bad: number) => [node(0, { operator: "given" }), ...Array.from({ length: count }, (_, i) => node(i + 1, i + 1 === bad ? { failure: "timeout", is_buggy: true } : {}))];
    learn({ given: { meaning: "", colour: "grey", is_step: false } });
    expect(sharesOf(steps(6, 6), 40)).toMatchObject({ steps: [1, 6], failed: [100 / 6, 100 / 6] });
    expect(sharesOf(steps(13, 6), 40)).toMatchObject({ steps: [1, 6, 11, 13], failed: [0, 20, 0, 0] }); // a bar lies over the steps that it counts
    expect([sharesOf(steps(1, 0)).steps, sharesOf([]).steps]).toEqual([[1], []]);
    expect(operatorsOf(nodes)).toEqual([{ operator: "improve", steps: 10, scored: 5, failed: 5, duplicate: 0, partly: 0, improved: 0, seconds: 10, cost: 5 }]);
  });

  it("counts each program once: what became of them adds up", () => {
    const [row] = operatorsOf([node(1), node(2, { metric: null }), node(3, { is_valid: false, metric: null }), node(4, { is_buggy: true, is_valid: false, metric: null }), node(5, { failure: "timeout", metric: null })]);
    expect([row.scored, row.failed, row.duplicate, row.partly]).toEqual([1, 2, 1, 1]);
  });

  it("counts as improvements what the report counts: no first score, and no baseline", () => {
    learn({ given: { meaning: "", colour: "grey", is_step: false } });
    const run = (scores: [string, number, boolean][]) => {
      const state = new RunState("r");
      scores.forEach(([operator, metric, is_best], i) => state.apply({ ...(node(i, { operator, metric, is_best }) as object), type: "node.committed", seq: i + 1, node_id: String(i) } as never));
      return state;
    };
    const made = run([["given", 9, true], ["given", 8, true], ["improve", 7, true], ["improve", 7.5, false]]);
    expect(operatorsOf(made.nodes).map((row) => [row.operator, row.improved])).toEqual([["given", 0], ["improve", 1]]);
    expect(operatorsOf(run([["improve", 7, true]]).nodes)[0].improved).toBe(0);
    expect(made.feed.map((event) => feedLine(event as never, made).text)).toEqual(["given: best so far", "given: best so far", "improve: improvement", "improve"]);
    expect(run([["improve", 7, true]]).nodes[0].improves).toBe("first");
  });

  it("weighs numbers by rank and words by group", () => {
    const metrics = [1, 2, 3, 4];
    expect(importance([10, 20, 30, 400], metrics)).toBeCloseTo(1);
    expect(importance([1, 1, 1, 1], metrics)).toBe(0);
    expect(importance(["a", "a", "b", "b"], metrics)).toBeCloseTo(0.8);
    expect(importance(["a", "b", "c", "d"], metrics)).toBe(0); // a word of its own for each says nothing
  });
});

describe("differences", () => {
  it("mark the words that changed, and none where little is common", () => {
    const [left, right] = wordDiff("x = alpha + 1", "x = beta + 1");
    expect(left).toEqual([{ text: "x = ", changed: false }, { text: "alpha", changed: true }, { text: " + 1", changed: false }]);
    expect(right[1]).toEqual({ text: "beta", changed: true });
    expect(wordDiff("import numpy", "return None")[0]).toHaveLength(1);
  });

  it("stand side by side", () => {
    const rows = rowsOf([{ kind: "same", old: 1, new: 1, text: "a" }, { kind: "del", old: 2, text: "b 1" }, { kind: "add", new: 2, text: "b 2" }, { kind: "add", new: 3, text: "c" }, { kind: "skip", text: "9 equal lines" }] as never);
    expect(rows.map((row) => [row.kind, row.left?.number ?? null, row.right?.number ?? null])).toEqual([["same", 1, 1], ["changed", 2, 2], ["changed", null, 3], ["skip", null, null]]);
  });
});

describe("why", () => {
  it("is told in sentences with numbers that people can read", () => {
    const told = sentences("mutate", { rule: "TournamentSelector", draw: 0.44637888721055463, pool: 2, candidates: ["5e5a9af714da", "bcf6367b63af"] });
    expect(told.join(" ")).toContain("tournament");
    expect(told.join(" ")).toContain("It chose among 2: 5e5a9af714da, bcf6367b63af.");
    expect(sentences("improve", { rule: "improve phase: the best node", draw: 0.81234567, merge_prob: 0.2 }).join(" ")).toContain("The draw was 0.81, not below 0.2: no two programs were to be merged.");
    expect(sentences("tune", {})[0]).toContain("recorded nothing more");
  });
});

describe("why: what a draw decided", () => {
  it("is told as it went, whichever operator followed", () => {
    const chances = { debug_draw: 0.1, debug_prob: 0.5, draw: 0.05, merge_prob: 0.2 };
    const improved = sentences("improve", chances).join(" ");
    expect(improved).toContain("The draw was 0.1, below 0.5: a repair was due, but no failed program was worth one.");
    expect(improved).toContain("The draw was 0.05, below 0.2: a merge was due, but no second program fitted.");
    expect(sentences("debug", { draw: 0.1, debug_prob: 0.5 })).toEqual(["The draw was 0.1, below 0.5: a failed program was repaired."]);
    expect(sentences("merge", { ...chances, debug_draw: 0.9 }).join(" ")).toContain("two programs were merged");
  });
  it("calls the parent the best only where its score was", () => {
    const why = { rule: "improve phase: the best node", candidates: [{ node_id: "a", metric: 2 }, { node_id: "b", metric: 1 }] };
    expect(sentences("improve", why, false)[0]).toContain("The best program that was known");
    expect(sentences("improve", why, true)[0]).toContain("the steadiest became the parent");
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

describe("ratings of all time", () => {
  it("hold each engine's newest rating with the chance to be stronger than the next", () => {
    const rating = (id: string, elo: number, width: number) => ({ node_id: id, name: id, elo, low: elo - width, high: elo + width, wins: 1, draws: 0, losses: 1, score: 1 });
    const generation = (number: number, ratings: object[]) => [number, { generation: number, ratings, promoted: [], champion: null }] as never;
    const rows = allTime({ generations: new Map([generation(0, [rating("a", 10, 50), rating("b", 0, 0), rating("c", -9, 9)]), generation(1, [rating("a", 100, 98), rating("b", 0, 0)])]) } as never);
    expect(rows.map((r) => [r.node_id, r.elo, r.games, r.generation])).toEqual([["a", 100, 4, 1], ["b", 0, 4, 1], ["c", -9, 2, 0]]);
    expect(rows[0].superior).toBeCloseTo(0.977, 2); // 100 Elo at an error of 50
    expect([rows[1].superior, rows[2].superior]).toEqual([null, null]); // c's rating knows nothing of the games since
  });
});

describe("open programs", () => {
  const open = (id: string, stage = "select", operator = "improve") => ({ id, operator, parents: [], island: null, stage, since: 500 });
  const live = (work: object[], running = 1, waiting = 0) => ({ tails: [], work, running, waiting }) as never;
  it("say what each waits for or does, what holds a worker first", () => {
    const work = [{ node_id: "a", state: "waits_writer", seconds: 1 }, { node_id: "b", state: "runs", seconds: 4 }, { node_id: "c", state: "written", seconds: 2 }];
    const told = inOrder([open("a"), open("c"), open("b", "reply"), open("d", "reply"), open("e", "execute")], "openai/gpt", live(work), 10_000);
    expect(told.map((one) => [one.node.id, one.text, one.since])).toEqual([
      ["b", "runs", 6000], ["c", "asks openai/gpt", 8000], ["a", "waits for a writer", 9000], ["d", "written, waits for its turn", 500], ["e", "scored, told in its turn", 500],
    ]);
  });
  it("are known by the events where nobody tells", () => {
    expect(inOrder([open("a"), open("b", "reply")], "rules", null).map((one) => one.text)).toEqual(["being written by rules", "runs, or waits for a worker"]);
    expect(inOrder([open("a")], "rules", live([{ node_id: "a", state: "waits_writer", seconds: 0 }]))[0].text).toBe("being written by rules");
  });
  it("and how many workers are busy", () => {
    expect(workersText({ running: 2, waiting: 0 }, false)).toBe("2 workers are busy");
    expect(workersText({ running: 1, waiting: 3 }, true)).toBe("1 worker is busy, 3 games wait for one");
  });
});
