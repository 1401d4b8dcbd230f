// The arena: live boards, standings with intervals, who beat whom, who descends from whom.
import { useMemo, useState } from "react";
import { Empty, EngineLink, Panel, Segmented } from "../components/widgets";
import { SmallBoard } from "../components/boards";
import type { Connection } from "../model/connection";
import { crossTable, standings } from "../model/arena";
import { clock, words } from "../model/format";
import { toMove } from "../model/position";
import { href } from "../model/router";
import type { GameState, RunState } from "../model/run-state";
import { Lineage } from "./lineage";

const WALL = 24;
const WALL_AT_REST = 14;
type Wall = "running" | "latest";

export function ArenaView({ connection }: { connection: Connection }) {
  const { state } = connection;
  const games = [...state.games.values()];
  const running = games.filter((game) => game.result === null);
  const [wall, setWall] = useState<Wall>(running.length ? "running" : "latest");
  const shown = wall === "running" && running.length ? running : games.filter((g) => g.ply > 0 || g.result === null).sort((a, b) => b.seq - a.seq);
  const newest = [...state.generations.values()].sort((a, b) => b.generation - a.generation)[0];
  return (
    <div className="stack">
      <Panel title={running.length ? `${running.length} ${state.live || connection.replay ? "running" : "unfinished"}, ${games.length - running.length} finished` : `${games.length} games`} actions={<Segmented label="Boards" value={wall} onChange={setWall} options={[["running", "running"], ["latest", "latest"]]} />}>
        {shown.length === 0 ? <Empty title="No game yet">Games begin when the first candidates have passed their gate.</Empty> : <div className="wall" data-testid="wall">{shown.slice(0, running.length ? WALL : WALL_AT_REST).map((game) => <Tile key={game.id} game={game} state={state} />)}</div>}
      </Panel>
      <div className="cols even">
        <Standings state={state} />
        <Cross state={state} />
      </div>
      {newest && newest.questions.length > 0 && (
        <Panel title={`Questions of generation ${newest.generation}`}>
          <ul style={{ margin: 0, paddingLeft: 18 }}>{newest.questions.map((q) => <li key={q.index}><span className="tag">{q.category}</span> {q.question}</li>)}</ul>
        </Panel>
      )}
      <Panel title="Lineage"><Lineage state={state} version={connection.version} /></Panel>
    </div>
  );
}

function Tile({ game, state }: { game: GameState; state: RunState }) {
  const turn = toMove(game.fen);
  return (
    <a className={game.result === null ? "tile running" : "tile"} href={href(state.id, "game", "", { id: game.id })}>
      <div className="side"><span>{state.name(game.black)}</span><span className="num muted">{game.result ? game.result.split("-")[1] : game.clock[1] != null ? clock(game.clock[1]) : turn === 1 ? "●" : ""}</span></div>
      <SmallBoard game={game.game} fen={game.fen} last={game.last} />
      <div className="side"><span>{state.name(game.white)}</span><span className="num muted">{game.result ? game.result.split("-")[0] : game.clock[0] != null ? clock(game.clock[0]) : turn === 0 ? "●" : ""}</span></div>
      <div className="side small muted"><span>{(game.termination && words(game.termination)) ?? (game.ply ? `${game.ply}. ${game.san}` : "starts")}</span><span>{game.generation != null ? `gen ${game.generation}` : ""}</span></div>
    </a>
  );
}

function Standings({ state }: { state: RunState }) {
  const { rows, generation, provisional } = standings(state);
  const low = Math.min(...rows.map((r) => r.low ?? r.elo ?? 0));
  const high = Math.max(...rows.map((r) => r.high ?? r.elo ?? 0));
  const place = (elo: number) => `${high > low ? ((elo - low) / (high - low)) * 100 : 50}%`;
  return (
    <Panel title={generation === null ? "Standings" : `Standings of generation ${generation}`} flush actions={provisional && <span className="tag warn">while it is played: points only</span>}>
      {rows.length === 0 ? <Empty title="No result yet" /> : (
        <div className="scroll" tabIndex={0} role="region" aria-label="Standings"><table>
          <thead><tr><th scope="col">Engine</th><th scope="col" className="num">Elo</th><th scope="col" style={{ minWidth: 140 }}>95 % interval</th><th scope="col" className="num">+</th><th scope="col" className="num">=</th><th scope="col" className="num">−</th><th scope="col" className="num">Points</th></tr></thead>
          <tbody>{rows.map((r) => (
            <tr key={r.node_id}>
              <td><EngineLink state={state} id={r.node_id} /> {r.promoted && <span className="tag ok">promoted</span>}</td>
              <td className="num">{r.elo == null ? "–" : Math.round(r.elo)}</td>
              <td>{r.low != null && r.high != null && r.elo != null ? <div className="interval" title={`${Math.round(r.low)} … ${Math.round(r.high)}`}><div className="axis" /><div className="span" style={{ left: place(r.low), right: `calc(100% - ${place(r.high)})` }} /><div className="mid" style={{ left: place(r.elo) }} /></div> : null}</td>
              <td className="num">{r.wins}</td><td className="num">{r.draws}</td><td className="num">{r.losses}</td><td className="num">{r.points}</td>
            </tr>
          ))}</tbody>
        </table></div>
      )}
    </Panel>
  );
}

function Cross({ state }: { state: RunState }) {
  const finished = [...state.games.values()].filter((g) => g.result !== null).length;
  const newest = Math.max(-1, ...state.generations.keys());
  const table = useMemo(() => crossTable(state, newest), [state, finished, newest]);
  return (
    <Panel title="Who beat whom" flush>
      {table.players.length === 0 ? <Empty title="No result yet" /> : (
        <div className="scroll cross" tabIndex={0} role="region" aria-label="Cross-table"><table>
          <thead><tr><th scope="col">Points of</th>{table.players.map((id) => <th key={id} scope="col" className="rot" title={state.name(id)}>{state.name(id)}</th>)}</tr></thead>
          <tbody>{table.players.map((row, i) => (
            <tr key={row}><th scope="row">{state.name(row)}</th>{table.players.map((column, j) => <td key={column} className="cell">{i === j ? <span className="muted">·</span> : table.games[i][j] ? `${table.points[i][j]}/${table.games[i][j]}` : ""}</td>)}</tr>
          ))}</tbody>
        </table></div>
      )}
    </Panel>
  );
}
