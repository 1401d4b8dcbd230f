import { describe, expect, it } from "vitest";
import { feedLine } from "./feed";
import { inOrder, workersText } from "./open-work";
import { learn } from "./operators";
import { activeSeconds, importance, leftText, meanSpeed, operatorsOf, secondsLeft, sharesOf, speedOf } from "./progress";
import { RunState } from "./run-state";

describe("progress", () => {
  const node = (step: number, more: object = {}) => ({ step, elapsed: step * 2, exec_time: 1, operator: "improve", is_valid: true, is_buggy: false, metric: 1, cost_usd: 0.5, ...more }) as never;
  const nodes = Array.from({ length: 10 }, (_, i) => node(i, i % 2 ? { failure: "timeout", is_buggy: true, is_valid: false } : { is_best: i === 4 }));

  it("tells speed and the seconds to the first limit", () => {
    expect(speedOf(nodes)).toBeCloseTo(0.5);
    const of = (more: object) => secondsLeft({ steps: 10, clock: { worked: 20, whole: 20 }, generationsDone: 0, nodes, totals: {}, ...more } as never);
    expect(of({ started: { max_steps: 20, budget: { seconds: 1000 } } })).toBeCloseTo(20);
    expect(of({ started: { max_steps: 20, budget: { seconds: 30 } } })).toBeCloseTo(10);
    expect(of({ started: { max_steps: 20, budget: { tokens: 1000 } }, totals: { prompt_tokens: 600, completion_tokens: 200 } })).toBeCloseTo(5);
    expect(of({ started: { max_steps: 99, budget: { usd: 1, usd_per_hour: 90 } } })).toBeCloseTo(20); // a machine's half dollar in 20 s, no call
    expect(of({ started: { max_steps: 99, budget: { usd: 1, usd_per_hour: 90 } }, totals: { cost_usd: 0.3 } })).toBeCloseTo(5);
    expect(speedOf([])).toBeNull();
    expect(of({ nodes: [], started: { max_steps: 20, budget: { seconds: 1000 } } })).toBeNull(); // the cap is not what will end it
    expect(of({ nodes: [], started: { budget: { seconds: 1000 } } })).toBe(980);
    expect(of({ started: { max_generations: 4, budget: { seconds: 1000 } } })).toBeNull();
    expect(of({ generationsDone: 1, clock: { worked: 20, whole: 30 }, started: { max_generations: 4, budget: { seconds: 1000 } } })).toBe(90);
  });

  it("says final scoring where no time of the search is left", () => {
    expect([leftText(null, 0), leftText(5, 0), leftText(0, 2), leftText(0, 0)]).toEqual(["", "about 5.0 s left", "finishing what runs", "final scoring"]);
  });

  it("has a speed again at once after a kill took seconds from the count", () => {
    expect(speedOf([{ elapsed: 40 }, { elapsed: 50 }, { elapsed: 12 }, { elapsed: 14 }])).toBeCloseTo(0.5);
  });

  it("has one active time and one speed, whatever the newest node was told", () => {
    const of = (more: object) => activeSeconds({ clock: { elapsed: 20, worked: 22 }, atEnd: true, run: { seconds: 25 }, ...more } as never);
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
    expect(operatorsOf(nodes)).toEqual([{ operator: "improve", steps: 10, scored: 5, failed: 5, duplicate: 0, left: 0, partly: 0, improved: 0, seconds: 10, cost: 5 }]);
  });

  it("counts each program once: what became of them adds up", () => {
    const [row] = operatorsOf([node(1), node(2, { metric: null }), node(3, { is_valid: false, metric: null }), node(4, { is_buggy: true, is_valid: false, metric: null }), node(5, { failure: "timeout", metric: null }), node(6, { is_valid: false, nothing_left: true, metric: null })]);
    expect([row.scored, row.failed, row.duplicate, row.left, row.partly], "a step whose writer has nothing left is no duplicate, as the verdict counts").toEqual([1, 2, 1, 1, 1]);
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
    expect(made.happened.map((event) => feedLine(event as never, made).text)).toEqual(["given: best so far", "given: best so far", "improve: improvement", "improve"]);
    expect(run([["improve", 7, true]]).nodes[0].improves).toBe("first");
  });

  it("weighs numbers by rank and words by group", () => {
    const metrics = [1, 2, 3, 4];
    expect(importance([10, 20, 30, 400], metrics)).toBeCloseTo(1);
    expect(importance([1, 1, 1, 1], metrics)).toBe(0);
    expect(importance(["a", "a", "b", "b"], metrics)).toBeCloseTo(0.7); // 0.8, of which chance alone makes a third
    expect(importance(["a", "b", "c", "a", "b", "c"], [1, 3, 5, 6, 2, 4])).toBe(0); // 0.23, where chance makes 0.4
    expect(importance(["a", "b", "c", "d"], metrics)).toBe(0); // a word of its own for each says nothing
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
