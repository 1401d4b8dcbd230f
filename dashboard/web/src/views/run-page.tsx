// One run: its head, its tabs, and the view that the address names.
import { type FormEvent, lazy, type ReactNode, Suspense, useEffect, useRef, useState } from "react";
import { get, post, runPath } from "../api/client";
import type { Launch } from "../api/types";
import { Brief, Empty, Status } from "../components/widgets";
import { Boundary } from "../components/boundary";
import { Shell } from "../components/shell";
import type { Connection } from "../model/connection";
import { count } from "../model/format";
import { useRun } from "../model/hooks";
import { href, redirect, type Route, VIEWS } from "../model/router";
import type { RunState } from "../model/run-state";
import { tabTitle } from "../model/tab-title";
import { FactsView } from "./facts";
import { FailuresView } from "./failures";
import { NodesView } from "./nodes";
import { Overview } from "./overview";

const AnalysisView = lazy(() => import("./analysis").then((file) => ({ default: file.AnalysisView })));
const ArenaView = lazy(() => import("./arena").then((file) => ({ default: file.ArenaView })));
const GameView = lazy(() => import("./game").then((file) => ({ default: file.GameView })));
const GraphView = lazy(() => import("./graph").then((file) => ({ default: file.GraphView })));
const IslandsView = lazy(() => import("./islands").then((file) => ({ default: file.IslandsView })));
const WritersView = lazy(() => import("./writers").then((file) => ({ default: file.WritersView })));
const NodeView = lazy(() => import("./node").then((file) => ({ default: file.NodeView })));

export function RunPage({ route, run, themeButton }: { route: Route; run: string; themeButton: ReactNode }) {
  const speedText = route.query.get("speed");
  const speed = speedText === null ? null : Math.min(10_000, Math.max(0.1, Number(speedText) || 10));
  const connection = useRun(run, speed);
  const { state } = connection;
  useEffect(() => {
    if (!VIEWS.includes(route.view)) redirect(href(run));
  }, [route.view, run]);
  const replaying = connection.replay !== null;
  const title = tabTitle(state, replaying);
  useEffect(() => {
    document.title = title;
  }, [title]);
  const status = connection.phase === "failed" ? "unreadable" : replaying ? "replay" : state.status;
  return (
    <Shell
      crumb={<div className="crumb"><span className="sep">/</span><h1 title={run}>{state.run?.title || run}</h1><Status status={status} /></div>}
      actions={<><Actions connection={connection} />{themeButton}</>}
      tabs={<Tabs connection={connection} view={route.view} />}
      views={tabsOf(state).map(([name]) => name)}
      below={replaying ? <ReplayBar connection={connection} /> : null}
    >
      <Line connection={connection} />
      {connection.phase === "failed" ? (
        <Empty title="This run cannot be shown"><span>{connection.error} <a href="#/">All runs</a></span></Empty>
      ) : state.run === null ? (
        <Empty title="Loading…" />
      ) : (
        <Boundary place={`${route.view}/${route.id}`}><Suspense fallback={<Empty title="Loading…" />}><View route={route} connection={connection} /></Suspense></Boundary>
      )}
    </Shell>
  );
}

function View({ route, connection }: { route: Route; connection: Connection }) {
  switch (route.view) {
    case "graph": return <GraphView connection={connection} />;
    case "nodes": return <NodesView connection={connection} />;
    case "node": return !route.id ? <NodesView connection={connection} /> : <NodeView connection={connection} id={route.id} key={route.id} />;
    case "failures": return <FailuresView connection={connection} />;
    case "analysis": return <AnalysisView connection={connection} />;
    case "islands": return <IslandsView connection={connection} />;
    case "arena": return <ArenaView connection={connection} />;
    case "game": return <GameView connection={connection} id={route.query.get("id") ?? ""} key={route.query.get("id")} />;
    case "writers": return <WritersView connection={connection} />;
    case "facts": return <FactsView connection={connection} />;
    default: return <Overview connection={connection} />;
  }
}

/** The views that this run has, as their tabs are called. */
function tabsOf(state: RunState): [string, string][] {
  const failed = state.nodes.reduce((sum, node) => sum + (node.failure ? 1 : 0), 0);
  const tabs: [string, string][] = [["overview", "Overview"], ["graph", "Graph"], ["nodes", `Nodes ${count(state.nodes.length + state.beside.length)}`], ["failures", `Failures ${count(failed)}`]];
  tabs.push(["analysis", "Analysis"]);
  if (state.hasIslands) tabs.push(["islands", "Islands"]);
  if (state.hasArena) tabs.push(["arena", "Arena"]);
  tabs.push(["writers", "Writers"]);
  tabs.push(["facts", "Setup"]);
  return tabs;
}

function Tabs({ connection: { state }, view }: { connection: Connection; view: string }) {
  const active = view === "node" ? "nodes" : view === "game" ? "arena" : view;
  const tabs = tabsOf(state);
  const bar = useRef<HTMLElement>(null);
  useEffect(() => {
    const tab = bar.current?.querySelector<HTMLElement>("[aria-current]"); // on a phone not all of them are in sight
    if (bar.current && tab) bar.current.scrollLeft = tab.offsetLeft - (bar.current.clientWidth - tab.clientWidth) / 2;
  }, [active, tabs.join()]);
  return (
    <nav className="tabs" aria-label="Views of the run" ref={bar}>
      {tabs.map(([name, text]) => <a key={name} href={href(state.id, name)} aria-current={name === active ? "page" : undefined}>{text}</a>)}
    </nav>
  );
}

/** The state of the connection; also what a test reads. */
function Line({ connection }: { connection: Connection }) {
  const { state, phase, reconnects, gaps } = connection;
  useEffect(() => {
    Object.assign(document.documentElement.dataset, { seq: String(state.seq), phase, reconnects: String(reconnects), gaps: String(gaps), faults: String(state.faults) });
  });
  if (phase !== "reconnecting") return null;
  return <div className="banner" role="status" style={{ marginBottom: 12 }}>{connection.error || "The connection is cut."} Trying again{state.run ? "; nothing is lost" : ""}.</div>;
}

function Actions({ connection }: { connection: Connection }) {
  const { state } = connection;
  const [asked, setAsked] = useState("");
  const [more, setMore] = useState(false);
  const [sends, setSends] = useState(false);
  const [error, setError] = useState("");
  useEffect(() => { setAsked(""); setError(""); setMore(false); }, [state.live]);
  const act = async (verb: "stop" | "resume", body: object = {}) => {
    setError("");
    setSends(true);
    try {
      const launch = await post<Launch>(runPath(state.id, `/${verb}`), body);
      setAsked(verb);
      if (verb === "resume") void watch(launch.launch);
    } catch (problem) {
      setError((problem as Error).message);
    }
    setSends(false);
  };
  /** A resume that ends at once says why on its last line. */
  const watch = async (launch: string) => {
    for (let i = 0; i < 120; i += 1) {
      await new Promise((resolve) => window.setTimeout(resolve, 500));
      const now = await get<Launch>(`/launches/${launch}`).catch(() => null);
      if (connection.state.live) return;
      if (now && now.state !== "ended") continue;
      if (now?.exit_code) setError(now.output.trim().split("\n").at(-1) ?? "");
      break;
    }
    setAsked(""); // not known any more, or long at it: it can be asked for again
  };
  if (connection.replay) return <a className="button" href={`#/run/${encodeURIComponent(state.id)}`}>Leave replay</a>;
  return (
    <>
      {error && <span className="bad small" role="alert">{error}</span>}
      {state.live ? (
        <button type="button" disabled={sends} onClick={(e) => { if (e.detail < 2) void act("stop"); }} title={asked ? "stops at once, without finishing what is in flight" : "finishes what is in flight, saves and ends"}>{asked === "stop" ? "Stopping… stop now" : "Stop"}</button>
      ) : state.run ? (
        <>
          <a className="button" href={`#/run/${encodeURIComponent(state.id)}/overview?speed=10`} aria-label="Replay"><Brief text="Replay" brief="▶" /></a>
          <button type="button" disabled={sends || asked === "resume"} aria-expanded={more} onClick={() => (state.over ? setMore(!more) : void act("resume"))}>{asked === "resume" ? "Resuming…" : "Resume"}</button>
          {more && state.over && asked !== "resume" && <More connection={connection} go={(body) => void act("resume", body)} />}
        </>
      ) : null}
    </>
  );
}

/** A finished run goes on only with more than what ended it. */
function More({ connection: { state }, go: resume }: { connection: Connection; go: (body: object) => void }) {
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault(); // an action would empty the fields, also where it is refused
    const form = new FormData(event.currentTarget);
    const given = ["max_steps", "max_generations", "seconds", "usd"].map((name): [string, number] => [name, Number(form.get(name))]).filter(([, value]) => value > 0);
    resume(Object.fromEntries(given));
  };
  const { max_steps: steps, max_generations: generations, budget } = state.started ?? {};
  const field = (name: string, text: string, used: number, limit: number | null | undefined) => (
    <label className="field">{text} in all<input name={name} type="number" step={name === "usd" ? "any" : 1} min={0} placeholder={limit == null ? "no limit" : `now ${limit}`} title={`${used} used`} /></label>
  );
  return (
    <form onSubmit={submit} className="popover stack" aria-label="Resume with more">
      <p className="small">This run has ended{state.finished?.reason ? `: ${state.finished.reason}` : ""}. Give it more of what ended it.</p>
      <div className="form">
        {field("max_steps", "Steps", state.steps, steps)}
        {generations != null && field("max_generations", "Generations", state.generationsBegun, generations)}
        {field("seconds", "Seconds", Math.round(state.clock.elapsed), budget?.seconds)}
        {field("usd", "Dollars", state.totals.cost_usd ?? 0, budget?.usd)}
      </div>
      <button type="submit" className="primary">Go on</button>
    </form>
  );
}

const SPEEDS = [1, 5, 10, 50, 200];

function ReplayBar({ connection }: { connection: Connection }) {
  const { state } = connection;
  const last = state.run?.last_seq ?? 0;
  const speed = connection.replay?.speed ?? 10;
  const speeds = SPEEDS.includes(speed) ? SPEEDS : [...SPEEDS, speed].sort((a, b) => a - b);
  return (
    <div className="replaybar" role="region" aria-label="Replay">
      <div>
        <button type="button" onClick={() => connection.command({ paused: !connection.paused })} disabled={connection.replayEnded}>{connection.paused ? "Play" : "Pause"}</button>
        <label className="row small">Speed
          <select value={speed} onChange={(e) => connection.command({ speed: Number(e.target.value) })}>{speeds.map((s) => <option key={s} value={s}>{s}×</option>)}</select>
        </label>
        <div className="meter" style={{ flex: 1, minWidth: 80 }} role="progressbar" aria-label="Replayed" aria-valuemin={0} aria-valuemax={last} aria-valuenow={state.seq}><span style={{ width: `${last ? (100 * state.seq) / last : 0}%` }} /></div>
        <span className="num">event {state.seq} of {last}</span>
        {connection.replayEnded && <button type="button" onClick={() => connection.rewind()}>Again</button>}
      </div>
    </div>
  );
}
