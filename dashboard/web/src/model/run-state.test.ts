import { describe, expect, it } from "vitest";
import type { RunEvent, Snapshot } from "../api/types";
import { generationShown, standings } from "./arena";
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
    expect(state.elapsed).toBe(9);
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

  it("tells a baseline once and by its name", () => {
    fresh();
    const state = run([node("a", { operator: "baseline", metric: 3 }), event("baseline.scored", { name: "greedy", node_id: "a", metric: 3, failure: null })]);
    expect(state.name("a")).toBe("greedy");
    expect(state.references).toEqual([{ id: "a", name: "greedy", metric: 3 }]);
    expect(state.feed.length).toBe(1);
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
    expect(state.whole).toBe(15);
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
  });

  it("follows a game move by move", () => {
    fresh();
    const state = run([
      event("generation.started", { generation: 4 }),
      event("game.started", { game_id: "g", game: "chess", white: "w", black: "b", start: "start" }),
      event("game.move", { game_id: "g", ply: 1, uci: "e2e4", san: "e4", fen: "after", clock: [59, 60], seconds: 1 }),
    ]);
    expect(state.games.get("g")).toMatchObject({ fen: "after", ply: 1, last: "e2e4", result: null, generation: 4, clock: [59, 60] });
    state.apply(event("game.finished", { game_id: "g", game: "chess", white: "w", black: "b", result: "1-0", termination: "checkmate", plies: 1 }));
    expect(state.games.get("g")).toMatchObject({ result: "1-0", termination: "checkmate" });
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
    expect(state.feed.length).toBeLessThanOrEqual(600);
    expect(state.feed.at(-1)?.seq).toBe(2000);
  });
});
