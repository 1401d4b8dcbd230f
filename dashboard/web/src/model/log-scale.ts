// A logarithmic axis: where it tells more than a linear one, how far it reaches, where its ticks stand.

/** Times that the largest score is the smallest, from which ratios are worth an axis. */
const WORTH = 3;
/** Ticks from which only some are shown. */
const MANY = 9;
const PAD = 1.06;

/** True where all scores are above 0 and far enough apart. */
export function hasRatios(values: readonly (number | null)[]): boolean {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) if (value != null) [low, high] = [Math.min(low, value), Math.max(high, value)];
  return low > 0 && high >= WORTH * low;
}

/** All scores, and a little room at both ends; of `also` what is above 0. */
export function logRange(values: readonly (number | null)[], also: readonly number[] = []): [number, number] {
  let [low, high] = [Infinity, -Infinity];
  for (const value of [...values, ...also]) if (value != null && value > 0) [low, high] = [Math.min(low, value), Math.max(high, value)];
  return low <= high ? [low / PAD, high * PAD] : [1, 10];
}

/** Ticks at 1 to 9 times the powers of ten; where these are too many at 1, 2 and 5, or at the powers alone. */
export function logTicks(low: number, high: number): number[] {
  const powers = Array.from({ length: Math.floor(Math.log10(high)) - Math.floor(Math.log10(low)) + 1 }, (_, i) => i + Math.floor(Math.log10(low)));
  const at = (times: readonly number[]) => powers.flatMap((power) => times.map((n) => Number(`${n}e${power}`))).filter((tick) => tick >= low && tick <= high);
  const choices = [[1, 2, 3, 4, 5, 6, 7, 8, 9], [1, 2, 5], [1]].map(at);
  return choices.find((ticks) => ticks.length <= MANY) ?? choices[2];
}
