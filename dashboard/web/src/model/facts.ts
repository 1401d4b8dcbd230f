// What is known of a run, as its views read it: nodes, games, ratings, generations, and what stands in the feed.
import type { Committed, EventOf, RunEvent } from "../api/types";

/** `metric`: of an engine its newest rating, `first` the one that it got first.
 * `step`: steps up to it, where it stands on an axis; `number`: which step it is, as every surface says, null for what is none. */
export type NodeFact = Committed & { index: number; number: number | null; mark?: "pinned" | "banned"; improves?: Improvement; first?: number | null };

/** What a score was beside all before it: the first one, or an improvement, as `reports/improvements.py` counts them. */
export type Improvement = "first" | "better";

export interface OpenNode {
  id: string;
  operator: string;
  parents: string[];
  island: number | null;
  stage: string;
  /** When its last stage was done, in milliseconds. */
  since: number;
  /** Who holds its ticket, in its own words; absent where nobody outside writes. */
  holder?: string;
}

export interface GameState {
  id: string;
  game: string;
  white: string;
  black: string;
  fen: string;
  last: string;
  san: string;
  ply: number;
  clock: readonly (number | null)[];
  result: string | null;
  termination: string | null;
  /** Of the round robin that it belongs to; null: a game of the final part. */
  generation: number | null;
  seq: number;
}

export interface Rating {
  node_id: string;
  name: string;
  elo: number;
  low: number;
  high: number;
  wins: number;
  draws: number;
  losses: number;
  score: number;
}

/** Games that were played for one thing: the round robin or the gate of a generation, or the final part. */
export interface Played {
  type: "games";
  /** `gate 2`, `round robin 2`, `final`. */
  of: string;
  games: GameState[];
  /** Of the newest of them. */
  seq: number;
  at?: string;
}

/** A process of the run was gone after this event: no `run.finished` came of it. No event says so, it stands between two. */
export interface Died {
  type: "died";
  seq: number;
  at: string;
  /** It took a step by hand, and the run waits for the next: nobody missed its word. */
  waits: boolean;
}

export type Happened = RunEvent | Played | Died;

export interface GenerationState {
  generation: number;
  champion: string | null;
  ratings: Rating[];
  promoted: string[];
  decision: Record<string, unknown>;
  questions: EventOf<"strategist.question">[];
  done: boolean;
}

/** A baseline with its score: run beside the search, or a first node of it. */
export interface Reference {
  id: string;
  name: string;
  metric: number;
}

/** A valid program that got a number. */
export function isScored(node: { is_valid: boolean; is_buggy: boolean; metric?: number | null }): boolean {
  return node.is_valid && !node.is_buggy && node.metric != null;
}
