// What a sweep's table says, in words.
import { metric } from "./format";

/** A setting without the sections of its keys: `policy=mcts`; `the defaults` where nothing varies. */
export function settingName(words: readonly string[]): string {
  return words.map((word) => word.slice(word.slice(0, word.indexOf("=")).lastIndexOf(".") + 1)).join(" ") || "the defaults";
}

/** A difference paired by seed, its 95 % interval, and what that allows to be said. */
export function gainText(gain: number | null | undefined, interval: readonly [number, number] | null | undefined, verdict: string): string {
  if (gain == null) return "–";
  const signed = (value: number) => (value > 0 ? "+" : "") + metric(value, 3);
  return `${signed(gain)}${interval ? ` (${signed(interval[0])} … ${signed(interval[1])})` : ""}${verdict ? `: ${verdict}` : ""}`;
}
