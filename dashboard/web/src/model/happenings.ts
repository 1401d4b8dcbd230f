// The feed's material: what happened in a run, oldest first; games are one thing that goes on while more of them are played.
import type { RunEvent } from "../api/types";
import { isGate } from "./arena-state";
import type { GameState, Happened, Played } from "./facts";

const KEPT = 300;
const TOLD = new Set([
  "run.started", "run.finished", "node.committed", "baseline.scored", "final.scored", "island.migrated", "island.reset",
  "generation.started", "generation.finished", "strategist.question", "candidate.rejected",
  "note.added", "node.marked", "ticket.closed", "warning",
]); // prettier-ignore

export class Happenings {
  all: Happened[] = [];

  /** Events of some kinds stand in the feed; what no event says (`Died`, `Played`) does. */
  tell(what: Happened): void {
    this.all.push(what);
    if (this.all.length > KEPT * 2) this.all = this.all.slice(-KEPT);
  }

  event(event: RunEvent): void {
    if (TOLD.has(event.type)) this.tell(event);
  }

  /** A game joins those that are played for the same thing, and they are the newest thing that happened. */
  game(game: GameState, at: string | undefined): void {
    const of = game.generation === null ? "final" : `${isGate(game) ? "gate" : "round robin"} ${game.generation}`;
    const place = this.all.findLastIndex((what) => what.type === "games" && what.of === of);
    const known = place < 0 ? undefined : (this.all.splice(place, 1)[0] as Played);
    const games = known?.games ?? [];
    games.push(game);
    this.tell({ type: "games", of, games, seq: game.seq, at });
  }
}
