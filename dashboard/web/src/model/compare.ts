// Curves of several runs on one axis of steps.
import type { Curve } from "../api/types";

/** All steps at which any curve changes; each curve's value at its own steps, null elsewhere and after its end. */
export function mergeCurves(curves: readonly Curve[]): { steps: number[]; series: (number | null)[][] } {
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
