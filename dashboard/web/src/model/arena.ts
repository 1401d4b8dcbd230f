// Tables of the arena, from ratings and results.
import { isStep } from "./operators";
import { isGate } from "./arena-state";
import type { GameState, GenerationState } from "./facts";
import type { RunState } from "./run-state";

/** Where every Elo comes from that is not said to come from elsewhere; as `reports/ratings.py` says it. */
export const RATED = "over all its rated games";

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
  const known = [...state.arena.generations.values()].sort((a, b) => b.generation - a.generation);
  const rated = known.find((g) => g.ratings.length > 0);
  return (state.ended && rated ? rated : known[0])?.generation ?? -1;
}

/** A finished tournament in the order by which the title goes: who was promoted, the champion first, then by points. */
function standingsOf({ ratings, promoted }: Pick<GenerationState, "ratings" | "promoted">): Standing[] {
  const place = (id: string) => (promoted.includes(id) ? promoted.indexOf(id) : promoted.length);
  const rows = ratings.map((r) => ({ ...r, points: r.wins + r.draws / 2, promoted: promoted.includes(r.node_id) }));
  return rows.sort((a, b) => place(a.node_id) - place(b.node_id) || share(b) - share(a));
}

/** Of the points that it played for. */
const share = (row: Standing) => row.points / Math.max(1, row.wins + row.draws + row.losses);

/** Ratings of the generation shown; while it is still played, its points so far. */
export function standings(state: RunState): { rows: Standing[]; generation: number | null; provisional: boolean } {
  const rated = [...state.arena.generations.values()].filter((g) => g.ratings.length > 0).sort((a, b) => b.generation - a.generation)[0];
  const newest = generationShown(state);
  if (rated && rated.generation === newest) {
    return { rows: standingsOf(rated), generation: newest, provisional: false };
  }
  const tally = new Map<string, Standing>();
  const row = (id: string): Standing => {
    const old = state.arena.rated.get(id);
    const found = tally.get(id) ?? { node_id: id, elo: old?.elo ?? null, low: old?.low ?? null, high: old?.high ?? null, wins: 0, draws: 0, losses: 0, points: 0, promoted: false };
    tally.set(id, found);
    return found;
  };
  for (const game of state.arena.games.values()) {
    if (game.result === null || isGate(game) || game.generation !== Math.max(0, newest)) continue;
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
  const known = new Set([...state.arena.games.values()].filter((game) => game.result !== null && !isGate(game)).map((game) => game.generation));
  return [...known].sort((a, b) => (b ?? Infinity) - (a ?? Infinity));
}

export const scopeText = (scope: Scope): string => (scope === null ? "the final part" : `generation ${scope}, round robin`);

/** Who takes part: of a rated generation the engines of its standings in their order, so that games of the gate do not count; else null for all. */
function membersOf(state: RunState, scope: Scope): string[] | null {
  const told = scope === null ? undefined : state.arena.generations.get(scope);
  return told?.ratings.length ? standingsOf(told).map((row) => row.node_id) : null;
}

/** Points and games of each pair; players as in the standings, without these by Elo, those without one by their share of points. */
export function crossTable(state: RunState, scope: Scope): { players: string[]; points: number[][]; games: number[][] } {
  const members = membersOf(state, scope);
  const finished = [...state.arena.games.values()].filter((g) => g.result !== null && !isGate(g) && g.generation === scope && (!members || (members.includes(g.white) && members.includes(g.black))));
  const sum = new Map<string, number>();
  for (const game of finished) {
    const [white, black] = points(game.result as string);
    sum.set(game.white, (sum.get(game.white) ?? 0) + white);
    sum.set(game.black, (sum.get(game.black) ?? 0) + black);
  }
  const elos = new Map(allTime(state).map((row) => [row.node_id, row.elo]));
  const part = (id: string) => (sum.get(id) ?? 0) / Math.max(1, finished.filter((g) => g.white === id || g.black === id).length);
  const among = [...sum.keys()].sort((a, b) => (elos.get(b) ?? -Infinity) - (elos.get(a) ?? -Infinity) || part(b) - part(a));
  const players = members ? members.filter((id) => sum.has(id)) : among;
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
  /** Probability that it is stronger than the next one of the list; null for the last one, and where the two were rated at
   * different times: the one's games since then are not in the other's rating. */
  superior: number | null;
}

/** Every engine that was ever rated, with its newest rating, strongest first. */
export function allTime(state: RunState): Rated[] {
  const newest = new Map<string, Rated>();
  for (const { generation, ratings } of [...state.arena.generations.values()].sort((a, b) => a.generation - b.generation)) {
    for (const r of ratings) {
      if (!Number.isFinite(r.elo)) continue;
      const games = (newest.get(r.node_id)?.games ?? 0) + r.wins + r.draws + r.losses;
      newest.set(r.node_id, { node_id: r.node_id, elo: r.elo, low: r.low, high: r.high, games, generation, superior: null });
    }
  }
  const rows = [...newest.values()].sort((a, b) => b.elo - a.elo);
  return rows.map((row, i) => ({ ...row, superior: row.generation === rows[i + 1]?.generation ? superiority(row, rows[i + 1]) : null }));
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

/** What an arena's curve shows; as `reports/ratings.py` says it. */
export const CHAMPIONS = "champion at the end of each generation";

/** At the last of these scored engines of each generation the rating that its champion had when its tournament ended, and
 * on to the newest one; null elsewhere. Baselines are generation 0. */
export function championLine(state: RunState, ids: readonly string[]): (number | null)[] {
  const last = new Map(ids.map((id, i) => [state.byId.get(id)?.generation ?? 0, i]));
  const line = new Array<number | null>(ids.length).fill(null);
  for (const { generation, promoted, ratings } of state.arena.generations.values()) {
    const place = last.get(generation);
    if (place !== undefined) line[place] = ratings.find((one) => one.node_id === promoted[0])?.elo ?? null;
  }
  if (line.length) line[line.length - 1] ??= line.findLast((elo) => elo !== null) ?? null;
  return line;
}
