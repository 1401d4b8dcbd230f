import { describe, expect, it } from "vitest";
import { allTime, crossTable, gallery, isCalibration, points, scopes, standings } from "./arena";
import type { GameState } from "./facts";
import { lowest, pliesOf, positionAfter } from "./game-line";
import { learn } from "./operators";
import { RunState } from "./run-state";

describe("arena", () => {
  const state = new RunState("r");
  state.arena.generations.set(0, { generation: 0, champion: null, ratings: [], promoted: [], decision: {}, questions: [], done: false });
  const game = (id: string, white: string, black: string, result: string | null) => state.arena.games.set(id, { id, white, black, result, generation: 0 } as unknown as GameState);
  game("1", "a", "b", "1-0");
  game("2", "b", "a", "1/2-1/2");
  game("3", "a", "c", null);
  it("counts points of finished games", () => {
    expect(points("0-1")).toEqual([0, 1]);
    const { rows, provisional } = standings(state);
    expect(provisional).toBe(true);
    expect(rows.map((r) => [r.node_id, r.points, r.wins, r.draws, r.losses])).toEqual([["a", 1.5, 1, 1, 0], ["b", 0.5, 0, 1, 1]]);
  });
  it("has a cross-table whose mirrored cells add up to the games", () => {
    const table = crossTable(state, 0);
    expect(table.players).toEqual(["a", "b"]);
    expect(table.points[0][1] + table.points[1][0]).toBe(table.games[0][1]);
  });

  it("counts the round robin of a generation without the gate's games and the final part's", () => {
    const other = new RunState("r2");
    let seq = 0;
    const take = (type: string, more: object) => other.apply({ type, seq: (seq += 1), at: "", ...more } as never);
    const play = (id: string, white: string, black: string, result: string | null = "1-0") => {
      take("game.started", { game_id: id, game: "chess", white, black, start: "" });
      if (result) take("game.finished", { game_id: id, white, black, result, termination: "x", plies: 1 });
    };
    play("0", "old", "random");
    take("generation.finished", { generation: 0, ratings: [] });
    take("generation.started", { generation: 1 });
    play("gate", "new", "random");
    play("1", "new", "old");
    take("generation.finished", { generation: 1, ratings: ["new", "old"].map((node_id, i) => ({ node_id, elo: -i })), promoted: [] });
    play("g", "gauntlet:deep", "old");
    play("f", "new", "old", "0-1");
    expect(scopes(other)).toEqual([null, 1, 0]);
    expect(crossTable(other, 1)).toMatchObject({ players: ["new", "old"], games: [[0, 1], [1, 0]] });
    expect(crossTable(other, null)).toMatchObject({ players: ["new", "old", "gauntlet:deep"], games: [[0, 1, 0], [1, 0, 1], [0, 1, 0]] });
    learn({ baseline: { meaning: "", colour: "grey", is_step: false } });
    take("node.proposed", { node_id: "new", operator: "build", round: 0, slot: 0 });
    const calibrates = [...other.arena.games.values()].filter((game) => isCalibration(game, other)).map(({ id }) => id);
    expect(calibrates).toEqual(["0", "g"]); // a baseline against the gauntlet is no candidate's game either
    play("live", "old", "gauntlet:deep", null);
    expect(gallery([...other.arena.games.values()], (game) => game.white === "new", "running", true)).toMatchObject({ running: 0, finished: 3, games: [{ id: "f" }, { id: "1" }, { id: "gate" }] });
    expect(gallery([...other.arena.games.values()], () => true, "running", true).games).toMatchObject([{ id: "live" }]);
  });
  it("numbers moves as the PGN does, the opening's first", () => {
    const move = (ply: number, san: string) => ({ ply, san, uci: san, fen: `f${ply} ${"bw"[ply % 2]}`, clock: [null, null] as [null, null], seconds: 0 });
    const opening = [{ uci: "a2a4", san: "a4", fen: "1 b" }, { uci: "d7d6", san: "d6", fen: "2 w" }, { uci: "a1a2", san: "Ra2", fen: "3 b" }];
    const told = { origin: "o w", start: "3 b", opening, moves: [move(1, "g6"), move(2, "d4")] };
    const plies = pliesOf(told);
    expect(plies.map((ply) => `${ply.number}${ply.san}`)).toEqual(["1.a4", "d6", "2.Ra2", "g6", "3.d4"]);
    expect(plies.map((ply) => ply.played?.ply)).toEqual([undefined, undefined, undefined, 1, 2]);
    expect([0, 2, 3, 4].map((at) => positionAfter(told, plies, at))).toEqual(["o w", "2 w", "3 b", "f1 w"]);
    expect([lowest(told), lowest({ ...told, origin: "" })]).toEqual([0, 3]);
    expect(plies.map((ply) => ply.side)).toEqual([0, 1, 0, 1, 0]);
    const again = { ...told, moves: [{ ...move(1, "g6"), fen: "f1 b" }, move(2, "h6")] };
    expect(pliesOf(again).map((ply) => ply.side)).toEqual([0, 1, 0, 1, 1]); // a second move of the same player
    expect(pliesOf({ ...again, origin: "", start: "x", opening: [] }).map((ply) => ply.side)).toEqual([0, 1]);
  });
});

describe("ratings of all time", () => {
  it("hold each engine's newest rating with the chance to be stronger than the next", () => {
    const rating = (id: string, elo: number, width: number) => ({ node_id: id, name: id, elo, low: elo - width, high: elo + width, wins: 1, draws: 0, losses: 1, score: 1 });
    const generation = (number: number, ratings: object[]) => [number, { generation: number, ratings, promoted: [], champion: null }] as never;
    const rows = allTime({ arena: { generations: new Map([generation(0, [rating("a", 10, 50), rating("b", 0, 0), rating("c", -9, 9)]), generation(1, [rating("a", 100, 98), rating("b", 0, 0)])]) } } as never);
    expect(rows.map((r) => [r.node_id, r.elo, r.games, r.generation])).toEqual([["a", 100, 4, 1], ["b", 0, 4, 1], ["c", -9, 2, 0]]);
    expect(rows[0].superior).toBeCloseTo(0.977, 2); // 100 Elo at an error of 50
    expect([rows[1].superior, rows[2].superior]).toEqual([null, null]); // c's rating knows nothing of the games since
  });
});
