// The list of runs: what is shown of each, searched, sorted and filtered in the browser.
import { type Field, searching } from "./search";
import { sorted } from "./sorted";
import type { LabelsRequest, RunSummary } from "../api/types";
import { day } from "./format";

export type Column = "problem" | "status" | "best" | "final" | "verdict" | "gain" | "steps" | "seconds" | "writer" | "policy" | "seed" | "cost" | "tags" | "started";

/** A score turned so that more is better: by it the best run of every problem comes first, whichever way that problem goes. */
const turned = (line: RunSummary, score: number | null | undefined): number | null => (score == null ? null : line.lower_is_better ? -score : score);

/** What a list may be sorted by: a value of each line, numbers before null. */
export const COLUMNS: Record<Column, { title: string; value: (line: RunSummary) => string | number | null; wide?: boolean }> = {
  problem: { title: "Problem", value: (l) => l.problem ?? "", wide: true },
  status: { title: "Status", value: (l) => l.status ?? "" },
  best: { title: "Best", value: (l) => turned(l, l.best_metric) },
  final: { title: "Final", value: (l) => turned(l, l.final_metric), wide: true },
  verdict: { title: "Verdict", value: (l) => l.verdict_words, wide: true },
  gain: { title: "Gain", value: (l) => l.gain ?? null, wide: true },
  steps: { title: "Steps", value: (l) => l.steps ?? 0, wide: true },
  seconds: { title: "Search time", value: (l) => l.seconds ?? null, wide: true },
  writer: { title: "Writer", value: (l) => l.writer ?? "", wide: true },
  policy: { title: "Policy", value: (l) => l.policy ?? "", wide: true },
  seed: { title: "Seed", value: (l) => l.seed ?? null, wide: true },
  cost: { title: "Cost", value: (l) => l.cost_usd ?? null, wide: true },
  tags: { title: "Tags", value: (l) => (l.tags ?? []).join(" "), wide: true },
  started: { title: "Started", value: (l) => l.started_at ?? "", wide: true },
};
export const NUMBERS: ReadonlySet<Column> = new Set(["best", "final", "gain", "steps", "seconds", "seed", "cost"]);
/** Scores of two problems have nothing in common, units and direction neither: by these, a problem's runs stand together. */
export const PER_PROBLEM: ReadonlySet<Column | "run"> = new Set(["best", "final", "gain"]);
/** Left out while no run of the page has anything there. */
export const MAY_BE_EMPTY: ReadonlySet<Column> = new Set(["tags", "cost"]);
export const AT_FIRST: readonly Column[] = ["problem", "status", "best", "final", "verdict", "gain", "steps", "seconds", "cost", "started"];

export interface Wish {
  text: string;
  show: "listed" | "running" | "archived";
  sort: Column | "run";
  down: boolean;
}

export const SHOWN = ["listed", "running", "archived"] as const;
/** As an address says them: `-started` is the newest first. */
export const ORDERS: readonly string[] = ["run", ...Object.keys(COLUMNS)].flatMap((name) => [name, `-${name}`]);
export const orderText = ({ sort, down }: Pick<Wish, "sort" | "down">): string => `${down ? "-" : ""}${sort}`;
export const orderOf = (text: string): Pick<Wish, "sort" | "down"> => ({ sort: text.replace("-", "") as Wish["sort"], down: text.startsWith("-") });
/** The columns that an address names; what is no column is passed over. */
export const columnsOf = (text: string): Column[] => (Object.keys(COLUMNS) as Column[]).filter((name) => text.split(",").includes(name));

/** As `searching` has it: `tag:x`, `seed:x` ask for one that is x, the other fields for one whose text has x in it. */
export function wanted(lines: readonly RunSummary[], wish: Wish): RunSummary[] {
  const fits = searching(wish.text, FIELDS, partsOf);
  const found = lines.filter((line) => shown(line, wish.show) && fits(line));
  const value = wish.sort === "run" ? (line: RunSummary) => line.title || line.run : COLUMNS[wish.sort].value;
  const ordered = sorted(found, value, wish.down);
  return PER_PROBLEM.has(wish.sort) ? sorted(ordered, COLUMNS.problem.value, false) : ordered;
}

/** What was changed of the labels since `before`: what somebody else changed meanwhile stays as it is. */
export function labelChanges(before: Pick<RunSummary, "title" | "note" | "tags">, said: { title: string; note: string; tags: string }): LabelsRequest {
  const [tags, known] = [said.tags.split(/[\s,]+/).filter(Boolean), before.tags ?? []];
  return {
    ...(said.title !== (before.title ?? "") && { title: said.title }),
    ...(said.note !== (before.note ?? "") && { note: said.note }),
    add: tags.filter((tag) => !known.includes(tag)),
    remove: known.filter((tag) => !tags.includes(tag)),
  };
}

/** The first few runs by the name that is shown, and how many more. */
export function namesText(lines: readonly Pick<RunSummary, "run" | "title">[], most = 3): string {
  const names = lines.slice(0, most).map((line) => line.title || line.run);
  const more = lines.length - names.length;
  return more > 0 ? `${names.join(", ")} and ${more} more` : names.join(", ");
}

function shown(line: RunSummary, show: Wish["show"]): boolean {
  if (show === "running") return line.live;
  return show === "archived" ? line.archived === true : line.archived !== true;
}

/** Texts, in which a word is found, and what is exact: a number, a tag. */
const FIELDS: Record<string, (line: RunSummary) => Field> = {
  tag: (l) => l.tags ?? [], status: (l) => l.status, problem: (l) => l.problem, writer: (l) => l.writer, policy: (l) => l.policy, seed: (l) => l.seed, verdict: (l) => l.verdict_words,
}; // prettier-ignore

const partsOf = (l: RunSummary) => [l.run, l.title, l.note, l.problem, l.writer, l.policy, l.status, l.verdict_words, day(l.started_at), ...(l.tags ?? [])];
