// Which point of a chart the keys lead to.

/** Key → how many points further; of the others the first or the last. */
const STEPS: Record<string, number> = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 10, PageDown: -10, Home: -Infinity, End: Infinity };

/** Places at which a series has a value. */
export function places(series: readonly { kind: string; values: readonly (number | null)[] }[], size: number): number[] {
  const shown = series.filter(({ kind }) => kind !== "edge");
  return Array.from({ length: size }, (_, i) => i).filter((i) => shown.some(({ values }) => values[i] != null));
}

/** The place that a key leads to from `at` (null: none yet); null where the key leads nowhere. */
export function placeAfter(key: string, among: readonly number[], at: number | null): number | null {
  const step = STEPS[key];
  if (step === undefined || among.length === 0) return null;
  const from = at === null ? -1 : among.indexOf(at);
  if (from < 0 && Number.isFinite(step)) return among[step > 0 ? 0 : among.length - 1];
  return among[Math.min(among.length - 1, Math.max(0, from + step))];
}
