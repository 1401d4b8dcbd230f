// Curves of several runs on one axis of steps.
import type { Curve, Islands } from "../api/types";

type Line = Pick<Curve, "steps" | "best">;

/** All steps at which any curve changes; each curve's value at its own steps, null elsewhere and after its end. */
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
