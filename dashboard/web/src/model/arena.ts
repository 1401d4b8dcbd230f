// Tables of the arena, from ratings and results.
import type { RunState } from "./run-state";

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

/** Ratings of the newest generation; while it is still played, its points so far. */
export function standings(state: RunState): { rows: Standing[]; generation: number | null; provisional: boolean } {
  const rated = [...state.generations.values()].filter((g) => g.ratings.length > 0).sort((a, b) => b.generation - a.generation)[0];
  const newest = Math.max(-1, ...state.generations.keys());
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
    if (game.result === null || game.generation !== (newest < 0 ? null : newest)) continue;
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

/** Points and games of each pair, of one generation; players by points. */
export function crossTable(state: RunState, generation: number): { players: string[]; points: number[][]; games: number[][] } {
  const finished = [...state.games.values()].filter((g) => g.result !== null && (generation < 0 || g.generation === generation));
  const sum = new Map<string, number>();
  for (const game of finished) {
    const [white, black] = points(game.result as string);
    sum.set(game.white, (sum.get(game.white) ?? 0) + white);
    sum.set(game.black, (sum.get(game.black) ?? 0) + black);
  }
  const players = [...sum.keys()].sort((a, b) => (sum.get(b) ?? 0) - (sum.get(a) ?? 0));
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
