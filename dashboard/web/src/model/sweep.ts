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
  return new Map(lines.flatMap((line) => line.runs.map(({ run, setting, seed }): [string, OfSweep] => [run, { sweep: line.name, setting: settingName(setting), seed }])));
}

/** All steps of it are drawn without knowing what the search has found. */
const CONTROL = /^search\.control=1(\.0)?$/;

/** A setting without the sections of its keys: `policy=mcts`; `the defaults` where nothing varies. */
export function settingName(words: readonly string[]): string {
  return words.map((word) => (CONTROL.test(word) ? "independent draws" : word.slice(word.slice(0, word.indexOf("=")).lastIndexOf(".") + 1))).join(" ") || "the defaults";
}

/** A difference paired by seed, its 95 % interval, and what that allows to be said. */
export function gainText(gain: number | null | undefined, interval: readonly [number, number] | null | undefined, verdict: string): string {
  if (gain == null) return "–";
  const signed = (value: number) => (value > 0 ? "+" : "") + metric(value, 3);
  return `${signed(gain)}${interval ? ` (${signed(interval[0])} … ${signed(interval[1])})` : ""}${verdict ? `: ${verdict}` : ""}`;
}
