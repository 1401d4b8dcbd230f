// Why a node was made, in sentences, from what its policy recorded. What is not known here stays in the JSON below them.
import { counted, metric } from "./format";

type Why = Record<string, unknown>;

/** `**id**`-free text; ids of nodes stand whole, so that the view can make links of them. */
export function sentences(operator: string, why: Why, lowerIsBetter = false): string[] {
  const told: string[] = [];
  const rule = why.rule === BEST_NODE ? bestNode(why.candidates, lowerIsBetter) : typeof why.rule === "string" ? (RULES[why.rule] ?? plain(why.rule)) : "";
  if (rule) told.push(`${capital(rule)}.`);
  const pool = number(why.pool) ?? (Array.isArray(why.candidates) ? why.candidates.length : null);
  const candidates = listed(why.candidates);
  if (candidates.length > 1) told.push(`It chose among ${pool ?? candidates.length}: ${candidates.slice(0, 6).join(", ")}${candidates.length > 6 ? " and others" : ""}.`);
  else if (candidates.length === 1) told.push(`There was one to choose from: ${candidates[0]}.`);
  else if (pool) told.push(`${counted(pool, "program")} could have been chosen.`);
  const draw = number(why.draw);
  for (const { name, operator: its, done, kept, missed } of CHANCES) {
    const chance = number(why[name]);
    const drawn = name === "debug_prob" ? (number(why.debug_draw) ?? draw) : draw;
    if (chance === null || drawn === null) continue;
    const below = drawn < chance;
    const digits = metric(drawn, 2) === metric(chance, 2) ? 4 : 2;
    told.push(`The draw was ${metric(drawn, digits)}, ${below ? "" : "not "}below ${metric(chance, 2)}: ${!below ? kept : operator === its ? done : missed}.`);
  }
  if (number(why.exploration) !== null) told.push(`Exploration is weighted by ${metric(number(why.exploration), 3)}.`);
  if (number(why.question) !== null) told.push(`It answers question ${(number(why.question) as number) + 1} of the generation.`);
  if (why.control === true) told.push("It is a control draw: written without knowing what the search has found.");
  return told.length ? told : [operator ? `Made by ${operator}; the policy recorded nothing more.` : ""];
}

const RULES: Record<string, string> = {
  TournamentSelector: "the best of a few that were drawn at random became the parent (tournament)",
  RankSelector: "parents were drawn by their rank: the better, the likelier",
  SoftmaxSelector: "parents were drawn by their score: the better, the likelier (softmax)",
  "fresh blood": "a new program from nothing was due, so that the island does not narrow",
  "tune is due": "after some steps without progress the numbers of a good program are searched",
  "champion and runner-up of the last tournament": "the champion and the runner-up of the last tournament became the parents",
  "draft: no node has a score": "no program had a score yet, so a new one was drafted",
  "mcts: room for a draft": "the tree had room for one more new program",
  "mcts: highest UCT on the way down": "on the way down the tree the branch with the highest bound (UCT: mean reward and what is little explored) was followed",
};

const BEST_NODE = "improve phase: the best node";

/** The first candidate became the parent: the best that was known then, or the steadiest of those that were about as good. */
function bestNode(candidates: unknown, lowerIsBetter: boolean): string {
  const scores = (Array.isArray(candidates) ? candidates : []).map((entry) => number((entry as { metric?: unknown } | null)?.metric));
  const [first, ...others] = scores.filter((score) => score !== null);
  const best = first === undefined || others.every((other) => (lowerIsBetter ? first <= other : first >= other));
  return best ? "the best program that was known when it was chosen became the parent" : "of the best programs known when it was chosen the steadiest became the parent, the first one below";
}

/** What a draw decides: below the chance the operator follows, where there is something that it can be applied to. */
const CHANCES = [
  { name: "debug_prob", operator: "debug", done: "a failed program was repaired", kept: "no failed program was to be repaired", missed: "a repair was due, but no failed program was worth one" },
  { name: "merge_prob", operator: "merge", done: "two programs were merged", kept: "no two programs were to be merged", missed: "a merge was due, but no second program fitted" },
] as const;

/** `draft phase: 2 of 5 drafts` and the like, read aloud. */
function plain(rule: string): string {
  return rule.replace(/: draw < \w+/, ", since the draw fell that way").replaceAll("_", " ").replace(/([a-z])([A-Z])/g, "$1 $2");
}

function listed(value: unknown): string[] {
  if (!Array.isArray(value)) return [];
  return value.map((entry) => {
    if (typeof entry === "string") return entry;
    const { node_id: id, metric: score, failure, uct } = (entry ?? {}) as { node_id?: string; metric?: number | null; failure?: string | null; uct?: number };
    const notes = [typeof score === "number" ? metric(score, 5) : "", failure ?? "", typeof uct === "number" ? `UCT ${metric(uct, 3)}` : ""].filter(Boolean);
    return `${id ?? "?"}${notes.length ? ` (${notes.join(", ")})` : ""}`;
  });
}

const number = (value: unknown): number | null => (typeof value === "number" && Number.isFinite(value) ? value : null);
const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
