// What the store says in its own words, said as people say it. Nothing here knows a run: text in, text out.
import { counted } from "./format";

/** Why a run ended. */
export function endText(reason: string): string {
  if (reason === "interrupted") return "stopped by you";
  const [, limit, all] = /^max_(steps|generations): \d+ of (\d+)/.exec(reason) ?? [];
  if (limit === "steps") return all === "1" ? "its one step is done" : `all ${all} steps are done`;
  if (limit) return all === "1" ? "its one generation is played" : `all ${all} generations are played`;
  const [, budget, rest] = /^budget\.(seconds|tokens|usd)(?:=[^ ]*)? is reached[:;]? ?(.*)$/.exec(reason) ?? [];
  if (!budget) return reason;
  return [`its ${BUDGETS[budget]} are used up`, rest.replace("what was running stays open", "what was running then is left undone")].filter(Boolean).join("; ");
}

const BUDGETS: Record<string, string> = { seconds: "seconds", tokens: "tokens", usd: "dollars" };

/** How a run ended, for a line: status and reason without saying one thing twice. */
export function endLine(status: string, reason: string, steps: number): string {
  const why = endText(reason);
  const told = why === "stopped by you" ? why : `${status}: ${why}`;
  return /\bsteps?\b/.test(told) ? told : `${told}, after ${counted(steps, "step")}`;
}

/** A message on a program, without the words of those who built the ladder: runs of before it was written so still hold them. */
export function plainMessage(message: string): string {
  return PLAIN.reduce((text, [from, to]) => text.replace(from, to), message);
}

const PLAIN: readonly (readonly [RegExp, string])[] = [
  [/\bgiven up at the cheap look\b/, "left off after a small part of the cases: too far behind"],
  [/\bnot among the best of its round at the cheap look\b/, "on a small part of the cases not among the best of its round"],
  [/\bon the probe states it decides as (\S+) does\b/, "in sample situations it decides as $1 does"],
];
