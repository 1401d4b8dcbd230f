// One game: a large board, both clocks, the moves; follows a live game until one steps back.
import { lazy, Suspense, useEffect, useRef, useState } from "react";
import { runPath } from "../api/client";
import type { GameDetail } from "../api/types";
import { Empty, EngineLink, Panel } from "../components/widgets";
import { FourBoard, SmallBoard } from "../components/boards";
import { EvalGraph } from "../components/eval-graph";
import type { Connection } from "../model/connection";
import { clock, words } from "../model/format";
import { useResource } from "../model/hooks";
import { isChess, toMove } from "../model/position";
import { href } from "../model/router";
import { scoreText } from "../model/score";

const BigChess = lazy(() => import("../components/big-chess"));

export function GameView({ connection, id }: { connection: Connection; id: string }) {
  const { state } = connection;
  const live = state.games.get(id);
  const path = runPath(state.id, `/game?id=${encodeURIComponent(id)}`);
  const { data, error } = useGame(path, `${live?.ply ?? 0}/${live?.result ?? ""}`);
  const [at, setAt] = useState<number | null>(null);
  const upTo = connection.replay && live ? live.ply : Number.POSITIVE_INFINITY;
  const moves = (data?.moves ?? []).filter((move) => move.ply <= upTo);
  const shown = at === null ? moves.length : Math.min(at, moves.length);
  const step = (by: number) => setAt((now) => {
    const next = Math.max(0, Math.min(moves.length, (now ?? moves.length) + by));
    return next >= moves.length ? null : next;
  });
  useEffect(() => {
    const key = (event: KeyboardEvent) => {
      if (event.target instanceof HTMLInputElement || event.target instanceof HTMLTextAreaElement) return;
      if (event.key === "ArrowLeft") step(-1);
      if (event.key === "ArrowRight") step(1);
      if (event.key === "Home") setAt(0);
      if (event.key === "End") setAt(null);
    };
    window.addEventListener("keydown", key);
    return () => window.removeEventListener("keydown", key);
  });
  if (error) return <Empty title="This game cannot be shown"><span>{error}. <a href={href(state.id, "arena")}>The arena</a></span></Empty>;
  if (!data) return <Empty title="Loading…" />;
  const move = shown > 0 ? moves[shown - 1] : null;
  const fen = move?.fen ?? data.start;
  const chess = isChess(data.game);
  const result = connection.replay && live ? live.result : data.result;
  const turn = toMove(fen);
  const first = toMove(data.start);
  const said = (side: number) => moves.slice(0, shown).filter((m, i) => (i + first) % 2 === side && m.score != null).at(-1);
  const colors: [string, string] = chess ? ["var(--text)", "var(--accent)"] : ["var(--orange)", "var(--accent)"];
  return (
    <div className="cols">
      <Panel title={`${state.name(data.white)} – ${state.name(data.black)}`} actions={<>{result ? <span className="tag">{result} {data.termination && words(data.termination)}</span> : <span className="pill running">playing</span>}<a className="button" href={href(state.id, "arena")}>All boards</a></>}>
        <div className="stack" style={{ justifyItems: "center" }}>
          <div className="bigboard stack" style={{ gap: 8 }} data-testid="bigboard" data-fen={fen} data-ply={shown}>
            <Player id={data.black} connection={connection} left={move?.clock[1]} said={said(1)} second turn={!result && turn === 1} mark={chess ? "black" : "second"} color={chess ? "#23211f" : "var(--accent)"} />
            {chess ? <Suspense fallback={<SmallBoard game={data.game} fen={fen} last={move?.uci ?? ""} />}><BigChess fen={fen} last={move?.uci ?? ""} /></Suspense> : <FourBoard text={fen} last={move?.uci ?? ""} />}
            <Player id={data.white} connection={connection} left={move?.clock[0]} said={said(0)} turn={!result && turn === 0} mark={chess ? "white" : "first"} color={chess ? "#fdfdfb" : "var(--orange)"} />
          </div>
          <div className="row">
            <button type="button" aria-label="First position" onClick={() => setAt(0)}>«</button>
            <button type="button" aria-label="Back" onClick={() => step(-1)}>◀</button>
            <span className="num" style={{ minWidth: 70, textAlign: "center" }}>{shown} / {moves.length}</span>
            <button type="button" aria-label="Forward" onClick={() => step(1)}>▶</button>
            <button type="button" aria-label="Newest position" aria-pressed={at === null} onClick={() => setAt(null)}>»</button>
          </div>
        </div>
      </Panel>
      <Panel title="Moves" flush actions={data.result ? <a className="button" href={`/api${runPath(state.id, `/pgn?id=${encodeURIComponent(id)}`)}`} download={`${state.id}-game.pgn`}>PGN</a> : null}>
        {moves.length === 0 ? <Empty title="No move yet">{data.opening.length > 0 ? `Opening: ${data.opening.join(" ")}` : null}</Empty> : (
          <>
          <p className="small muted opening">Opening: {data.opening_name ?? (data.opening.length > 0 ? data.opening.join(" ") : "the start position")}</p>
          <div className="moves" tabIndex={0} role="region" aria-label="Moves">
            {moves.map((m, i) => (
              <MovePart key={m.ply} number={(i + first) % 2 === 0 || i === 0 ? Math.floor((i + first) / 2) + 1 : null} indent={i === 0 && first === 1} san={m.san} title={[m.seconds ? `${m.seconds.toFixed(2)} s` : "", m.score != null ? scoreText(m.score) : "", m.depth != null ? `depth ${m.depth}` : ""].filter(Boolean).join(", ")} current={shown === i + 1} onPick={() => setAt(i + 1 >= moves.length ? null : i + 1)} />
            ))}
          </div>
          </>
        )}
        <div className="small muted" style={{ padding: "8px 12px", borderTop: "1px solid var(--line)", overflowWrap: "anywhere" }}><code>{fen}</code></div>
        <EvalGraph moves={moves} first={first} shown={shown} names={[state.name(data.white), state.name(data.black)]} colors={colors} onPick={(ply) => setAt(ply >= moves.length ? null : ply)} />
      </Panel>
    </div>
  );
}

/** The game, asked again as moves come, without an empty moment in between. */
function useGame(path: string, when: string): { data: GameDetail | null; error: string } {
  return useResource<GameDetail>(path, 0, when);
}

function Player(props: { id: string; connection: Connection; left?: number | null; said?: GameDetail["moves"][number]; turn: boolean; second?: boolean; mark: string; color: string }) {
  const { state } = props.connection;
  return (
    <div className="row" style={{ justifyContent: "space-between" }}>
      <span><EngineLink state={state} id={props.id} /> <span className="dot" style={{ background: props.color, boxShadow: "0 0 0 1px var(--line-strong)" }} /> <span className="muted small">{props.mark}</span>{props.said?.score != null && <span className="num small" title="what it said of its own chances before its move: above 0 it stands better"> {scoreText(props.second ? -props.said.score : props.said.score)}{props.said.depth != null && <span className="muted"> depth {props.said.depth}</span>}</span>}</span>
      {(props.left != null || props.turn) && <span className={props.turn ? "clock turn" : "clock"}>{props.left == null ? "to move" : clock(props.left)}</span>}
    </div>
  );
}

function MovePart(props: { number: number | null; indent: boolean; san: string; title: string; current: boolean; onPick: () => void }) {
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    // within its own list only: scrollIntoView would move the page
    const list = button.current?.parentElement;
    if (props.current && list && button.current) list.scrollTop = button.current.offsetTop - list.offsetTop - list.clientHeight / 2;
  }, [props.current]);
  return (
    <>
      {props.number !== null && <span>{props.number}.</span>}
      {props.indent && <span>…</span>}
      <button ref={button} type="button" aria-current={props.current} title={props.title} onClick={props.onPick}>{props.san}</button>
    </>
  );
}
