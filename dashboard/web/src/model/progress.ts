// How a search goes: speed and time left, failures over time, what each operator costs and brings.
import { seconds } from "./format";
import { groupsOf } from "./groups";
import { isStep } from "./operators";
import type { NodeFact } from "./facts";
import type { RunState } from "./run-state";

const RECENT = 120;

/** Steps a second over the newest nodes; null before there are two. */
export function speedOf(nodes: readonly Pick<NodeFact, "elapsed">[]): number | null {
  const last = nodes.length - 1;
  let first = last;
  while (first > 0 && last - first < RECENT && nodes[first - 1].elapsed <= nodes[first].elapsed) first -= 1; // back to where a kill took seconds
  return first < last && nodes[last].elapsed > nodes[first].elapsed ? (last - first) / (nodes[last].elapsed - nodes[first].elapsed) : null;
}

/** Seconds that the search was at work, resumes added up: at its end the run's own count, else up to its newest event. */
export function activeSeconds(state: Pick<RunState, "clock" | "atEnd" | "run">): number {
  return state.atEnd ? Math.max(state.clock.elapsed, state.run?.seconds ?? 0) : state.clock.worked;
}

/** Steps a second over the whole search; null before there are some. */
export function meanSpeed(steps: number, seconds: number): number | null {
  return steps > 0 && seconds > 0 ? steps / seconds : null;
}

/** Seconds to the first limit that will be reached at this pace; null while one whose pace is not known may come first. */
export function secondsLeft(state: Pick<RunState, "started" | "steps" | "clock" | "nodes" | "totals" | "generationsDone">): number | null {
  const speed = speedOf(state.nodes);
  const { max_steps: most, max_generations: generations, budget } = state.started ?? {};
  const done = state.generationsDone;
  const left: number[] = [];
  if (most != null) left.push(speed ? (most - state.steps) / speed : NaN);
  if (generations != null) left.push(done ? ((generations - done) * Math.max(state.clock.worked, state.clock.whole)) / done : NaN);
  if (budget?.seconds != null) left.push(budget.seconds - state.clock.worked);
  const { cost_usd: calls, prompt_tokens: prompt, completion_tokens: completion } = state.totals;
  const atPaceOf = (spent: number, limit: number | null | undefined) => {
    if (limit != null && spent > 0) left.push(((limit - spent) / spent) * state.clock.worked);
  };
  atPaceOf((calls ?? 0) + ((budget?.usd_per_hour ?? 0) * state.clock.worked) / 3600, budget?.usd); // the machines count too
  atPaceOf((prompt ?? 0) + (completion ?? 0), budget?.tokens);
  const least = Math.min(...left);
  return Number.isFinite(least) ? Math.max(0, least) : null;
}

/** How long the search still takes, in words; at its limit what is open is finished, and then the final part is scored. */
export function leftText(left: number | null, open: number): string {
  if (left === null) return "";
  if (left >= 0.05) return `about ${seconds(left)} left`;
  return open ? "finishing what runs" : "final scoring";
}

export interface Shares {
  steps: number[];
  failed: number[];
  duplicate: number[];
}

/** Of each stretch of the search, at its first step, the share that failed and the share of duplicates, in per cent;
 * once more at the newest step, where the last stretch ends. A step left over at the end belongs to the stretch before it. */
export function sharesOf(nodes: readonly NodeFact[], stretches = 40): Shares {
  const made = nodes.filter((node) => isStep(node.operator));
  const size = Math.max(5, Math.ceil(made.length / stretches));
  const shares: Shares = { steps: [], failed: [], duplicate: [] };
  for (let from = 0, to = 0; from < made.length; from = to) {
    to = made.length - from - size > 1 ? from + size : made.length;
    const part = made.slice(from, to);
    const ends = to === made.length && part.length > 1 ? [part[0], part[part.length - 1]] : [part[0]];
    for (const { step } of ends) {
      shares.steps.push(step);
      shares.failed.push(shareOf(part, "failed"));
      shares.duplicate.push(shareOf(part, "duplicate"));
    }
  }
  return shares;
}

const shareOf = (part: readonly NodeFact[], what: Outcome): number => (100 * part.filter((node) => outcomeOf(node) === what).length) / part.length;

/** What became of a step, one of these each; `partly`: valid, but the evaluator gave it up before it had a score; `left`: no
 * program, since its writer says that nothing is left to gain. */
export type Outcome = "scored" | "failed" | "duplicate" | "left" | "partly";

export function outcomeOf(node: Pick<NodeFact, "is_buggy" | "failure" | "is_valid" | "nothing_left" | "metric">): Outcome {
  if (node.is_buggy || node.failure) return "failed";
  if (!node.is_valid) return node.nothing_left ? "left" : "duplicate";
  return node.metric == null ? "partly" : "scored";
}

export interface OperatorRow {
  operator: string;
  steps: number;
  /** These five add up to the steps. */
  scored: number;
  failed: number;
  duplicate: number;
  left: number;
  partly: number;
  /** As the report counts them: `NodeFact.improves`. */
  improved: number;
  seconds: number;
  cost: number | null;
}

export function operatorsOf(nodes: readonly NodeFact[]): OperatorRow[] {
  const rows = new Map<string, OperatorRow>();
  for (const node of nodes) {
    const row = rows.get(node.operator) ?? { operator: node.operator, steps: 0, scored: 0, failed: 0, duplicate: 0, left: 0, partly: 0, improved: 0, seconds: 0, cost: null };
    rows.set(node.operator, row);
    row.steps += 1;
    row[outcomeOf(node)] += 1;
    if (node.improves === "better") row.improved += 1;
    row.seconds += node.exec_time;
    if (node.cost_usd != null) row.cost = (row.cost ?? 0) + node.cost_usd;
  }
  return [...rows.values()].sort((a, b) => b.steps - a.steps);
}

/** Dollars spent up to each node, where any has a price. */
export function spentOf(nodes: readonly NodeFact[]): { steps: number[]; spent: number[] } | null {
  if (!nodes.some((node) => node.cost_usd)) return null;
  let sum = 0;
  return { steps: nodes.map((node) => node.step), spent: nodes.map((node) => (sum += node.cost_usd ?? 0)) };
}

export type Value = number | string | null;

/** How much of the metric's spread a name explains, 0 … 1: squared rank correlation of numbers, variance between groups of words,
 * less what chance makes of them (Kelley's ε²): five words among ten programs go with four ninths of it by themselves. */
export function importance(values: readonly Value[], metrics: readonly number[]): number {
  const pairs = values.map((value, i) => [value, metrics[i]] as const).filter(([value]) => value !== null);
  if (pairs.length < 3) return 0;
  const ranks = ranked(pairs.map(([, metric]) => metric));
  if (pairs.every(([value]) => typeof value === "number")) return beyondChance(correlation(ranked(pairs.map(([value]) => value as number)), ranks) ** 2, 1, pairs.length);
  const groups = groupsOf(pairs.keys(), (i) => String(pairs[i][0]));
  if (groups.size > pairs.length / 2) return 0;
  const mean = average(ranks);
  const between = [...groups.values()].reduce((sum, group) => sum + group.length * (average(group.map((i) => ranks[i])) - mean) ** 2, 0);
  const all = ranks.reduce((sum, rank) => sum + (rank - mean) ** 2, 0);
  return all ? beyondChance(between / all, groups.size - 1, pairs.length) : 0;
}

function beyondChance(share: number, degrees: number, count: number): number {
  const chance = degrees / (count - 1);
  return chance < 1 ? Math.max(0, (share - chance) / (1 - chance)) : 0;
}

const average = (values: readonly number[]) => values.reduce((sum, v) => sum + v, 0) / Math.max(1, values.length);

/** Equal values share their middle rank. */
function ranked(values: readonly number[]): number[] {
  const order = values.map((_, i) => i).sort((a, b) => values[a] - values[b]);
  const ranks = new Array<number>(values.length);
  for (let i = 0; i < order.length; ) {
    let end = i;
    while (end + 1 < order.length && values[order[end + 1]] === values[order[i]]) end += 1;
    for (let k = i; k <= end; k += 1) ranks[order[k]] = (i + end) / 2;
    i = end + 1;
  }
  return ranks;
}

function correlation(a: readonly number[], b: readonly number[]): number {
  const [ma, mb] = [average(a), average(b)];
  let [ab, aa, bb] = [0, 0, 0];
  a.forEach((x, i) => {
    ab += (x - ma) * (b[i] - mb);
    aa += (x - ma) ** 2;
    bb += (b[i] - mb) ** 2;
  });
  return aa && bb ? ab / Math.sqrt(aa * bb) : 0;
}
