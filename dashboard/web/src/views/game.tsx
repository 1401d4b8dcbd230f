// One game: a large board, both clocks, the moves from the first of its opening; follows a live game until one steps back.
import { lazy, Suspense, useEffect, useState } from "react";
import { runPath } from "../api/client";
import type { GameDetail } from "../api/types";
import { Elo, Empty, EngineLink, Panel } from "../components/widgets";
import { SmallBoard } from "../components/boards";
import { EvalGraph } from "../components/eval-graph";
import { MoveList } from "../components/move-list";
import type { Connection } from "../model/connection";
import { clock, counted, words } from "../model/format";
import { lowest, type Ply, pliesOf, positionAfter } from "../model/game-line";
import { useResource } from "../model/hooks";
import { isOurs } from "../model/plain-key";
import { isChess, toMove } from "../model/position";
import { href, plyOf, say, useRoute } from "../model/router";
import { scoreText } from "../model/score";

const BigChess = lazy(() => import("../components/big-chess"));
/** Milliseconds that a position stands while the game plays by itself. */
const PACE = 700;

export function GameView({ connection, id }: { connection: Connection; id: string }) {
  const { state } = connection;
  const live = state.arena.games.get(id);
  const path = runPath(state.id, `/game?id=${encodeURIComponent(id)}`);
  // asked again as moves come, without an empty moment in between
  const { data, error } = useResource<GameDetail>(path, 0, `${live?.ply ?? 0}/${live?.result ?? ""}`);
  const [flipped, setFlipped] = useState(false);
  const plies = data ? pliesOf(data, connection.replay && live ? live.ply : Number.POSITIVE_INFINITY) : [];
  const walk = useWalk(plies.length, data ? lowest(data) : 0);
  if (error) return <Empty title="This game cannot be shown"><span>{error}. <a href={href(state.id, "arena")}>The arena</a></span></Empty>;
  if (!data) return <Empty title="Loading…" />;
  const { shown } = walk;
  const fen = positionAfter(data, plies, shown);
  const last = plies[shown - 1]?.uci ?? "";
  const move = plies[shown - 1]?.played;
  const chess = isChess(data.game);
  const result = connection.replay && live ? live.result : data.result;
  const turn = toMove(fen);
  const said = (side: number) => plies.slice(0, shown).filter((ply) => ply.side === side && ply.played?.score != null).at(-1);
  const colors: [string, string] = chess ? ["var(--text)", "var(--accent)"] : ["var(--orange)", "var(--accent)"];
  const player = (side: 0 | 1) => (
    <Player key={side} id={side ? data.black : data.white} connection={connection} left={move?.clock[side]} said={said(side)} turn={!result && turn === side} mark={chess ? ["white", "black"][side] : ["first", "second"][side]} of={chess ? "white's" : "the first player's"} color={chess ? ["#fdfdfb", "#23211f"][side] : colors[side]} />
  );
  return (
    <div className="cols">
      <Panel title={`${state.name(data.white)} – ${state.name(data.black)}`} actions={<>{result ? <span className="tag">{result} {data.termination && words(data.termination)}</span> : <span className="pill running">playing</span>}<Neighbours connection={connection} id={id} /><a className="button" href={href(state.id, "arena")}>All boards</a></>}>
        <div className="stack" style={{ justifyItems: "center" }}>
          <div className="bigboard stack" style={{ gap: 8 }} data-testid="bigboard" data-fen={fen} data-ply={shown}>
            {player(flipped ? 0 : 1)}
            {chess ? <Suspense fallback={<SmallBoard game={data.game} fen={fen} last={last} />}><BigChess fen={fen} last={last} flipped={flipped} /></Suspense> : <SmallBoard game={data.game} fen={fen} last={last} />}
            {player(flipped ? 1 : 0)}
          </div>
          <div className="row">
            <button type="button" aria-label="First position" onClick={() => walk.to(0)}>«</button>
            <button type="button" aria-label="Back" onClick={() => walk.by(-1)}>◀</button>
            <span className="num" style={{ minWidth: 70, textAlign: "center" }}>{shown} / {plies.length}</span>
            <button type="button" aria-label="Forward" onClick={() => walk.by(1)}>▶</button>
            <button type="button" aria-label="Newest position" aria-pressed={walk.follows} onClick={() => walk.to(plies.length)}>»</button>
            <button type="button" aria-pressed={walk.playing} onClick={walk.play}>{walk.playing ? "Pause" : "Play"}</button>
            {chess && <button type="button" aria-pressed={flipped} onClick={() => setFlipped(!flipped)}>Flip</button>}
          </div>
        </div>
      </Panel>
      <Panel title="Moves" flush actions={data.result ? <a className="button" href={`/api${runPath(state.id, `/pgn?id=${encodeURIComponent(id)}`)}`} download={`${state.id}-${id}.pgn`}>PGN</a> : null}>
        {plies.length === 0 ? <Empty title="No move yet" /> : (
          <>
            <p className="small muted opening">Opening: {data.opening_name ?? (data.opening.length > 0 ? data.opening.map((ply) => ply.san).join(" ") : "the start position")}{data.opening.length > 0 && `; the first ${counted(data.opening.length, "ply was", "plies were")} given`}</p>
            <MoveList plies={plies} shown={shown} lowest={lowest(data)} pick={walk.to} />
          </>
        )}
        <div className="small muted" style={{ padding: "8px 12px", borderTop: "1px solid var(--line)", overflowWrap: "anywhere" }}><code>{fen}</code></div>
        <EvalGraph plies={plies} shown={shown} names={[state.name(data.white), state.name(data.black)]} colors={colors} onPick={walk.to} />
      </Panel>
    </div>
  );
}

/** Which ply is shown, as the address says: the newest until one steps back, with keys, and by itself. */
function useWalk(length: number, low: number) {
  const at = plyOf(useRoute());
  const [playing, setPlaying] = useState(false);
  const shown = at === null ? length : Math.max(low, Math.min(at, length));
  const to = (ply: number) => say({ ply: ply >= length ? "" : String(Math.max(low, ply)) });
  const by = (plies: number) => to(shown + plies);
  const runs = playing && shown < length;
  useEffect(() => {
    if (playing && !runs) setPlaying(false); // at its end: a step back from there is not played on
  }, [playing, runs]);
  useEffect(() => {
    if (!runs) return;
    const timer = window.setTimeout(() => by(1), PACE);
    return () => window.clearTimeout(timer);
  });
  useEffect(() => {
    const key = (event: KeyboardEvent) => {
      if (!isOurs(event)) return;
      if (event.key === "ArrowLeft") by(-1);
      if (event.key === "ArrowRight") by(1);
      if (event.key === "Home") to(low);
      if (event.key === "End") to(length);
    };
    window.addEventListener("keydown", key);
    return () => window.removeEventListener("keydown", key);
  });
  const play = () => {
    if (!runs && shown >= length) to(low);
    setPlaying(!runs);
  };
  return { shown, to, by, play, playing: runs, follows: at === null };
}

/** The games before and after it, in the order in which they began. */
function Neighbours({ connection: { state }, id }: { connection: Connection; id: string }) {
  const ids = [...state.arena.games.keys()];
  const place = ids.indexOf(id);
  const link = (to: string | undefined, text: string) => to && place >= 0 && <a className="button" href={href(state.id, "game", "", { id: to })}>{text}</a>;
  return <>{link(ids[place - 1], "Previous game")}{link(ids[place + 1], "Next game")}</>;
}

function Player(props: { id: string; connection: Connection; left?: number | null; said?: Ply; turn: boolean; mark: string; of: string; color: string }) {
  const { state } = props.connection;
  const { score, depth } = props.said?.played ?? {};
  return (
    <div className="row" style={{ justifyContent: "space-between" }}>
      <span><EngineLink state={state} id={props.id} /> <Elo state={state} id={props.id} /> <span className="dot ringed" style={{ background: props.color }} /> <span className="muted small">{props.mark}</span>{score != null && <span className="num small" title={`what it said of the position before its move, from ${props.of} side: above 0 that side stands better`}> {scoreText(score)}{depth != null && <span className="muted"> depth {depth}</span>}</span>}</span>
      {(props.left != null || props.turn) && <span className={props.turn ? "clock turn" : "clock"}>{props.left == null ? "to move" : clock(props.left)}</span>}
    </div>
  );
}
