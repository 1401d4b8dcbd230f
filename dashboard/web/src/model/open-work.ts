// What goes on with the programs that have no verdict yet: by the events, and while the run lives by what its process tells of each.
import type { Live, OpenWork } from "../api/types";
import type { OpenNode } from "./facts";
import { counted } from "./format";
import type { RunState } from "./run-state";

export interface Doing {
  node: OpenNode;
  text: string;
  /** When that began, in milliseconds. */
  since: number;
}

/** Operators of programs that no writer is asked for. */
const NOBODY_ASKED: ReadonlySet<string> = new Set(["baseline", "user", "tune", "ensemble"]);
const OUTSIDE = "external/client";
const SAID: Record<OpenWork["state"], string> = { waits_writer: "waits for a writer", written: "", waits_worker: "waits for a worker", runs: "runs", scored: "is being scored", reviewed: "is being reviewed" };
/** What comes first in a list: what holds a worker, then what is nearest to one. */
const ORDER: readonly (OpenWork["state"] | "")[] = ["runs", "scored", "reviewed", "waits_worker", "written", "waits_writer", ""];

/** The open programs, those that run first; of equal ones the longest at it. `now`: null where nobody tells (a replay). */
export function inOrder(open: readonly OpenNode[], writer: string, now: Live | null, at = Date.now()): Doing[] {
  const told = new Map(now?.work?.map((one) => [one.node_id, one]));
  const found = open.map((node) => {
    const live = told.get(node.id);
    return { node, text: doing(node, writer, live, now !== null), since: live ? at - 1000 * live.seconds : node.since, rank: ORDER.indexOf(live?.state ?? "") };
  });
  return found.sort((a, b) => a.rank - b.rank || a.since - b.since);
}

function doing(node: OpenNode, writer: string, live: OpenWork | undefined, isTold: boolean): string {
  if (live && (live.state !== "waits_writer" || isModel(writer))) return SAID[live.state] || asking(writer);
  switch (node.stage) {
    case "select":
      return node.holder ? `with ${node.holder}` : NOBODY_ASKED.has(node.operator) ? "runs, or waits for a worker" : isTold && !live && isModel(writer) ? "waits for a writer" : asking(writer);
    case "execute":
    case "confirm":
      return "scored, told in its turn";
    case "review":
      return "reviewed";
    default:
      return isTold ? "written, waits for its turn" : "runs, or waits for a worker";
  }
}

const isModel = (writer: string): boolean => writer !== "rules" && writer !== OUTSIDE;
const asking = (writer: string): string => (writer === "rules" ? "being written by rules" : writer === OUTSIDE ? "waits for a writer to ask" : `asks ${writer}`);

/** How many workers are busy, and how much waits for one. */
export function workersText({ running = 0, waiting = 0 }: { running?: number; waiting?: number }, games: boolean): string {
  const busy = running === 0 ? "no worker is busy" : counted(running, "worker is busy", "workers are busy");
  const queue = games ? counted(waiting, "game waits", "games wait") : counted(waiting, "job waits", "jobs wait");
  return waiting > 0 ? `${busy}, ${queue} for one` : busy;
}

/** What goes on where no program is open and nobody tells. */
export function idleText(state: RunState): string {
  const played = [...state.arena.games.values()].filter((game) => game.result === null);
  if (played.length) return `${counted(played.length, "game is", "games are")} played${played.some((game) => game.generation === null) ? ", of the final part" : ""}.`;
  if (state.ended) return "The search is over; its files are written.";
  return state.steps === 0 ? "The first programs are being chosen." : "The next programs are being chosen.";
}
