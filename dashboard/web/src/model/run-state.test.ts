import { describe, expect, it } from "vitest";
import type { RunEvent, Snapshot } from "../api/types";
import { allTime, championLine, crossTable, generationShown, standings } from "./arena";
import { feedLine, gamesText, half, pairings } from "./feed";
import { RunState, WARNINGS } from "./run-state";

let seq = 0;
const event = (type: string, more: object): RunEvent => ({ seq: (seq += 1), at: "2026-01-05T09:30:00Z", type, ...more }) as unknown as RunEvent;
const node = (id: string, more: object = {}) =>
  event("node.committed", { node_id: id, step: 0, parent_ids: [], operator: "draft", is_buggy: false, is_valid: true, elapsed: 1, ...more });

function run(events: RunEvent[]): RunState {
  const state = new RunState("r");
  for (const e of events) state.apply(e);
  return state;
}
const fresh = () => {
  seq = 0;
};

describe("RunState", () => {
  it("keeps nodes, children, best and elapsed time", () => {
    fresh();
    const state = run([node("a", { metric: 5, best_node_id: "a" }), node("b", { parent_ids: ["a"], metric: 4, best_node_id: "b", elapsed: 9 })]);
    expect(state.nodes.map((n) => n.index)).toEqual([0, 1]);
    expect(state.children.get("a")).toEqual(["b"]);
    expect(state.best?.node_id).toBe("b");
    expect(state.clock.elapsed).toBe(9);
  });

  it("says where a process was gone without a word, before a resume and at the end, as lists do", () => {
    fresh();
    const state = new RunState("r");
    state.tell({ last_seq: 3, status: "interrupted", live: false } as never);
    const lines = () => state.happened.filter((one) => one.type !== "games").map((one) => [feedLine(one, state).text.split(":")[0], one.at]);
    const at = (minute: number) => ({ at: `2026-01-05T09:3${minute}:00.000Z` });
    const died = (minute: number) => ["the process ended without a word", at(minute).at];
    for (const one of [event("run.started", at(0)), node("a", at(1)), event("run.started", { resumed: true, ...at(4) })]) state.apply(one);
    expect(lines()).toEqual([["started", at(0).at], ["draft", at(1).at], died(1), ["resumed", at(4).at], died(4)]);
    state.lives(true);
    expect(lines().at(-1)?.[0]).toBe("resumed");
    state.lives(false);
    state.apply(event("run.finished", { status: "interrupted", reason: "stopped by you", steps: 1, ...at(5) }));
    expect(lines().filter(([text]) => text === died(1)[0])).toHaveLength(1);
  });

  it("calls a node by its name, else by the step that the table, the terminal and the report count", () => {
    fresh();
    const state = new RunState("r");
    for (const one of [event("run.started", {}), node("1b5e9c03aa17"), node("2c"), event("builder.completed", { node_id: "2c", name: "deep" })]) state.apply(one);
    expect(["1b5e9c03aa17", "2c", "9f8e7d6c5b4a"].map((id) => state.called(id))).toEqual(["step 1", "deep", "9f8e7d6c"]);
  });

  it("says of a run that is stepped by hand that it waits, not that its process broke off", () => {
    fresh();
    const state = new RunState("r");
    state.tell({ last_seq: 2, status: "waiting", live: false } as never);
    for (const one of [event("run.started", { by_hand: true }), node("a", {})]) state.apply(one);
    expect(state.happened.filter((one) => one.type === "died").map((one) => feedLine(one, state).text)).toEqual(["waits for the next step by hand"]);
  });

  it("counts the round that is being played, not the final part, and says what holds at the end only there", () => {
    fresh();
    const at = (second: number) => ({ at: new Date(Date.UTC(2026, 0, 5, 9, 30, second)).toISOString() });
    const state = new RunState("r");
    state.tell({ last_seq: 8, seconds: 41, status: "finished" } as never);
    const game = (id: string, second: number, white = "a") => event("game.started", { game_id: id, game: "four", white, black: "b", start: "", ...at(second) });
    const told = [
      event("run.started", at(0)), event("generation.started", { generation: 1, ...at(1) }), game("1", 2), node("a", { generation: 1, elapsed: 15, ...at(12) }), game("2", 30),
      event("generation.finished", { generation: 1, ratings: [], promoted: [], ...at(32) }), game("3", 50, "gauntlet:c"), event("run.finished", { status: "finished", ...at(60) }),
    ].map((one) => (state.apply(one), [state.clock.worked, state.atEnd])); // prettier-ignore
    expect(told).toEqual([[0, false], [1, false], [2, false], [15, false], [33, false], [35, false], [35, false], [35, true]]);
  });

  it("names engines from the moment they are built, and shows an ended arena by its last whole generation", () => {
    fresh();
    const rating = { node_id: "a", name: "alpha", elo: 10, low: 0, high: 20, wins: 1, draws: 0, losses: 0, score: 1 };
    const state = run([
      event("generation.started", { generation: 1 }), event("generation.finished", { generation: 1, ratings: [rating], promoted: [] }),
      event("generation.started", { generation: 2 }), event("node.proposed", { node_id: "b".repeat(12), round: 2, slot: 1, operator: "build", generation: 2 }),
    ]); // prettier-ignore
    expect(state.name("b".repeat(12))).toBe("g2.1");
    expect(generationShown(state)).toBe(2);
    state.apply(event("run.finished", { status: "finished", reason: "budget.seconds is reached", steps: 1 }));
    expect(generationShown(state)).toBe(1);
    expect(standings(state)).toMatchObject({ generation: 1, provisional: false });
  });

  it("shows one Elo of an engine everywhere: its newest, and who holds the title as the best", () => {
    fresh();
    const rated = (generation: number, elos: Record<string, number>, promoted: string[]) =>
      event("generation.finished", { generation, promoted, ratings: Object.entries(elos).map(([node_id, elo]) => ({ node_id, name: node_id.toUpperCase(), elo, low: elo - 50, high: elo + 50, wins: 1, draws: 0, losses: 1, score: 0.5 })) });
    const built = (id: string, generation: number, metric: number) => node(id, { operator: "build", generation, metric, best_node_id: "x" });
    const state = run([
      event("generation.started", { generation: 1 }), rated(1, { x: 108.8, y: 61.9 }, ["y", "x"]), built("x", 1, 108.8), built("y", 1, 61.9),
      event("generation.started", { generation: 2 }), rated(2, { x: 41, y: 138, z: 90 }, ["y", "z"]), built("z", 2, 90),
      event("generation.started", { generation: 3 }), event("game.started", { game_id: "g", game: "four", white: "y", black: "w", start: "" }), event("game.finished", { game_id: "g", result: "1-0", termination: "four_in_a_row", plies: 7 }),
    ]); // prettier-ignore
    const elos = { x: 41, y: 138, z: 90 };
    expect(Object.fromEntries(state.nodes.map((n) => [n.node_id, n.metric]))).toEqual(elos);
    expect(Object.fromEntries(allTime(state).map((r) => [r.node_id, r.elo]))).toEqual(elos);
    expect([standings(state).rows.map((r) => r.node_id), crossTable(state, 3).players]).toEqual([["y", "w"], ["y", "w"]]); // while it is played
    expect(standings(state).rows.find((r) => r.node_id === "y")).toMatchObject({ elo: 138, low: 88, high: 188 });
    expect([state.best?.node_id, state.best?.metric, state.best?.first]).toEqual(["y", 138, 61.9]);
    expect(championLine(state, ["x", "y", "z"])).toEqual([null, 61.9, 138]);
    const text = (id: string) => feedLine(state.happened.find((e) => e.type === "node.committed" && e.node_id === id) as never, state).text;
    expect([text("x"), text("y"), text("z")]).toEqual(["build: first rating", "build: takes the title, first rating", "build: first rating"]);
  });

  it("puts standings and cross-table in the order by which the title goes, which is not Elo's", () => {
    fresh();
    const row = (node_id: string, elo: number, wins: number) => ({ node_id, name: node_id, elo, low: 0, high: 1, wins, draws: 0, losses: 4 - wins, score: wins / 4 });
    const games = () => [["a", "b"], ["a", "c"], ["b", "c"]].map(([white, black], i) => [event("game.started", { game_id: String(i), game: "four", white, black, start: "" }), event("game.finished", { game_id: String(i), white, black, result: "1-0", termination: "x", plies: 7 })]).flat();
    const state = run([event("generation.started", { generation: 1 }), ...games(), event("generation.finished", { generation: 1, promoted: ["b", "a"], ratings: [row("a", 150, 2), row("c", 200, 1), row("b", 100, 3)] }), event("run.finished", { status: "finished", reason: "", steps: 1 })]);
    expect(standings(state).rows.map((r) => r.node_id)).toEqual(["b", "a", "c"]);
    expect(crossTable(state, 1).players).toEqual(["b", "a", "c"]);
  });

  it("folds games into what they were played for, which stays the newest thing while more are played", () => {
    fresh();
    const game = (id: string, white: string, black: string, result = "1-0") => [event("game.started", { game_id: id, game: "four", white, black, start: "" }), event("game.finished", { game_id: id, result, termination: "four_in_a_row", plies: 7 })];
    const state = run([event("generation.started", { generation: 1 }), ...game("1", "a", "sparring"), ...game("2", "a", "b"), event("note.added", { text: "n" }), ...game("3", "b", "a", "1/2-1/2"), ...game("4", "a", "gauntlet:c")]);
    expect(state.happened.map((what) => (what.type === "games" ? gamesText(what) : what.type))).toEqual([
      "generation.started", "1 game, gate of generation 1", "note.added", "2 games, round robin of generation 1", "1 game of the final part",
    ]); // prettier-ignore
    const match = state.happened.find((what) => what.type === "games" && what.games.length === 2);
    expect(pairings(match as never)).toEqual([{ of: ["a", "b"], points: [1.5, 0.5], games: 2, generation: 1 }]);
    const table = crossTable(state, 1);
    expect([table.players.sort(), standings(state).rows.length]).toEqual([["a", "b"], 2]); // the gate is no part of it
    expect([half(1.5), half(0.5), half(0), half(3)]).toEqual(["1½", "½", "0", "3"]);
  });

  it("holds a baseline beside the search among what may win, though it is no node of it", () => {
    fresh();
    const state = run([event("baseline.scored", { name: "ridge", node_id: "r", metric: 2, failure: null }), node("a", { metric: 3, best_node_id: "a" }), event("run.finished", { status: "finished", reason: "", steps: 1, best_node_id: "r" })]);
    expect([state.best?.node_id, state.best?.operator, state.best?.number]).toEqual(["r", "baseline", null]);
    expect([state.nodes.length, state.beside.length]).toEqual([1, 1]);
  });

  it("tells a baseline once and by its name", () => {
    fresh();
    const state = run([node("a", { operator: "baseline", metric: 3 }), event("baseline.scored", { name: "greedy", node_id: "a", metric: 3, failure: null })]);
    expect(state.name("a")).toBe("greedy");
    expect(state.references).toEqual([{ id: "a", name: "greedy", metric: 3 }]);
    expect(state.happened.length).toBe(1);
  });

  it("numbers the steps of the first run that is opened as those of every later one", () => {
    fresh();
    const style = (is_step: boolean) => ({ meaning: "", colour: "grey", is_step });
    const events = [node("a", { operator: "given" }), node("b", { operator: "handed_over" }), node("c"), node("d", { operator: "debug" })];
    const run = { live: false, status: "finished", operators: { given: style(false), handed_over: style(false) } };
    const state = new RunState("r");
    state.load({ as_of_seq: 4, run, totals: { calls: 0, cached: 0, seconds: 0 }, events } as unknown as Snapshot);
    expect(state.nodes.map((n) => n.number)).toEqual([null, null, 1, 2]);
    expect(state.steps).toBe(2);
  });

  it("shows nothing running, and the store's status, once the process is gone", () => {
    fresh();
    const state = run([event("run.started", { problem: "p", lower_is_better: true, unit: "RMSE" }), event("node.proposed", { node_id: "a", operator: "draft" })]);
    state.lives(true);
    expect([state.status, state.open.size, state.unit]).toEqual(["running", 1, "RMSE"]);
    state.lives(false);
    state.tell({ status: "interrupted", live: false } as unknown as Snapshot["run"]);
    expect([state.status, state.open.size]).toEqual(["interrupted", 0]);
  });

  it("adds up the time of all processes, the final part included", () => {
    fresh();
    const at = (second: number) => ({ at: new Date(Date.UTC(2026, 0, 5, 9, 30, second)).toISOString() });
    const started = { problem: "p", lower_is_better: true };
    const state = run([event("run.started", { ...started, ...at(0) }), node("a", at(5)), event("run.started", { ...started, ...at(30) }), event("final.scored", { node_id: "a", ...at(40) })]);
    expect(state.clock.whole).toBe(15);
  });

  it("shows an open node with its stage until it is committed", () => {
    fresh();
    const proposed = event("node.proposed", { node_id: "a", operator: "draft", round: 0, slot: 0 });
    const reply = event("llm.called", { node_id: "a", role: "code", seconds: 1 });
    const state = run([proposed, reply]);
    expect(state.open.get("a")?.stage).toBe("reply");
    state.apply(event("node.stage", { node_id: "a", stage: "execute", seconds: 0 }));
    expect(state.open.get("a")?.stage).toBe("execute");
    state.apply(node("a"));
    expect(state.open.size).toBe(0);
  });

  it("passes over an event it has, and counts a hole as a fault", () => {
    fresh();
    const first = node("a");
    const state = run([first]);
    state.apply(first);
    expect(state.nodes.length).toBe(1);
    expect(state.faults).toBe(1);
    seq = 5;
    state.apply(node("b"));
    expect(state.faults).toBe(2);
  });

  it("sums tokens, and keeps null where nothing was counted", () => {
    fresh();
    const call = (more: object) => event("llm.called", { call_id: 1, role: "code", provider: "p", model: "m", seconds: 1, tries: 1, cached: false, ...more });
    expect(run([call({})]).totals.prompt_tokens).toBeUndefined();
    fresh();
    const state = run([call({ prompt_tokens: 3 }), call({}), call({ prompt_tokens: 4, cached: true })]);
    expect(state.totals.prompt_tokens).toBe(7);
    expect(state.totals.calls).toBe(3);
    expect(state.totals.cached).toBe(1);
    fresh();
    const agent = run([call({ role: "session", seconds: 8 }), call({ role: "look", seconds: 0 }), call({ seconds: 10 })]);
    expect(agent.totals).toMatchObject({ calls: 1, seconds: 10 });
  });

  it("follows a game move by move", () => {
    fresh();
    const state = run([
      event("generation.started", { generation: 4 }),
      event("game.started", { game_id: "g", game: "chess", white: "w", black: "b", start: "start" }),
      event("game.move", { game_id: "g", ply: 1, uci: "e2e4", san: "e4", fen: "after", clock: [59, 60], seconds: 1 }),
    ]);
    expect(state.arena.games.get("g")).toMatchObject({ fen: "after", ply: 1, last: "e2e4", result: null, generation: 4, clock: [59, 60] });
    state.apply(event("game.finished", { game_id: "g", game: "chess", white: "w", black: "b", result: "1-0", termination: "checkmate", plies: 1 }));
    expect(state.arena.games.get("g")).toMatchObject({ result: "1-0", termination: "checkmate" });
    expect(state.hasArena).toBe(true);
  });

  it("marks and frees a node", () => {
    fresh();
    const state = run([node("a"), event("node.marked", { node_id: "a", mark: "banned" })]);
    expect(state.byId.get("a")?.mark).toBe("banned");
    state.apply(event("node.marked", { node_id: "a", mark: "none" }));
    expect(state.byId.get("a")?.mark).toBeUndefined();
  });

  it("shows who holds a proposal, and forgets one that was given up", () => {
    fresh();
    const state = run([event("node.proposed", { node_id: "a", operator: "draft" }), event("ticket.leased", { node_id: "a", holder: "cursor", expires_at: 9 })]);
    expect(state.open.get("a")?.holder).toBe("cursor");
    state.apply(event("ticket.closed", { node_id: "a", state: "given_up" }));
    expect(state.open.size).toBe(0);
  });

  it("is the same from a snapshot and the rest as from all events", () => {
    fresh();
    const events = [node("a", { metric: 1, best_node_id: "a" }), node("b", { parent_ids: ["a"] }), event("note.added", { text: "n" }), node("c", { parent_ids: ["a", "b"] })];
    const whole = run(events);
    const state = new RunState("r");
    state.load({ as_of_seq: 2, run: { run: "r", status: "running", live: true }, totals: { calls: 0, cached: 0, seconds: 0 }, events: events.slice(0, 2) } as unknown as Snapshot);
    for (const e of events.slice(2)) state.apply(e);
    expect(state.faults).toBe(0);
    expect(state.nodes).toEqual(whole.nodes);
    expect([...state.children]).toEqual([...whole.children]);
    expect(state.notes).toEqual(whole.notes);
  });

  it("counts as baselines those that ran beside the search and those that are its first nodes", () => {
    fresh();
    const beside = event("baseline.scored", { name: "ridge", node_id: "x", metric: 3, failure: null });
    const failed = event("baseline.scored", { name: "broken", node_id: "y", metric: null, failure: "timeout" });
    const state = run([beside, failed, node("a", { operator: "baseline", metric: 9 }), node("b", { operator: "baseline", is_buggy: true }), node("c", { metric: 1 })]);
    state.names.set("a", "greedy");
    expect(state.references).toEqual([{ id: "a", name: "greedy", metric: 9 }, { id: "x", name: "ridge", metric: 3 }]);
  });

  it("learns the names of baselines from what the server knows of the run", () => {
    fresh();
    const state = new RunState("r");
    const baselines = [{ node_id: "a", name: "alpha-beta 2" }, { name: "no node" }];
    state.load({ as_of_seq: 1, run: { run: "r", live: false, baselines }, totals: {}, events: [node("a", { operator: "baseline", metric: 0 })] } as unknown as Snapshot);
    expect(state.references.map((r) => r.name)).toEqual(["alpha-beta 2"]);
  });

  it("knows the generations of islands by their nodes and those of an arena by their beginnings", () => {
    fresh();
    expect(run([node("a", { generation: 0 }), node("b", { generation: 1 }), node("c", { generation: 1 }), node("d")]).generationsBegun).toBe(2);
    fresh();
    expect(run([event("generation.started", { generation: 1 }), node("a", { generation: 1 })]).generationsBegun).toBe(1);
  });

  it("keeps warnings bounded", () => {
    fresh();
    const state = run(Array.from({ length: 2000 }, (_, i) => event("warning", { text: `w${i}` })));
    expect(state.warnings.length).toBe(WARNINGS);
    expect(state.warnings.at(-1)?.text).toBe("w1999");
  });

  it("keeps the feed bounded", () => {
    fresh();
    const state = run(Array.from({ length: 2000 }, () => event("warning", { text: "w" })));
    expect(state.happened.length).toBeLessThanOrEqual(600);
    expect(state.happened.at(-1)?.seq).toBe(2000);
  });
});
