// One line for one event; one for all games that were played for one thing, with its matches.
import type { RunEvent } from "../api/types";
import { points } from "./arena";
import { counted, metric } from "./format";
import { endLine, plainMessage } from "./plain";
import type { Died, Played } from "./facts";
import type { RunState } from "./run-state";
import { colourOf, isStep } from "./operators";

export interface FeedLine {
  dot: string;
  node?: string;
  text: string;
  value: string;
  tone: string;
}

/** All games of two engines, as points of each. */
export interface Pairing {
  of: [string, string];
  points: [number, number];
  games: number;
  /** What of the run they belong to; null: the final part. */
  generation: number | null;
}

/** What they were played for, and how many they are so far. */
export function gamesText({ of, games }: Played): string {
  const [what, generation] = [of.replace(/ \d+$/, ""), games[0].generation];
  const many = counted(games.length, "game");
  if (generation === null) return `${many} of the final part`;
  return `${many}, ${what === "gate" ? "gate" : what} of ${generation === 0 ? "the starting engines" : `generation ${generation}`}`;
}

/** The matches that they make up, those of most games first. */
export function pairings({ games }: Played): Pairing[] {
  const found = new Map<string, Pairing>();
  for (const game of games) {
    const pair = [game.white, game.black].sort() as [string, string];
    const row = found.get(pair.join()) ?? { of: pair, points: [0, 0], games: 0, generation: game.generation };
    found.set(pair.join(), row);
    const [white, black] = points(game.result ?? "");
    const turned = pair[0] !== game.white;
    row.points[0] += turned ? black : white;
    row.points[1] += turned ? white : black;
    row.games += 1;
  }
  return [...found.values()].sort((a, b) => b.games - a.games);
}

/** `4½`. */
export const half = (points: number): string => `${Math.floor(points) || (points % 1 ? "" : 0)}${points % 1 ? "½" : ""}`;

export function feedLine(event: RunEvent | Died, state: RunState): FeedLine {
  const line = (text: string, more: Partial<FeedLine> = {}): FeedLine => ({ dot: "", text, value: "", tone: "", ...more });
  switch (event.type) {
    case "run.started":
      return line(`${event.resumed ? "resumed" : "started"}: ${event.problem}, ${event.policy}, written by ${event.writer}`);
    case "died":
      return event.waits ? line("waits for the next step by hand") : line("the process ended without a word", { value: "interrupted", tone: "warn" });
    case "run.finished":
      return line(endLine(event.status, event.reason, event.steps), { value: state.hasArena ? "" : metric(event.best_metric) });
    case "node.committed":
      if (event.failure) return line(`${event.operator}: ${plainMessage(event.message || event.failure)}`, { dot: `op-${colourOf(event.operator)}`, node: event.node_id, value: event.failure, tone: "bad" });
      if (event.nothing_left) return line(`${event.operator}: ${plainMessage(event.message)}`, { dot: `op-${colourOf(event.operator)}`, node: event.node_id, tone: "muted" });
      if (!event.is_valid) return line(`${event.operator}: a duplicate`, { dot: `op-${colourOf(event.operator)}`, node: event.node_id, tone: "muted" });
      if (event.metric == null) return line(`${event.operator}: ${plainMessage(event.message || "looked at, not scored in full")}`, { dot: `op-${colourOf(event.operator)}`, node: event.node_id, tone: "muted" });
      return line(scoredText(event, state), { dot: `op-${colourOf(event.operator)}`, node: event.node_id, value: metric(event.metric), tone: event.is_best ? "good" : "" });
    case "baseline.scored":
      return line(event.own ? "your program" : `baseline ${event.name}`, { value: event.failure ?? metric(event.metric) });
    case "final.scored":
      if (event.metric == null) return line("chosen; this problem has no final part", { node: event.node_id });
      return line("the final part was opened", { node: event.node_id, value: metric(event.metric) });
    case "island.migrated":
      return line(`${event.moves.length} moved between islands after generation ${event.generation}`);
    case "island.reset":
      return line(`island ${event.island} starts again`);
    case "generation.started":
      return line(`generation ${event.generation}${event.champion ? `, champion ${state.name(event.champion)}` : ""}`);
    case "generation.finished":
      return line(`generation ${event.generation} ended${event.promoted?.length ? `, champion ${event.promoted.map((id) => state.name(id)).join(", runner-up ")}` : ""}`);
    case "strategist.question":
      return line(`question on ${event.category}: ${event.question}`);
    case "candidate.rejected":
      return line(`refused by ${event.refused_by}: ${event.reason}`, { node: event.node_id, value: event.failure, tone: "bad" });
    case "note.added":
      return line(`note: ${event.text}`);
    case "node.marked":
      return line(event.mark === "none" ? "freed" : event.mark, { node: event.node_id });
    case "ticket.closed":
      return line(`a ticket ${event.state === "given_up" ? "was given up" : "expired"}: no step is taken`, { tone: "muted" });
    case "warning":
      return line(event.text, { node: event.node_id ?? undefined, value: "warning", tone: "warn" });
    default:
      return line(event.type);
  }
}

/** What a score was beside all before it; an engine's is its first rating, which later games change. */
function scoredText({ node_id, operator, is_best }: Extract<RunEvent, { type: "node.committed" }>, state: RunState): string {
  const improves = state.byId.get(node_id)?.improves;
  if (state.hasArena) return `${operator}: ${improves ? "takes the title, " : ""}first rating`;
  if (improves) return `${operator}: ${improves === "first" ? "the first score" : "improvement"}`;
  return is_best && !isStep(operator) ? `${operator}: best so far` : operator;
}
