// A run at a glance: outcome, curve, budget, what runs now, what happened.
import { type FormEvent, useMemo, useState } from "react";
import { post, runPath } from "../api/client";
import type { Accepted } from "../api/accepted";
import type { RunDetail, Winner } from "../api/types";
import { Empty, Failed, Meter, NodeLink, Operator, Panel, Segmented } from "../components/widgets";
import { Chart, OffScale } from "../components/chart";
import { useScale } from "../components/scale";
import type { Connection } from "../model/connection";
import { type Along, AXES, beyond, curveOf, yRange } from "../model/curve";
import { count, counted, dollars, interval, metric, seconds, time, whole } from "../model/format";
import { championLine, CHAMPIONS, RATED } from "../model/arena";
import { feedLine, gamesText, half, pairings } from "../model/feed";
import { endText } from "../model/plain";
import { useAddressed, useColors } from "../model/hooks";
import { logRange } from "../model/log-scale";
import { activeSeconds, leftText, meanSpeed, outcomeOf, secondsLeft } from "../model/progress";
import { go, href } from "../model/router";
import { Running } from "./running";
import { TakeAlong } from "./take-along";
import { COLOURS, colourOf, isStep } from "../model/operators";
import type { Played } from "../model/facts";
import type { RunState } from "../model/run-state";

const COLORS = ["accent", "muted", "line", "text", ...COLOURS] as const;
export function Overview({ connection }: { connection: Connection }) {
  const { state } = connection;
  const told = conclusionOf(connection);
  return (
    <div className="stack">
      {told && <VerdictPanel run={state.id} told={told} />}
      <Stats state={state} told={told} />
      <div className="cols level">
        <div className="stack">
          <CurvePanel connection={connection} />
          <Running connection={connection} />
        </div>
        <div className="stack">
          <Budget state={state} />
          {!connection.replay && <TakeAlong state={state} />}
          <Notes connection={connection} />
        </div>
      </div>
      <Feed state={state} />
    </div>
  );
}

/** The run's facts once it has its answer, or nobody works on it: who leads a stopped run is said by the server. */
function conclusionOf({ state }: Connection): RunDetail | null {
  if (!state.live && !state.atEnd) return null; // a replay on its way
  const known = state.run?.winner?.chosen || state.run?.conclusion?.kind === "none" ? state.run : null;
  if (state.over) return known;
  return state.live || state.steps === 0 ? null : state.run;
}

function VerdictPanel({ run, told }: { run: string; told: RunDetail }) {
  const runner = told.best_on_validation;
  const own = told.best_of_search?.node_id === runner?.node_id ? null : told.best_of_search;
  if (!told.conclusion) return null;
  return (
    <Panel title="Verdict">
      <p data-testid="verdict">{told.conclusion.text}</p>
      {(told.conclusion.warnings ?? []).map((warning) => <p key={warning} className="small">note: {warning}</p>)}
      {runner && <p className="muted small">Best {runner.where}: {metric(runner.metric)} by <NodeLink run={run} id={runner.node_id} text={runner.name} />, not chosen: {runner.why_not}.</p>}
      {own && <p className="muted small">Best of the search: {metric(own.metric)} by <NodeLink run={run} id={own.node_id} text={own.name} />, not chosen: {own.why_not}.</p>}
      {told.effort && <p className="muted small">{told.effort}.</p>}
    </Panel>
  );
}

/** The baseline that is better than all that the search has found, and would win now; as `reports/winner.py` has it. */
function ahead(state: RunState) {
  const [first] = state.references;
  const best = state.best?.metric ?? null;
  if (state.over || state.hasArena || first === undefined) return null;
  return best === null || (state.lowerIsBetter ? first.metric < best : first.metric > best) ? first : null;
}

function Best({ state, winner }: { state: RunState; winner: Winner | null }) {
  const label = `${winner?.chosen ? "Winner" : state.hasArena ? "Champion" : "Best so far"}: ${state.unit} ${state.lowerIsBetter ? "↓" : "↑"}`;
  const leads = winner ? null : ahead(state);
  if (leads) return <Stat label={label} value={metric(leads.metric)} note={<><NodeLink run={state.id} id={leads.id} text={leads.name} /> · validation; {state.best ? `${metric(state.best.metric)} by the search` : "no score by the search yet"}</>} />;
  const best = winner ?? state.best;
  const who = best && <NodeLink run={state.id} id={best.node_id} text={winner?.role === "user" ? "your program" : winner?.role === "baseline" ? winner.name : state.names.get(best.node_id)} />;
  const shown = best && state.arena.rated.has(best.node_id) ? whole(best.metric ?? 0) : metric(best?.metric);
  return <Stat label={label} value={shown} note={best ? <>{margin(state, best.node_id)}{who} · {whereOf(state)}, {best.metric_source ?? "no source"}{(winner?.scores ?? 1) > 1 && `, mean of ${winner?.scores} scores`}{winner?.noise ? `, standard error ${metric(winner.noise, 2)}` : ""}</> : "nothing scored yet"} />;
}

/** Where scores come from that steer the search, as the server says it. */
const whereOf = (state: RunState): string => (state.hasArena ? RATED : "on validation");

/** `± 90 · `: how far an engine's rating may be off. */
function margin(state: RunState, id: string): string {
  const rating = state.arena.rated.get(id);
  return rating && rating.high > rating.low ? `± ${whole((rating.high - rating.low) / 2)} · ` : "";
}

function Final({ state, winner }: { state: RunState; winner: Winner | null }) {
  const note = winner?.final_interval ? `95 %: ${interval(winner.final_interval)}` : winner?.final_metric != null ? "the winner's; never seen by the search" : winner?.chosen ? "this problem has none" : "opened at the end";
  return <Stat label={state.hasArena ? "Final: Elo over the first champion, fresh games" : "Final part"} value={metric(winner?.final_metric)} note={note} />;
}

/** The best baseline on both parts, beside the winner's. */
function Reference({ state, told }: { state: RunState; told: RunDetail | null }) {
  const reference = state.references.find(({ name }) => name === told?.against) ?? state.references[0]; // as the verdict names it
  const row = (told?.baselines ?? []).find((b) => b.node_id === reference?.id);
  const own = told?.winner && told.winner.node_id === reference?.id ? told.best_of_search : null; // the winner stands in a box of its own
  if (own) return <Stat label="Best of the search" value={metric(own.metric)} note={<><NodeLink run={state.id} id={own.node_id} text={own.name.slice(0, 8)} /> · {own.where}</>} />;
  const leads = reference != null && ahead(state)?.id === reference.id;
  const final = typeof row?.final === "number" ? `final ${metric(row.final)}` : leads ? "on validation, ahead of the search" : whereOf(state);
  return <Stat label={reference ? reference.name === "your program" ? "Your program" : `Baseline ${reference.name}` : "Baseline"} value={metric(reference?.metric)} note={reference ? final : "none scored"} />;
}

function Stats({ state, told }: { state: RunState; told: RunDetail | null }) {
  const winner = told?.winner ?? null;
  const failed = state.nodes.filter((node) => node.is_buggy).length;
  const share = state.nodes.length ? (100 * failed) / state.nodes.length : 0;
  return (
    <div className="stats" data-testid="stats">
      <Best state={state} winner={winner} />
      <Final state={state} winner={winner} />
      <Reference state={state} told={told} />
      <Stat label="Steps" value={count(state.steps)} note={pace(state)} />
      <Stat label="Failed" value={count(failed)} note={`${metric(share, share < 1 ? 1 : 2)} % of the nodes`} />
      <Stat label="Writer" value={state.started?.writer || "–"} note={state.started?.policy ? `policy: ${state.started.policy.replaceAll("_", " ")}` : ""} />
      <Stat label="Sandbox" value={state.started?.sandbox || "–"} note={state.started?.sandbox === "none" ? "scores are unisolated" : "isolated"} />
    </div>
  );
}

/** How fast, and for how long still. */
function pace(state: RunState): string {
  const speed = meanSpeed(state.steps, activeSeconds(state));
  const left = state.live ? leftText(secondsLeft(state), state.open.size) : "";
  const parts = [state.started?.max_steps ? `of ${state.started.max_steps}` : "", speed === null ? "" : speed >= 0.5 ? `${metric(speed, 2)} a second` : `${metric(speed * 60, 2)} a minute`, left];
  return parts.filter(Boolean).join(" · ");
}

/** Characters from which a value is set smaller. */
const LONG = 12;

function Stat(props: { label: string; value: string; note: React.ReactNode }) {
  return (
    <div className="stat">
      <div className="label">{props.label}</div>
      <div className={props.value.length > LONG ? "value long" : "value"} title={props.value}>{props.value}</div>
      <div className="note">{props.note}</div>
    </div>
  );
}

function CurvePanel({ connection }: { connection: Connection }) {
  const { state } = connection;
  const colors = useColors(COLORS);
  const lower = state.lowerIsBetter;
  const size = state.nodes.length;
  const [along, setAlong] = useAddressed<Along>("by", "steps", { among: ["steps", "seconds"], kept: true });
  const data = useMemo(() => curveOf(state.nodes, lower, state.beside, along), [state, size, lower, state.beside.length, along]);
  const best = useMemo(() => (state.hasArena ? championLine(state, data.ids) : data.best), [state, data, state.arena.rated.size]);
  const of = state.hasArena ? CHAMPIONS : "best so far";
  const operators = useMemo(() => [...new Set(data.operators)], [data]);
  const lines = useMemo(() => state.references.map((b) => ({ label: b.id === state.bestId && state.over ? `${b.name}, winner` : b.name, value: b.metric })), [state, state.baselines.length, size, state.over]);
  const series = useMemo(
    () => [
      ...operators.map((operator) => ({ label: operator, color: colors[colourOf(operator)], kind: "points" as const, values: data.metrics.map((value, i) => (data.operators[i] === operator ? value : null)) })),
      { label: of, color: colors.accent, kind: "step" as const, values: best },
    ],
    [data, best, operators, colors, of],
  );
  const [log, scale] = useScale(data.metrics);
  const range = useMemo(() => (log ? logRange(data.metrics, lines.map((l) => l.value)) : yRange(data.metrics, lower, state.hasArena ? [] : lines.map((l) => l.value))), [data, lower, lines, log]); // of engines those that contend
  const winner = state.over && state.best ? data.ids.indexOf(state.best.node_id) : -1;
  const ring = winner < 0 ? undefined : { x: data.x[winner], y: data.metrics[winner], color: colors.text };
  const off = useMemo(() => beyond(data.metrics, range).length, [data, range]);
  return (
    <Panel title={state.hasArena ? `Newest Elo of each engine, ${along === "steps" ? "at the step that wrote it" : "when it was first rated"}` : "Best so far"} fill actions={<div className="legend">{operators.map((name) => <Operator key={name} name={name} />)}<span><span className="dot" style={{ background: colors.accent }} />{of}</span>{ring && <span>○ winner</span>}{scale}<Segmented label="By" value={along} onChange={setAlong} options={[["steps", "step"], ["seconds", "time"]]} /></div>}>
      {data.x.length === 0 ? (
        <Empty title="Nothing scored yet">{state.atEnd ? "No node of this run has a valid score: see Failures." : "The first verdict appears here as soon as it is reached."}</Empty>
      ) : (
        <><Chart label={`Metric by ${AXES[along]}; ${of} ${metric(best.at(-1))}`} x={data.x} series={series} lines={lines} ring={ring} range={range} log={log} axis={AXES[along]} whole={along === "steps"} grid={colors.line} text={colors.muted} fill nameOf={(i) => state.called(data.ids[i])} onPick={(i) => go(href(state.id, "node", data.ids[i]))} />
        <OffScale scores={off} /></>
      )}
    </Panel>
  );
}

function Budget({ state }: { state: RunState }) {
  const active = activeSeconds(state);
  const reason = state.live ? "" : state.finished?.reason || (state.atEnd && state.run?.reason);
  const budget = state.started?.budget ?? {};
  const tokens = state.totals.prompt_tokens == null && state.totals.completion_tokens == null ? null : (state.totals.prompt_tokens ?? 0) + (state.totals.completion_tokens ?? 0);
  const machines = ((budget.usd_per_hour ?? 0) * (active ?? 0)) / 3600;
  const cost = machines ? (state.totals.cost_usd ?? 0) + machines : state.totals.cost_usd;
  const steps = state.nodes.filter((node) => isStep(node.operator));
  const early = ([["duplicate", "duplicate"], ["without a program, since nothing is left to gain", "left"], ["not scored in full", "partly"]] as const).map(([text, what]) => [text, steps.filter((node) => outcomeOf(node) === what).length] as const).filter(([, n]) => n > 0);
  const of = (limit: number | null | undefined, text: string) => (limit == null ? "" : ` / ${text}`);
  return (
    <Panel title="Budget and cost">
      <div className="stack" style={{ gap: 9 }}>
        <Meter plan label="Steps" used={state.steps} limit={state.started?.max_steps} text={`${state.steps}${of(state.started?.max_steps, String(state.started?.max_steps))}`} />
        {state.started?.max_generations != null && <Meter plan label="Generations begun" used={state.generationsBegun} limit={state.started.max_generations} text={`${state.generationsBegun} / ${state.started.max_generations}`} />}
        <Meter label="Search time" used={active} limit={budget.seconds} text={`${seconds(active)}${of(budget.seconds, seconds(budget.seconds))}`} />
        {state.over && state.clock.whole - active > 1 && <p className="muted small">{seconds(state.clock.whole)} in all, with making ready and the final part.</p>}
        <Meter label="Tokens, prompt and reply" used={tokens ?? 0} limit={tokens == null ? null : budget.tokens} text={`${count(tokens)}${tokens == null ? "" : of(budget.tokens, count(budget.tokens))}`} />
        <Meter label={machines ? "Cost, with the machines" : "Cost"} used={cost ?? 0} limit={cost == null ? null : budget.usd} text={`${dollars(cost)}${cost == null ? "" : of(budget.usd, dollars(budget.usd))}`} />
        <p className="muted small">{counted(state.totals.calls, "call")}, {count(state.totals.cached)} of them from the cache. {state.started?.writer === "rules" && "Written by rules: no model, so no tokens and no cost."}</p>
        {state.run?.unanswered && <p className="muted small">Beside that {state.run.unanswered}.</p>}
        {early.length > 0 && <p className="muted small">{early.map(([text, n]) => (text === "duplicate" ? counted(n, text) : `${n} ${text}`)).join(", ")}, of {counted(state.steps, "step")}.</p>}
        {reason && <p className="small" style={{ overflowWrap: "anywhere" }}>Ended: {endText(reason)}</p>}
      </div>
    </Panel>
  );
}

function Notes({ connection }: { connection: Connection }) {
  const { state } = connection;
  const [text, setText] = useState("");
  const [told, setTold] = useState("");
  const [sends, setSends] = useState(false);
  const [error, setError] = useState("");
  const reads = state.started?.writer !== "rules";
  const can = state.live && !connection.replay && reads;
  const send = async (event: FormEvent) => {
    event.preventDefault();
    setError("");
    setSends(true);
    try {
      setTold((await post<Accepted>(runPath(state.id, "/notes"), { text: text.trim() })).detail);
      setText("");
    } catch (problem) {
      setError((problem as Error).message);
    }
    setSends(false);
  };
  return (
    <Panel title="Note to the next prompt">
      {!can && <p className="muted small">{connection.replay ? "A replay takes no notes." : !reads ? "This run is written by rules, which read no note." : "Only a running search takes notes: resume it to send one."}</p>}
      {can && <form onSubmit={send} className="stack" style={{ gap: 8 }}>
        <textarea aria-label="Note" value={text} maxLength={2000} placeholder="What the next program should try, or leave alone" onChange={(e) => setText(e.target.value)} />
        <div className="row"><button type="submit" disabled={sends || !text.trim()}>Send</button><span className="small muted" role="status">{told}</span></div>
        {error && <Failed error={error} />}
      </form>}
      {state.notes.length > 0 && <ul className="small" style={{ margin: "8px 0 0", paddingLeft: 18 }}>{state.notes.slice(-5).map((note) => <li key={note.seq}>{note.text}</li>)}</ul>}
    </Panel>
  );
}

function Feed({ state }: { state: RunState }) {
  const events = state.happened.slice(-120).reverse();
  return (
    <Panel title="What happened" flush>
      {events.length === 0 ? <Empty title="Nothing yet" /> : (
        <ul className="feed" tabIndex={0} aria-label="Events, newest first">
          {events.map((event) => {
            if (event.type === "games") return <Games key={event.of} state={state} played={event} />;
            const line = feedLine(event, state);
            return (
              <li key={event.seq}>
                <time className="num muted">{time(event.at)}</time>
                <span className={`dot ${line.dot}`} />
                <span className="what" title={line.text}>{line.node ? <NodeLink run={state.id} id={line.node} text={state.called(line.node)} /> : null} {line.text}</span>
                <span className={`num ${line.tone}`}>{line.value}</span>
              </li>
            );
          })}
        </ul>
      )}
    </Panel>
  );
}

/** Games of one thing: a line that opens to its matches, each of them a link to its boards. */
function Games({ state, played }: { state: RunState; played: Played }) {
  const [open, setOpen] = useState(false);
  return (
    <li className="games">
      <time className="num muted">{time(played.at)}</time>
      <span className="dot" />
      <details onToggle={(e) => setOpen(e.currentTarget.open)}>
        <summary>{gamesText(played)}</summary>
        {open && <ul aria-label={gamesText(played)}>{pairings(played).map(({ of: [a, b], points, games, generation }) => (
          <li key={a + b}>
            <a href={href(state.id, "arena", "", { pair: [a, b, generation ?? "final"].join() })}>{state.name(a)} – {state.name(b)}</a>
            <span className="num">{half(points[0])} : {half(points[1])}</span><span className="muted small">{counted(games, "game")}</span>
          </li>
        ))}</ul>}
      </details>
    </li>
  );
}
