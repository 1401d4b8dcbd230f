// Tables of the arena, from ratings and results.
import { isStep } from "./operators";
import type { GameState, RunState } from "./run-state";

export interface Standing {
  node_id: string;
  elo: number | null;
  low: number | null;
  high: number | null;
  wins: number;
  draws: number;
  losses: number;
  points: number;
  promoted: boolean;
}

/** Points of (white, black). */
export function points(result: string): [number, number] {
  return result === "1-0" ? [1, 0] : result === "0-1" ? [0, 1] : [0.5, 0.5];
}

/** The generation to look at: the newest; once the run has ended, the newest that was played to its end. */
export function generationShown(state: RunState): number {
  const known = [...state.generations.values()].sort((a, b) => b.generation - a.generation);
  const rated = known.find((g) => g.ratings.length > 0);
  return (state.ended && rated ? rated : known[0])?.generation ?? -1;
}

/** Ratings of the generation shown; while it is still played, its points so far. */
export function standings(state: RunState): { rows: Standing[]; generation: number | null; provisional: boolean } {
  const rated = [...state.generations.values()].filter((g) => g.ratings.length > 0).sort((a, b) => b.generation - a.generation)[0];
  const newest = generationShown(state);
  if (rated && rated.generation === newest) {
    const rows = rated.ratings.map((r) => ({ ...r, points: r.wins + r.draws / 2, promoted: rated.promoted.includes(r.node_id) }));
    return { rows: rows.sort((a, b) => b.elo - a.elo), generation: newest, provisional: false };
  }
  const tally = new Map<string, Standing>();
  const row = (id: string): Standing => {
    const old = rated?.ratings.find((r) => r.node_id === id);
    const found = tally.get(id) ?? { node_id: id, elo: old?.elo ?? null, low: null, high: null, wins: 0, draws: 0, losses: 0, points: 0, promoted: false };
    tally.set(id, found);
    return found;
  };
  for (const game of state.games.values()) {
    if (game.result === null || game.generation !== Math.max(0, newest)) continue;
    points(game.result).forEach((p, side) => {
      const line = row(side === 0 ? game.white : game.black);
      line.points += p;
      if (p === 1) line.wins += 1;
      else if (p === 0) line.losses += 1;
      else line.draws += 1;
    });
  }
  return { rows: [...tally.values()].sort((a, b) => b.points - a.points), generation: newest < 0 ? null : newest, provisional: tally.size > 0 };
}

/** What a cross-table counts: the round robin of a generation, or (null) the final part. */
export type Scope = number | null;

/** What there are results of, newest first. */
export function scopes(state: RunState): Scope[] {
  const known = new Set([...state.games.values()].filter((game) => game.result !== null).map((game) => game.generation));
  return [...known].sort((a, b) => (b ?? Infinity) - (a ?? Infinity));
}

export const scopeText = (scope: Scope): string => (scope === null ? "the final part" : `generation ${scope}, round robin`);

/** Who takes part: of a rated generation the engines of its standings, so that games of the gate do not count; else null for all. */
function membersOf(state: RunState, scope: Scope): Set<string> | null {
  const ratings = scope === null ? [] : (state.generations.get(scope)?.ratings ?? []);
  return ratings.length ? new Set(ratings.map((rating) => rating.node_id)) : null;
}

/** Points and games of each pair; players by Elo, those without one by their share of points. */
export function crossTable(state: RunState, scope: Scope): { players: string[]; points: number[][]; games: number[][] } {
  const members = membersOf(state, scope);
  const finished = [...state.games.values()].filter((g) => g.result !== null && g.generation === scope && (!members || (members.has(g.white) && members.has(g.black))));
  const sum = new Map<string, number>();
  for (const game of finished) {
    const [white, black] = points(game.result as string);
    sum.set(game.white, (sum.get(game.white) ?? 0) + white);
    sum.set(game.black, (sum.get(game.black) ?? 0) + black);
  }
  const elos = new Map(allTime(state).map((row) => [row.node_id, row.elo]));
  const share = (id: string) => (sum.get(id) ?? 0) / Math.max(1, finished.filter((g) => g.white === id || g.black === id).length);
  const players = [...sum.keys()].sort((a, b) => (elos.get(b) ?? -Infinity) - (elos.get(a) ?? -Infinity) || share(b) - share(a));
  const place = new Map(players.map((id, i) => [id, i]));
  const square = () => players.map(() => new Array<number>(players.length).fill(0));
  const won = square();
  const played = square();
  for (const game of finished) {
    const [white, black] = points(game.result as string);
    const i = place.get(game.white) as number;
    const j = place.get(game.black) as number;
    won[i][j] += white;
    won[j][i] += black;
    played[i][j] += 1;
    played[j][i] += 1;
  }
  return { players, points: won, games: played };
}

export interface Rated {
  node_id: string;
  elo: number;
  low: number;
  high: number;
  games: number;
  generation: number;
  /** Probability that it is stronger than the next one of the list; null for the last one. */
  superior: number | null;
}

/** Every engine that was ever rated, with its newest rating, strongest first. */
export function allTime(state: RunState): Rated[] {
  const newest = new Map<string, Rated>();
  for (const { generation, ratings } of [...state.generations.values()].sort((a, b) => a.generation - b.generation)) {
    for (const r of ratings) {
      if (!Number.isFinite(r.elo)) continue;
      const games = (newest.get(r.node_id)?.games ?? 0) + r.wins + r.draws + r.losses;
      newest.set(r.node_id, { node_id: r.node_id, elo: r.elo, low: r.low, high: r.high, games, generation, superior: null });
    }
  }
  const rows = [...newest.values()].sort((a, b) => b.elo - a.elo);
  return rows.map((row, i) => ({ ...row, superior: i + 1 < rows.length ? superiority(row, rows[i + 1]) : null }));
}

const Z95 = 1.96;

/** Φ of the difference over its error, both intervals taken as normal and independent. */
function superiority(a: Rated, b: Rated): number {
  const error = Math.hypot((a.high - a.low) / (2 * Z95), (b.high - b.low) / (2 * Z95));
  if (!(error > 0)) return a.elo > b.elo ? 1 : 0.5;
  const z = (a.elo - b.elo) / error;
  const t = 1 / (1 + 0.2316419 * Math.abs(z)); // Abramowitz & Stegun 26.2.17
  const tail = Math.exp((-z * z) / 2) * 0.3989422804 * t * (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
  return z >= 0 ? 1 - tail : tail;
}

/** The games to show: those that run where any of them does, else the newest. Where no candidate plays yet, whoever does. */
export function gallery(games: readonly GameState[], wanted: (game: GameState) => boolean, wish: "running" | "latest", goesOn: boolean): { games: GameState[]; running: number; finished: number } {
  const known = games.filter((game) => goesOn || game.result !== null);
  const some = known.filter(wanted);
  const running = some.filter((game) => game.result === null);
  const shown = wish === "running" && running.length ? running : some.sort((a, b) => b.seq - a.seq);
  return { games: shown, running: running.length, finished: some.length - running.length };
}

/** True where nobody's candidate plays, only engines that were given: also in the final part, where baselines meet the gauntlet. */
export function isCalibration(game: { white: string; black: string }, state: RunState): boolean {
  const written = (id: string) => isStep((state.byId.get(id) ?? state.open.get(id))?.operator ?? "baseline");
  return !written(game.white) && !written(game.black);
}

/** The champion that the newest finished generation promoted, else the one that the newest began with. */
export function championOf(state: RunState): string | null {
  const known = [...state.generations.values()].sort((a, b) => b.generation - a.generation);
  for (const generation of known) {
    if (generation.promoted[0]) return generation.promoted[0];
    if (generation.champion) return generation.champion;
  }
  return null;
}
