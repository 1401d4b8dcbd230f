// Runs side by side: curves on one axis, what their configurations differ in, the mean over seeds.
import type { Curve, Islands, RunDetail } from "../api/types";
import { flatten } from "./flatten";
import { groupsOf } from "./groups";

type Line = Pick<Curve, "steps" | "best">;
export type Axis = "steps" | "seconds" | "dollars";

/** All places at which any curve changes; each curve's value at its own places, null elsewhere and after its end. */
export function mergeCurves(curves: readonly Line[]): { steps: number[]; series: (number | null)[][] } {
  const steps = [...new Set(curves.flatMap((curve) => curve.steps))].sort((a, b) => a - b);
  const place = new Map(steps.map((step, i) => [step, i]));
  const series = curves.map((curve) => {
    const values = new Array<number | null>(steps.length).fill(null);
    curve.steps.forEach((step, i) => {
      values[place.get(step) as number] = curve.best[i];
    });
    return values;
  });
  return { steps, series };
}

/** What a curve lies over: one before it with which it shares a stretch, or all. */
export interface Over {
  curve: number;
  whole: boolean;
}

/** For each curve those before it that it would hide. A curve holds its value up to its next step. */
export function hidden(curves: readonly Line[]): Over[][] {
  const steps = [...new Set(curves.flatMap((curve) => curve.steps))].sort((a, b) => a - b);
  const heights = curves.map((curve) => held(curve, steps));
  return curves.map((_, i) =>
    curves.slice(0, i).flatMap((_, j): Over[] => {
      const [one, other] = [heights[i], heights[j]];
      const meets = (k: number) => one[k] !== null && one[k] === other[k];
      const whole = one.some((height) => height !== null) && steps.every((_, k) => one[k] === other[k]);
      const stretch = steps.some((_, k) => meets(k) && one[k + 1] != null && other[k + 1] != null);
      return whole || stretch ? [{ curve: j, whole }] : [];
    }),
  );
}

/** Dashes with gaps in which each line below shows; none where nothing lies below. */
export const dashOf = (over: readonly Over[]): number[] | undefined => (over.length ? [7, 7 * over.length] : undefined);

/** Why a line is dashed: what lies below it. */
export function overText(over: readonly Over[], names: readonly string[]): string {
  const told = (whole: boolean, text: string) => { const of = over.filter((one) => one.whole === whole).map(({ curve }) => names[curve]); return of.length ? `, ${text} ${of.join(", ")}` : ""; };
  return told(true, "the same as") + told(false, "in part the same as");
}

/** A curve's value at each of these steps, null before its first and after its last. */
function held(curve: Line, steps: readonly number[]): (number | null)[] {
  let place = -1;
  return steps.map((step) => {
    while (place + 1 < curve.steps.length && curve.steps[place + 1] <= step) place += 1;
    return place < 0 || step > curve.steps[curve.steps.length - 1] ? null : curve.best[place];
  });
}

/** A curve by another measure than steps. */
export function along(curve: Curve, axis: Axis): Line {
  return { steps: curve[axis], best: curve.best };
}

/** The best of each island: the last value of each generation, and on to the newest one. */
export function islandCurves(islands: Islands["islands"], newest: number): Line[] {
  return islands.map(({ history }) => {
    const best = new Map<number, number>();
    for (const [when, value] of history) best.set(when, value);
    const last = history.at(-1);
    if (last && newest > last[0]) best.set(newest, last[1]);
    return { steps: [...best.keys()], best: [...best.values()] };
  });
}

/** Beginnings of keys by which no search is another one: where a run lies, and what is said of it to whom. */
const AROUND_IT = ["project.dir", "logging.", "tracking.", "notify.", "dashboard."];
const settingsOf = (run: RunDetail): [string, string][] => flatten(run.config ?? {}).filter(([key]) => !AROUND_IT.some((start) => key.startsWith(start)));

/** Keys whose values are not the same in all runs, with the value of each; '' where a run has none. A policy's options are compared between the runs that use it. */
export function differences(runs: readonly RunDetail[]): [string, string[]][] {
  const flat = runs.map((run) => new Map(settingsOf(run)));
  const uses = (map: Map<string, string>, key: string) => { const policy = policyOf(key); return policy === null || policy === map.get("search.policy"); };
  const keys = [...new Set(flat.flatMap((map) => [...map.keys()]))].sort();
  const differ = (key: string) => new Set(flat.filter((map) => uses(map, key)).map((map) => map.get(key) ?? "")).size > 1;
  return keys.filter(differ).map((key) => [key, flat.map((map) => (uses(map, key) && map.get(key)) || "")]);
}

/** Of which policy a key is an option; null for any other key. */
function policyOf(key: string): string | null {
  const [section, name, option] = key.split(".");
  return section === "search" && option && name !== "selectors" ? name : null;
}

const SEED = "project.seed";

/** Runs that differ in nothing but their seed, as indices; a run alone is a group of one. */
export function bySetup(runs: readonly RunDetail[]): number[][] {
  const setups = runs.map((run) => JSON.stringify([run.problem, settingsOf(run).filter(([key]) => key !== SEED && key !== "project.name")]));
  return [...groupsOf(runs.keys(), (i) => setups[i]).values()];
}

export interface Band {
  steps: number[];
  mean: number[];
  low: number[];
  high: number[];
}

/** Mean and standard deviation of the curves that have a value, from where all of them have one to where the first one ends. */
export function bandOf(all: readonly Line[]): Band {
  const curves = all.filter(({ steps }) => steps.length > 0);
  const from = Math.max(...curves.map((c) => c.steps[0]));
  const to = Math.min(...curves.map((c) => c.steps[c.steps.length - 1]));
  const steps = mergeCurves(curves).steps.filter((step) => step >= from && step <= to);
  const values = steps.map((step) => curves.map((curve) => valueAt(curve, step)));
  const mean = values.map((all) => all.reduce((sum, v) => sum + v, 0) / all.length);
  const spread = values.map((all, i) => Math.sqrt(all.reduce((sum, v) => sum + (v - mean[i]) ** 2, 0) / Math.max(1, all.length - 1)));
  return { steps, mean, low: mean.map((m, i) => m - spread[i]), high: mean.map((m, i) => m + spread[i]) };
}

function valueAt(curve: Line, step: number): number {
  let low = 0;
  let high = curve.steps.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (curve.steps[middle] <= step) low = middle;
    else high = middle - 1;
  }
  return curve.best[low];
}
