// The data of the curves: best so far, and the steps by operator.
import { metric } from "./format";
import { isScored } from "./facts";
import type { NodeFact } from "./facts";

/** What a curve runs along. */
export type Along = "steps" | "seconds";
/** What stands below it. */
export const AXES = { steps: "step", seconds: "active seconds", dollars: "dollars" } as const;

export interface CurveData {
  /** Step of each scored node, or the search's seconds at its verdict: never less than at the one before it. */
  x: number[];
  metrics: number[];
  /** Best so far of the search; null before its first score. */
  best: (number | null)[];
  operators: string[];
  ids: string[];
}

/** True when what a program claims is not what the evaluator measured, beyond the rounding of a printed number. */
export function disagrees(claimed: number | null | undefined, verified: number | null | undefined): boolean {
  if (claimed == null || verified == null) return false;
  return Math.abs(claimed - verified) > 2e-4 * Math.max(Math.abs(verified), 1e-9);
}

/** Baselines that were scored `beside` the search stand at its start, and are none of its line. */
export function curveOf(nodes: readonly NodeFact[], lower: boolean, beside: readonly NodeFact[] = [], along: Along = "steps"): CurveData {
  const data: CurveData = { x: [], metrics: [], best: [], operators: [], ids: [] };
  let top: number | null = null;
  let passed = 0; // a resume after a kill begins with fewer seconds than were told before it
  for (const node of [...beside, ...nodes].filter(isScored)) {
    const value = node.metric as number;
    if (!beside.includes(node) && (top === null || (lower ? value < top : value > top))) top = value;
    passed = Math.max(passed, Math.round(node.elapsed * 100) / 100);
    data.x.push(along === "steps" ? node.step : passed);
    data.metrics.push(value);
    data.best.push(top);
    data.operators.push(node.operator);
    data.ids.push(node.node_id);
  }
  return data;
}
const SIGHT = 8;

/** A range that shows the curve: very bad results must not flatten it. It ends at SIGHT times what parts the best from the middle.
 * Of `also` what is near is shown, and what is ahead of all results; `held` is shown wherever it is. */
export function yRange(metrics: readonly number[], lower: boolean, also: readonly number[] = [], held: readonly number[] = []): [number, number] {
  if (metrics.length === 0) return [0, 1];
  const sorted = [...metrics].sort((a, b) => a - b);
  const at = (q: number) => sorted[Math.min(sorted.length - 1, Math.max(0, Math.round(q * (sorted.length - 1))))];
  const best = lower ? sorted[0] : sorted[sorted.length - 1];
  const middle = at(0.5) !== best ? at(0.5) : (sorted.filter((v) => v !== best).at(lower ? 0 : -1) ?? best);
  const sight = best + SIGHT * (middle - best);
  let low = lower ? best : Math.max(at(0.1), sight);
  let high = lower ? Math.min(at(0.9), sight) : best;
  const span = Math.max(high - low, Math.abs(high) * 1e-6, 1e-12);
  for (const value of also) {
    if (value > high && value < high + span * 2) high = value;
    if (value < low && value > low - span * 2) low = value;
    if (lower ? value < low : value > high) [low, high] = [Math.min(low, value), Math.max(high, value)];
  }
  for (const value of held) [low, high] = [Math.min(low, value), Math.max(high, value)];
  const pad = high > low ? (high - low) * 0.06 : Math.abs(high) * 0.05 || 1;
  return [low - pad, high + pad];
}

/** A range for several lines: each is seen at its newest value. */
export function linesRange(lines: readonly { best: readonly number[] }[], lower: boolean): [number, number] {
  return yRange(lines.flatMap(({ best }) => best), lower, [], lines.flatMap(({ best }) => best.slice(-1)));
}

/** Places whose value lies outside of the range. */
export function beyond(values: readonly (number | null | undefined)[], [low, high]: readonly [number, number]): number[] {
  return values.flatMap((value, i) => (value != null && (value < low || value > high) ? [i] : []));
}

const MOST_TOLD = 6;

/** What a chart holds at an index, a line each: where it is, its name, the value of each series that has one there. */
export function told(chart: { x: readonly number[]; axis: string; range: readonly [number, number]; series: readonly { label: string; kind: string; values: readonly (number | null)[] }[]; nameOf?: (index: number) => string }, at: number): string {
  const values = chart.series.filter(({ kind, values }) => kind !== "edge" && values[at] != null).slice(0, MOST_TOLD);
  const lines = values.map(({ label, values }) => `${label}: ${metric(values[at])}${beyond([values[at]], chart.range).length ? ", off the scale" : ""}`);
  return [[...new Set([`${chart.axis} ${metric(chart.x[at])}`, chart.nameOf?.(at)])].filter(Boolean).join(", "), ...lines].join("\n");
}

/** Heights of labels from the top down: each where it wants to be, or right below the one before it. */
export function stacked(wanted: readonly number[], gap: number, top: number): number[] {
  let free = top;
  return wanted.map((y) => {
    const place = Math.max(y, free);
    free = place + gap;
    return place;
  });
}

/** What a chart asks for; a single step, as several baselines share the one before the first, stands in the middle. */
export function xRange(steps: ArrayLike<number>, first: number | null, last: number | null): [number, number] {
  if (steps.length > 0 && steps[0] === steps[steps.length - 1]) return [steps[0] - 0.5, steps[0] + 0.5];
  return [first ?? 0, last ?? 1];
}

/** The stretch of a chart that was chosen to be seen; null where it shows all of its steps. */
export function zoomOf(steps: ArrayLike<number>, { min, max }: { min?: number | null; max?: number | null }): { min: number; max: number } | null {
  if (steps.length < 2 || min == null || max == null) return null;
  return min > steps[0] || max < steps[steps.length - 1] ? { min, max } : null;
}
