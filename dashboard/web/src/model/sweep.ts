// What a sweep's table says, in words.
import type { SweepLine } from "../api/types";
import { metric } from "./format";

export interface OfSweep {
  sweep: string;
  setting: string;
  seed: number;
}

/** Which sweep a run belongs to. */
export function ofSweeps(lines: readonly SweepLine[]): Map<string, OfSweep> {
  return new Map(lines.flatMap((line) => line.runs.map(({ run, name, seed }): [string, OfSweep] => [run, { sweep: line.name, setting: name, seed }])));
}

/** A difference paired by seed, its 95 % interval, and what that allows to be said: in as many digits as in the terminal. */
export function gainText(gain: number | null | undefined, interval: readonly [number, number] | null | undefined, verdict: string): string {
  if (gain == null) return "–";
  const signed = (value: number) => (value > 0 ? "+" : "") + metric(value, 4);
  return `${signed(gain)}${interval ? ` (${interval.map(signed).join(" … ")})` : ""}${verdict ? `: ${verdict}` : ""}`;
}
