// A game as one line of plies, the opening's first: numbered as in its PGN.
import type { GameDetail } from "../api/types";
import { toMove } from "./position";

type Move = GameDetail["moves"][number];

export interface Ply {
  uci: string;
  san: string;
  /** The position after it, or '' where it is not known. */
  fen: string;
  /** 0 the first player, 1 the second. */
  side: number;
  /** Before the move, where it begins a line of the list, else ''. */
  number: string;
  /** What the engine made; absent in the opening, which nobody chose. */
  played?: Move;
}

/** The plies of a game, those of its opening before `upTo` of its moves. */
export function pliesOf(game: Pick<GameDetail, "origin" | "start" | "opening" | "moves">, upTo = Number.POSITIVE_INFINITY): Ply[] {
  const opening = game.opening ?? [];
  const first = (toMove(game.start) + opening.length) % 2;
  const all: (Move | (typeof opening)[number])[] = [...opening, ...game.moves.filter((move) => move.ply <= upTo)];
  return all.map((move, i) => {
    const before = i === opening.length ? game.start : i > 0 ? all[i - 1].fen : game.origin;
    const half = (i + first) % 2;
    const side = /^\S+\s[wbxo](\s|$)/.test(before) ? toMove(before) : half; // in some games a player moves twice
    const turn = Math.floor((i + first) / 2) + 1;
    return { uci: move.uci, san: move.san, fen: move.fen, side, number: half === 0 || i === 0 ? `${turn}.` : "", played: "ply" in move ? move : undefined };
  });
}

/** Fewest plies that can be shown: none of the opening where its positions are not known. */
export function lowest(game: Pick<GameDetail, "origin" | "opening">): number {
  return game.origin ? 0 : (game.opening ?? []).length;
}

/** The position after so many plies. */
export function positionAfter(game: Pick<GameDetail, "origin" | "start" | "opening">, plies: readonly Ply[], count: number): string {
  if (count === (game.opening ?? []).length) return game.start;
  return count > 0 ? plies[count - 1].fen : game.origin;
}
