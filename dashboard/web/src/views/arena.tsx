// The arena: live boards, standings with intervals, who beat whom, who descends from whom.
import { type ReactNode, useMemo, useRef, useState } from "react";
import { runPath } from "../api/client";
import type { GameDetail } from "../api/types";
import { Elo, Empty, EngineLink, Panel, Segmented } from "../components/widgets";
import { SmallBoard } from "../components/boards";
import type { Connection } from "../model/connection";
import { allTime, crossTable, gallery, generationShown, isCalibration, type Scope, scopes, scopeText, standings } from "../model/arena";
import { clock, counted, whole, words } from "../model/format";
import { useAddressed, useResource } from "../model/hooks";
import { isChess, toMove } from "../model/position";
import { href } from "../model/router";
import type { GameState } from "../model/facts";
import type { RunState } from "../model/run-state";
import { Lineage } from "./lineage";

const WALL = 24;
const WALL_AT_REST = 14;
type Wall = "running" | "latest";
/** Not empty: an address without the word means the candidates. */
const ALL = "all";

export function ArenaView({ connection }: { connection: Connection }) {
  const { state } = connection;
  const games = [...state.arena.games.values()];
  const goesOn = state.live || connection.replay !== null;
  const broken = goesOn ? 0 : games.filter((game) => game.result === null).length;
  const [wall, setWall] = useAddressed<Wall>("boards", "running", { among: ["running", "latest"] });
  const [engine, setEngine] = useAddressed("games", "candidates");
  const [pairText, sayPair] = useAddressed("pair", "");
  const pair = useMemo(() => pairOf(pairText), [pairText]);
  const setPair = (chosen: Pair | null) => sayPair(chosen ? [...chosen.of, chosen.scope ?? FINAL].join() : "");
  const [more, setMore] = useState(0);
  const boards = useRef<HTMLDivElement>(null);
  const showPair = (chosen: Pair) => {
    setPair(chosen);
    setMore(0);
    boards.current?.scrollIntoView({ block: "start" });
  };
  const candidates = engine === "candidates" && games.some((game) => !isCalibration(game, state));
  const of = (game: GameState) => (pair ? game.generation === pair.scope && pair.of.includes(game.white) && pair.of.includes(game.black) : candidates ? !isCalibration(game, state) : engine === ALL || engine === "candidates" || game.white === engine || game.black === engine);
  const found = gallery(games, of, pair ? "latest" : wall, goesOn);
  const shown = found.games;
  const players = useMemo(() => [...new Set(games.flatMap((g) => [g.white, g.black]))].sort((a, b) => state.name(a).localeCompare(state.name(b))), [state, games.length, state.names.size]);
  const most = (goesOn ? WALL : WALL_AT_REST) + more;
  const newest = [...state.arena.generations.values()].sort((a, b) => b.generation - a.generation)[0];
  return (
    <div className="stack">
      <div className="cols featured">
        <Featured state={state} games={goesOn ? games : games.filter((game) => game.result !== null)} />
        <AllTime state={state} />
      </div>
      <div ref={boards}><Panel
        title={pair ? `${counted(shown.length, "game")} of ${state.name(pair.of[0])} and ${state.name(pair.of[1])}, ${scopeText(pair.scope)}` : found.running ? `${found.running} running, ${found.finished} finished` : `${counted(found.finished, "game")}${broken ? `, ${broken} broken off` : ""}${goesOn && wall === "running" ? "; none runs now" : ""}`}
        actions={<>
          <label className="row small">Games of <select aria-label="Games of" value={pair ? "pair" : engine} onChange={(e) => { setPair(null); setMore(0); setEngine(e.target.value); }}>{pair && <option value="pair">this pair</option>}<option value="candidates">candidates</option><option value={ALL}>all engines</option>{players.map((id) => <option key={id} value={id}>{state.name(id)}</option>)}</select></label>
          {goesOn && <Segmented label="Boards" value={wall} onChange={setWall} options={[["running", "running"], ["latest", "latest"]]} />}
        </>}
      >
        {games.length === 0 ? <Empty title="No game yet">Games begin when the first candidates have passed their gate.</Empty> : shown.length === 0 ? <Empty title="No such game">Choose other engines.</Empty> : <div className="wall" data-testid="wall">{shown.slice(0, most).map((game) => <Tile key={game.id} game={game} state={state} />)}</div>}
        {shown.length > most && <button type="button" style={{ marginTop: 10 }} onClick={() => setMore(more + WALL)}>Show more ({shown.length - most})</button>}
      </Panel></div>
      <Tables state={state} showPair={showPair} />
      {newest && newest.questions.length > 0 && (
        <Panel title={`Questions of generation ${newest.generation}`}>
          <ul style={{ margin: 0, paddingLeft: 18 }}>{newest.questions.map((q) => <li key={q.index}><span className="tag">{q.category}</span> {q.question}</li>)}</ul>
        </Panel>
      )}
      <Panel title="Lineage"><Lineage state={state} version={connection.version} /></Panel>
    </div>
  );
}

/** The champion's game that runs, or its last one. */
function Featured({ state, games }: { state: RunState; games: GameState[] }) {
  const champion = state.arena.champion;
  const its = games.filter((g) => g.white === champion || g.black === champion).sort((a, b) => b.seq - a.seq);
  const game = its.find((g) => g.result === null) ?? its[0];
  return (
    <Panel title={champion ? `The champion, ${state.name(champion)}` : "The champion"} actions={game && <a className="button" href={href(state.id, "game", "", { id: game.id })}>{game.result === null ? "Watch" : "Replay"}</a>}>
      {game ? <div className="feature" data-testid="featured"><Tile game={game} state={state} /></div> : <Empty title="It has not played yet" />}
    </Panel>
  );
}

function AllTime({ state }: { state: RunState }) {
  const rated = [...state.arena.generations.values()].filter((g) => g.ratings.length > 0).length;
  const rows = useMemo(() => allTime(state), [state, rated]);
  const champion = state.arena.champion;
  return (
    <Panel title="Ratings of all time" flush>
      {rows.length === 0 ? <Empty title="Nobody is rated yet" /> : (
        <div className="scroll" style={{ maxHeight: 420 }} tabIndex={0} role="region" aria-label="Ratings of all time"><table>
          <thead><tr><th scope="col" className="num">#</th><th scope="col">Engine</th><th scope="col" className="num" title="as it was rated last, over all rated games up to then; the first champion is 0">Elo, last rated</th><th scope="col" className="num">±</th><th scope="col" className="num">Games</th><th scope="col" className="num">Rated in</th><th scope="col" className="num" title="the chance that it is stronger than the one below it; – where the two were rated last in different generations">Stronger than next</th></tr></thead>
          <tbody>{rows.map((r, i) => <tr key={r.node_id}><td className="num">{i + 1}</td><td><EngineLink state={state} id={r.node_id} /> {r.node_id === champion && <Champion />}</td><td className="num">{whole(r.elo)}</td><td className="num">{r.high > r.low ? whole((r.high - r.low) / 2) : "–"}</td><td className="num">{r.games}</td><td className="num">gen {r.generation}</td><td className="num">{r.superior === null ? "–" : `${whole(100 * r.superior)} %`}</td></tr>)}</tbody>
        </table></div>
      )}
    </Panel>
  );
}

/** A snapshot holds the last position of the newest games only; of others it is fetched when they are shown. */
function useBoard(game: GameState, state: RunState): GameState {
  const { data } = useResource<GameDetail>(game.ply === 0 && game.result !== null ? runPath(state.id, `/game?id=${encodeURIComponent(game.id)}`) : null);
  const last = data?.moves.at(-1);
  return last ? { ...game, fen: last.fen, last: last.uci, san: last.san, ply: last.ply } : game;
}

function Tile({ game: known, state }: { game: GameState; state: RunState }) {
  const game = useBoard(known, state);
  const turn = toMove(game.fen);
  const [first, second] = isChess(game.game) ? ["#fdfdfb", "#23211f"] : ["var(--orange)", "var(--accent)"];
  const chip = (color: string) => <span className="dot" style={{ background: color, boxShadow: "0 0 0 1px var(--line-strong)" }} />;
  return (
    <a className={game.result === null ? "tile running" : "tile"} href={href(state.id, "game", "", { id: game.id })}>
      <div className="side"><span>{chip(second)} {state.name(game.black)} <Elo state={state} id={game.black} /></span><span className="num muted">{game.result ? game.result.split("-")[1] : game.clock[1] != null ? clock(game.clock[1]) : turn === 1 ? "●" : ""}</span></div>
      <SmallBoard game={game.game} fen={game.fen} last={game.last} />
      <div className="side"><span>{chip(first)} {state.name(game.white)} <Elo state={state} id={game.white} /></span><span className="num muted">{game.result ? game.result.split("-")[0] : game.clock[0] != null ? clock(game.clock[0]) : turn === 0 ? "●" : ""}</span></div>
      <div className="side small muted"><span>{(game.termination && words(game.termination)) ?? (game.ply ? `${game.ply}. ${game.san}` : "starts")}</span><span>{game.generation == null ? "final part" : `gen ${game.generation}`}</span></div>
    </a>
  );
}

/** Who holds the title: it is taken in a match, so that another may be rated above. */
function Champion() {
  return <span className="tag ok" title="the title goes by the games of a tournament; by Elo, over all rated games, another may stand above">champion</span>;
}

function Standings({ state }: { state: RunState }) {
  const { rows, generation, provisional } = standings(state);
  const champion = state.arena.champion;
  const low = Math.min(...rows.map((r) => r.low ?? r.elo ?? 0));
  const high = Math.max(...rows.map((r) => r.high ?? r.elo ?? 0));
  const place = (elo: number) => `${high > low ? ((elo - low) / (high - low)) * 100 : 50}%`;
  return (
    <Panel title={generation === null ? "Standings" : `Standings of generation ${generation}`} flush actions={provisional && <span className="tag warn">while it is played: points only</span>}>
      {rows.length === 0 ? <Empty title="No result yet" /> : (
        <div className="scroll" tabIndex={0} role="region" aria-label="Standings"><table>
          <thead><tr><th scope="col">Engine</th><th scope="col" className="num" title={`over all rated games up to the ${provisional ? "one before" : "end of this generation"}; the first champion is 0`}>{provisional ? "Elo before it" : "Elo after it"}</th><th scope="col" style={{ minWidth: 140 }}>95 % interval</th><th scope="col" className="num">+</th><th scope="col" className="num">=</th><th scope="col" className="num">−</th><th scope="col" className="num">Points</th></tr></thead>
          <tbody>{rows.map((r) => (
            <tr key={r.node_id}>
              <td><EngineLink state={state} id={r.node_id} /> {r.node_id === champion ? <Champion /> : r.promoted && <span className="tag" title="it becomes a parent of the next generation, beside the champion">promoted</span>}</td>
              <td className="num">{r.elo == null ? "–" : whole(r.elo)}</td>
              <td>{r.low != null && r.high != null && r.elo != null ? <div className="interval" title={`${whole(r.low)} … ${whole(r.high)}`}><div className="axis" /><div className="span" style={{ left: place(r.low), right: `calc(100% - ${place(r.high)})` }} /><div className="mid" style={{ left: place(r.elo) }} /><span className="ends num">{r.high > r.low ? `${whole(r.low)} … ${whole(r.high)}` : "the reference"}</span></div> : null}</td>
              <td className="num">{r.wins}</td><td className="num">{r.draws}</td><td className="num">{r.losses}</td><td className="num">{r.points}</td>
            </tr>
          ))}</tbody>
        </table></div>
      )}
    </Panel>
  );
}

/** Players whose cross-table fits beside the standings. */
const BESIDE = 6;

/** Two engines, and what of their games. */
interface Pair { of: readonly [string, string]; scope: Scope }
const FINAL = "final";

/** The pair that an address names: two ids and the generation of their games. */
function pairOf(text: string): Pair | null {
  const [first, second, scope] = text.split(",");
  return first && second ? { of: [first, second], scope: scopeOf(scope) } : null;
}

const scopeOf = (text: string | undefined): Scope => (text === undefined || text === FINAL || !/^\d+$/.test(text) ? null : Number(text));
type ShowPair = (pair: Pair) => void;

function Tables({ state, showPair }: { state: RunState; showPair: ShowPair }) {
  const finished = [...state.arena.games.values()].filter((g) => g.result !== null).length;
  const [chosen, choose] = useAddressed("table", "");
  const known = scopes(state);
  const shown = chosen === "" ? Math.max(0, generationShown(state)) : scopeOf(chosen);
  const table = useMemo(() => crossTable(state, shown), [state, finished, shown, state.arena.generations.get(shown ?? -1)?.done]);
  const choice = known.length > 0 && (
    <select className="small" aria-label="What is counted" value={String(shown)} onChange={(e) => choose(e.target.value === "null" ? FINAL : e.target.value)}>{[...new Set([...known, shown])].map((scope) => <option key={String(scope)} value={String(scope)}>{scopeText(scope)}</option>)}</select>
  );
  return (
    <div className={table.players.length > BESIDE ? "stack" : "cols even"}>
      <Standings state={state} />
      <Cross state={state} table={table} choice={choice} showPair={(a, b) => showPair({ of: [a, b], scope: shown })} />
    </div>
  );
}

const total = (row: readonly number[]) => row.reduce((sum, value) => sum + value, 0);

function Cross({ state, table, choice, showPair }: { state: RunState; table: ReturnType<typeof crossTable>; choice: ReactNode; showPair: (a: string, b: string) => void }) {
  return (
    <Panel title="Who beat whom" flush actions={choice}>
      {table.players.length === 0 ? <Empty title="No result yet" /> : (
        <div className="scroll cross" tabIndex={0} role="region" aria-label="Cross-table"><table>
          <thead><tr><th scope="col">Points of</th>{table.players.map((id) => <th key={id} scope="col" className="cell" title={state.name(id)}>{table.players.indexOf(id) + 1}</th>)}<th scope="col" className="cell">All</th></tr></thead>
          <tbody>{table.players.map((row, i) => (
            <tr key={row}><th scope="row">{i + 1} {state.name(row)}</th>{table.players.map((column, j) => <td key={column} className="cell">{i === j ? <span className="muted">·</span> : table.games[i][j] ? <button type="button" className="sort" title={`their games: ${state.name(row)} and ${state.name(column)}`} onClick={() => showPair(row, column)}>{table.points[i][j]}/{table.games[i][j]}</button> : ""}</td>)}<td className="cell">{total(table.points[i])}/{total(table.games[i])}</td></tr>
          ))}</tbody>
        </table></div>
      )}
    </Panel>
  );
}
