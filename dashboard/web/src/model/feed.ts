// One line for one event.
import type { RunEvent } from "../api/types";
import { metric, words } from "./format";
import { endLine, plainMessage } from "./plain";
import type { RunState } from "./run-state";
import { colourOf, isStep } from "./operators";

export interface FeedLine {
  dot: string;
  node?: string;
  text: string;
  value: string;
  tone: string;
}

export function feedLine(event: RunEvent, state: RunState): FeedLine {
  const line = (text: string, more: Partial<FeedLine> = {}): FeedLine => ({ dot: "", text, value: "", tone: "", ...more });
  switch (event.type) {
    case "run.started":
      return line(`${event.resumed ? "resumed" : "started"}: ${event.problem}, ${event.policy}, written by ${event.writer}`);
    case "run.finished":
      return line(endLine(event.status, event.reason, event.steps), { value: metric(event.best_metric) });
    case "node.committed":
      if (event.failure) return line(`${event.operator}: ${plainMessage(event.message || event.failure)}`, { dot: `op-${colourOf(event.operator)}`, node: event.node_id, value: event.failure, tone: "bad" });
      if (!event.is_valid) return line(`${event.operator}: a duplicate`, { dot: `op-${colourOf(event.operator)}`, node: event.node_id, tone: "muted" });
      if (event.metric == null) return line(`${event.operator}: ${plainMessage(event.message || "looked at, not scored in full")}`, { dot: `op-${colourOf(event.operator)}`, node: event.node_id, tone: "muted" });
      return line(event.is_best ? `${event.operator}: ${isStep(event.operator) ? "best candidate" : "best so far"}` : event.operator, { dot: `op-${colourOf(event.operator)}`, node: event.node_id, value: metric(event.metric), tone: event.is_best ? "good" : "" });
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
      return line(`generation ${event.generation} ended${event.promoted?.length ? `, promoted ${event.promoted.map((id) => state.name(id)).join(", ")}` : ""}`);
    case "strategist.question":
      return line(`question on ${event.category}: ${event.question}`);
    case "builder.completed":
      return line(`built ${event.name}`, { node: event.node_id });
    case "candidate.rejected":
      return line(`refused by ${event.refused_by}: ${event.reason}`, { node: event.node_id, value: event.failure, tone: "bad" });
    case "game.finished":
      return line(`${state.name(event.white)} – ${state.name(event.black)}: ${words(event.termination)} after ${event.plies} plies`, { value: event.result });
    case "note.added":
      return line(`note: ${event.text}`);
    case "node.marked":
      return line(event.mark === "none" ? "freed" : event.mark, { node: event.node_id });
    case "node.stopped":
      return line("stopped by you", { node: event.node_id });
    case "ticket.closed":
      return line(`a ticket ${event.state === "given_up" ? "was given up" : "expired"}: no step is taken`, { tone: "muted" });
    case "warning":
      return line(event.text, { node: event.node_id ?? undefined, value: "warning", tone: "warn" });
    default:
      return line(event.type);
  }
}
