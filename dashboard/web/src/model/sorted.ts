// Rows of a table by the value of a column.

export type Key = string | number | null;

/** A new list; what is not known stands last, whichever way, and equal ones keep their order. */
export function sorted<T>(lines: readonly T[], value: (line: T) => Key, down: boolean): T[] {
  const sign = down ? -1 : 1;
  return lines.map((line, i) => ({ line, i, key: value(line) })).sort((a, b) => order(a.key, b.key, sign) || a.i - b.i).map(({ line }) => line);
}

function order(a: Key, b: Key, sign: number): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
  return sign * (typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b)));
}
