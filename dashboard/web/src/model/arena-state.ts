// The arena's part of a run's state: games, generations, ratings, and who holds the title.
import type { EventOf, RunEvent } from "../api/types";
import type { GameState, GenerationState, Rating } from "./facts";

/** Engines that only the final part is played against, and the one of the gate. */
const GAUNTLET = "gauntlet:";
const SPARRING = "sparring";
/** True for a game of the gate, which an engine has to pass before its tournament. */
export const isGate = ({ white, black }: { white: string; black: string }): boolean => white === SPARRING || black === SPARRING;

export class ArenaState {
  games = new Map<string, GameState>();
  generations = new Map<number, GenerationState>();
  /** Generations that the search began; generation 0 may be rated without that. */
  begun = new Set<number>();
  /** Who holds the title: the newest tournament's first, else who the newest generation began with. */
  champion: string | null = null;
  /** Of each engine its newest rating, over all rated games up to then: the one Elo that every view shows. */
  rated = new Map<string, Rating>();
  finalPart = false;

  get isThere(): boolean {
    return this.games.size > 0 || [...this.generations.values()].some((g) => g.ratings.length > 0 || g.questions.length > 0);
  }

  /** Generations begun that are rated. */
  get done(): number {
    return [...this.begun].filter((number) => this.generations.get(number)?.done).length;
  }

  /** Takes an event; returns the game that ended by it. */
  reduce(event: RunEvent): GameState | undefined {
    switch (event.type) {
      case "generation.started":
        this.generation(event.generation).champion = event.champion ?? null;
        this.champion = event.champion || this.champion;
        this.begun.add(event.generation);
        this.finalPart = false;
        break;
      case "strategist.question":
        this.generation(event.generation).questions.push(event);
        break;
      case "generation.finished":
        this.rate(event);
        break;
      case "game.started":
        this.games.set(event.game_id, {
          id: event.game_id, game: event.game, white: event.white, black: event.black, fen: event.start, last: "",
          san: "", ply: 0, clock: [null, null], result: null, termination: null, seq: event.seq,
          generation: this.generationOf(event),
        }); // prettier-ignore
        break;
      case "game.move": {
        const { fen, uci: last, san, ply, seq } = event;
        this.change(event.game_id, { fen, last, san, ply, seq, clock: event.clock ?? [null, null] });
        break;
      }
      case "game.finished":
        return this.change(event.game_id, { result: event.result, termination: event.termination, seq: event.seq });
    }
    return undefined;
  }

  private change(id: string, facts: Partial<GameState>): GameState | undefined {
    const game = this.games.get(id);
    return game && Object.assign(game, facts);
  }

  private rate(event: EventOf<"generation.finished">): void {
    const generation = this.generation(event.generation);
    generation.ratings = (event.ratings ?? []) as unknown as Rating[];
    generation.promoted = event.promoted ?? [];
    this.champion = generation.promoted[0] || this.champion;
    generation.decision = (event.decision ?? {}) as Record<string, unknown>;
    generation.done = true;
    for (const rating of generation.ratings) if (Number.isFinite(rating.elo)) this.rated.set(rating.node_id, rating);
  }

  private generation(number: number): GenerationState {
    let found = this.generations.get(number);
    if (!found) {
      found = { generation: number, champion: null, ratings: [], promoted: [], decision: {}, questions: [], done: false };
      this.generations.set(number, found);
    }
    return found;
  }

  /** The newest one; null once it is rated, or the gauntlet has sat down, and no further one began: the final part is played. */
  private generationOf({ white, black }: { white: string; black: string }): number | null {
    const newest = Math.max(0, ...this.generations.keys());
    this.finalPart ||= white.startsWith(GAUNTLET) || black.startsWith(GAUNTLET) || (this.generations.get(newest)?.done ?? false);
    return this.finalPart ? null : newest;
  }
}
