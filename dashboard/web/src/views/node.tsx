// One node, opened: what it changed, what was asked and answered, what it printed, how it was judged and why it was made.
import { type ReactNode, useMemo, useState } from "react";
import { runPath } from "../api/client";
import type { Call, Diff, NodeDetail, Turn } from "../api/types";
import { BestTag, Empty, Failed, Linked, NodeLink, Operator, Outcome, Panel, Segmented } from "../components/widgets";
import { CodeView, Copy, DiffView, SideView } from "../components/code";
import { Markdown } from "../components/markdown";
import type { Connection } from "../model/connection";
import { RATED } from "../model/arena";
import { disagrees } from "../model/curve";
import { bytes as sizeText, count, counted, dollars, interval, metric, nodeTitle, seconds, whole } from "../model/format";
import { isNarrow, useAddressed, useKept, useResource } from "../model/hooks";
import { sentences } from "../model/why";
import { plainMessage } from "../model/plain";
import { href } from "../model/router";
import type { RunState } from "../model/run-state";
import { Marks } from "./marks";

const STAGES = ["select", "prompt", "reply", "code", "execute", "review"];
const STAGE_WORDS: Record<string, string> = { select: "chosen", prompt: "prompt written", reply: "reply awaited", code: "program read from it", execute: "run and scored", review: "reviewed" };
const TABS = ["diff", "code", "session", "calls", "output"] as const;
type Tab = (typeof TABS)[number];

export function NodeView({ connection, id }: { connection: Connection; id: string }) {
  const { state } = connection;
  const known = state.fact(id);
  const base = runPath(state.id, `/nodes/${encodeURIComponent(id)}`);
  const { data, error } = useResource<NodeDetail>(base, 0, `${known !== undefined} ${state.arena.rated.get(id)?.elo} ${state.children.get(id)?.length}`);
  const { data: turns } = useResource<Turn[]>(`${base}/transcript`, 0, known !== undefined);
  const [picked, setTab] = useAddressed<Tab | "">("part", "", { among: TABS });
  const [wrap, setWrap] = useKept("wrap", isNarrow());
  const [side, setSide] = useKept("diff-side", !isNarrow());
  if (error) return <Empty title="This node cannot be shown"><span>{error}. <a href={href(state.id, "nodes")}>All nodes</a></span></Empty>;
  if (!data) return <Empty title="Loading…" />;
  const node = { ...data.node, id: data.node.id ?? id }; // the server always tells it; in Python it has a default
  const tab = picked || (node.parent_ids?.length ? "diff" : "code");
  const rating = state.arena.rated.get(node.id);
  const halves = tab === "diff" && side;
  const message = node.message ?? "";
  return (
    <div className="stack">
      <Panel title={nodeTitle(state.names.get(node.id), node.step)} actions={<><Marks connection={connection} id={node.id} mark={known?.mark ?? data.mark} />{known ? <a className="button" href={href(state.id, "graph", "", { node: node.id })}>In the graph</a> : null}</>}>
        <div className="row" style={{ gap: 14 }}>
          <span className="mono" data-testid="node-id">{node.id}</span>
          <Operator name={node.operator ?? ""} />
          <Outcome node={{ failure: node.failure, is_buggy: node.is_buggy ?? false, is_valid: node.is_valid ?? true, nothing_left: node.nothing_left ?? false, metric: node.metric_value }} />
          {node.id === state.bestId && <BestTag state={state} />}
          {node.metric_source && <span className={node.metric_source === "verified" ? "tag ok" : "tag warn"}>{node.metric_source}</span>}
          <Claim claimed={node.claimed_metric} verified={node.metric_value} />
          {node.parent_ids && node.parent_ids.length > 0 && <span className="muted small">from {node.parent_ids.map((p) => <span key={p}><NodeLink run={state.id} id={p} text={state.called(p)} /> </span>)}</span>}
        </div>
        {message && <p className={node.failure ? "bad" : "muted"} style={{ marginTop: 8, overflowWrap: "anywhere" }}><Linked state={state} text={plainMessage(message)} /></p>}
      </Panel>
      <div className="cols">
        <div className="stack">
        <Panel title="Program" flush actions={<><label className="small row" title={halves ? "side by side, long lines always wrap" : undefined}><input type="checkbox" checked={wrap || halves} disabled={halves} onChange={(e) => setWrap(e.target.checked)} /> wrap</label><Copy text={node.code} what="program" /><Segmented label="Show" value={tab} onChange={setTab} options={[["diff", "difference"], ["code", "code"], ...(turns?.length ? [["session", "session"] as [Tab, string]] : []), ["calls", "prompt and reply"], ["output", "output"]]} /></>}>
          {tab === "diff" && <DiffTab path={`${base}/diff`} state={state} wrap={wrap} side={side} setSide={setSide} />}
          {tab === "code" && <CodeView code={node.code} wrap={wrap} />}
          {tab === "session" && <Session turns={turns ?? []} />}
          {tab === "calls" && <Calls path={`${base}/calls`} />}
          {tab === "output" && <Output node={node} />}
        </Panel>
        {node.plan && <Panel title="Plan"><Text>{node.plan}</Text></Panel>}
        {node.analysis && <Panel title="Review"><Text>{node.analysis}</Text></Panel>}
        {Object.keys(data.why).length > 0 && <Why state={state} operator={node.operator ?? ""} why={data.why} />}
        <Cases connection={connection} signature={node.signature ?? []} parent={node.parent_ids?.[0]} />
        </div>
        <div className="stack">
          <Panel title="Verdict">
            <dl className="kv">
              <dt>Metric</dt><dd className="num">{metric(node.metric_value)} {state.run?.unit}{rating && rating.high > rating.low && ` ± ${whole((rating.high - rating.low) / 2)}`}{!rating && (node.repeats?.length ?? 0) > 1 && `, mean of ${node.repeats?.length} scores`}{!rating && node.interval && `, 95 %: ${interval(node.interval)}`}</dd>
              {data.against_parent && <><dt>Against its parent</dt><dd className="num">{data.against_parent}</dd></>}
              {rating && <><dt>Rated</dt><dd>{RATED}{known?.first != null && known.first !== node.metric_value && `; first ${metric(known.first)}`}</dd></>}
              <dt>Measured by</dt><dd>{node.metric_source === "verified" ? "the evaluator, out of the program's reach" : node.metric_source === "unisolated" ? "the evaluator, within the program's reach" : node.metric_source === "claimed" ? "the program itself" : "nobody"}</dd>
              {node.claimed_metric != null && <><dt>It claimed</dt><dd className="num">{metric(node.claimed_metric)}</dd></>}
              {node.exc_type && <><dt>Exception</dt><dd className="mono">{node.exc_type}</dd></>}
              {node.island != null && <><dt>Island</dt><dd className="num">{node.island}</dd></>}
              {node.generation != null && <><dt>Generation</dt><dd className="num">{node.generation}</dd></>}
              <dt>Children</dt><dd>{data.children_ids.length ? data.children_ids.slice(0, 12).map((c) => <span key={c}><NodeLink run={state.id} id={c} text={state.called(c)} /> </span>) : "none"}{data.children_ids.length > 12 && `and ${data.children_ids.length - 12} more`}</dd>
              {node.visits ? <><dt>Visits</dt><dd className="num">{node.visits}, mean reward {metric((node.total_reward ?? 0) / node.visits)}</dd></> : null}
            </dl>
          </Panel>
          <Files run={state.id} id={node.id} files={data.files ?? []} />
          <Measured metrics={node.metrics ?? {}} artifacts={node.artifacts ?? {}} />
          <Panel title="Time and tokens"><Stages detail={data} /></Panel>
        </div>
      </div>
    </div>
  );
}

/** All that the user's evaluator measured, and the texts that it left for the next prompt. */
function Measured({ metrics, artifacts }: { metrics: Record<string, unknown>; artifacts: Record<string, string> }) {
  if (Object.keys(metrics).length + Object.keys(artifacts).length === 0) return null;
  return (
    <Panel title="Measured">
      <dl className="kv">
        {Object.entries(metrics).map(([name, value]) => <div key={name} style={{ display: "contents" }}><dt>{name}</dt><dd className="num">{typeof value === "number" ? metric(value) : String(value)}</dd></div>)}
      </dl>
      {Object.entries(artifacts).map(([name, text]) => <details key={name}><summary>{name}</summary><Text>{text}</Text></details>)}
    </Panel>
  );
}

function Claim({ claimed, verified }: { claimed?: number | null; verified?: number | null }) {
  if (!disagrees(claimed, verified)) return null;
  return <span className="tag warn">claimed {metric(claimed)}</span>;
}

function Text({ children }: { children: ReactNode }) {
  return <pre className="text" tabIndex={0}>{children}</pre>;
}

/** In sentences, ids as links; what the policy wrote down is a click away. */
function Why({ state, operator, why }: { state: RunState; operator: string; why: Record<string, unknown> }) {
  return (
    <Panel title="Why it was made">
      <div className="stack" style={{ gap: 6 }} data-testid="why">
        {sentences(operator, why, state.lowerIsBetter).map((sentence, i) => <p key={i}><Linked state={state} text={sentence} /></p>)}
        <details><summary className="small muted">as the policy wrote it down</summary><Text>{JSON.stringify(why, null, 1)}</Text></details>
      </div>
    </Panel>
  );
}

const CASES = 12;

/** Case by case beside the first parent: what an average hides. */
function Cases({ connection: { state }, signature, parent }: { connection: Connection; signature: readonly number[]; parent?: string }) {
  const { data } = useResource<NodeDetail>(signature.length && parent ? runPath(state.id, `/nodes/${parent}`) : null);
  const [all, setAll] = useState(false);
  const before = data?.node.signature?.length === signature.length ? data.node.signature : null;
  const rows = useMemo(() => signature.map((value, i) => ({ i, value, was: before?.[i] ?? null })).sort((a, b) => Math.abs((b.was ?? b.value) - b.value) - Math.abs((a.was ?? a.value) - a.value) || a.i - b.i), [signature, before]);
  if (signature.length < 2) return null;
  const better = before ? rows.filter((r) => r.was !== null && (state.lowerIsBetter ? r.value < r.was : r.value > r.was)).length : 0;
  const worse = before ? rows.filter((r) => r.was !== null && (state.lowerIsBetter ? r.value > r.was : r.value < r.was)).length : 0;
  return (
    <Panel title={counted(signature.length, "case")} flush actions={before && <span className="small"><span className="good">{better} better</span>, <span className="bad">{worse} worse</span> than the parent</span>}>
      <div className="scroll" style={{ maxHeight: 300 }} tabIndex={0} role="region" aria-label="Cases"><table>
        <thead><tr><th scope="col" className="num">Case</th><th scope="col" className="num" title={`as the evaluator counts a case; the score (${state.unit}) follows from all of them`}>Value</th>{before && <><th scope="col" className="num">Parent</th><th scope="col" className="num">Change</th></>}</tr></thead>
        <tbody>{rows.slice(0, all ? rows.length : CASES).map((r) => (
          <tr key={r.i}><td className="num">{r.i + 1}</td><td className="num">{metric(r.value)}</td>{before && <><td className="num">{metric(r.was)}</td><td className={`num ${r.was === null || r.value === r.was ? "muted" : r.value < r.was === state.lowerIsBetter ? "good" : "bad"}`}>{r.was === null ? "–" : `${r.value > r.was ? "+" : ""}${metric(r.value - r.was, 3)}`}</td></>}</tr>
        ))}</tbody>
      </table></div>
      {rows.length > CASES && <div style={{ padding: 8 }}><button type="button" onClick={() => setAll(!all)}>{all ? "Only the largest changes" : `All ${rows.length}`}</button></div>}
    </Panel>
  );
}

/** What the program left behind, kept for the best and the newest. */
function Files({ run, id, files }: { run: string; id: string; files: NodeDetail["files"] }) {
  if (!files?.length) return null;
  return (
    <Panel title="Files it left">
      <ul className="small" style={{ margin: 0, paddingLeft: 18 }}>{files.map(({ name, bytes }) => <li key={name}><a className="mono" download href={`/api${runPath(run, `/nodes/${id}/file?${new URLSearchParams({ name })}`)}`}>{name}</a> <span className="muted">{sizeText(bytes)}</span></li>)}</ul>
    </Panel>
  );
}

function DiffTab({ path, state, wrap, side, setSide }: { path: string; state: RunState; wrap: boolean; side: boolean; setSide: (on: boolean) => void }) {
  const [text, choose] = useAddressed("against", "");
  const word = text.trim().toLowerCase();
  const against = !word ? "" : ((word === "best" ? state.best : [...state.nodes, ...state.beside].find((n) => (word.length >= 4 && n.node_id.startsWith(word)) || String(n.number) === word))?.node_id ?? "");
  const { data, error } = useResource<Diff>(against ? `${path}?against=${against}` : path);
  return (
    <>
      <div className="row small" style={{ padding: "7px 12px", borderBottom: "1px solid var(--line)" }} data-testid="diff-head">
        {data && <><span className="good num">+{data.added}</span><span className="bad num">−{data.removed}</span></>}
        <label className="row">against <input list="others" value={text} placeholder={data?.against && !against ? `parent ${state.name(data.against)}` : data && !data.against ? "nothing: it has no parent" : "id, step or best"} onChange={(e) => choose(e.target.value)} style={{ width: 170 }} /></label>
        <datalist id="others"><option value="best" />{state.references.filter((r) => state.byId.has(r.id)).map((r) => <option key={r.id} value={r.id}>{r.name}</option>)}</datalist>
        {text && !against && <span className="muted">no such node: this is the parent</span>}
        <span className="grow" />
        <Segmented label="Layout" value={side ? "side" : "one"} onChange={(value) => setSide(value === "side")} options={[["side", "side by side"], ["one", "one column"]]} />
      </div>
      {error ? <div style={{ padding: 12 }}><Failed error={error} /></div> : !data ? <Empty title="Loading…" /> : data.lines.length === 0 || data.added + data.removed === 0 ? <Empty title="No difference" /> : side ? <SideView diff={data} /> : <DiffView diff={data} wrap={wrap} />}
    </>
  );
}

function Calls({ path }: { path: string }) {
  const { data, error } = useResource<Call[]>(path);
  const [raw, setRaw] = useKept("calls-raw", false);
  const Shown = ({ what, text }: { what: string; text: string }) => <><div className="row"><h3>{what}</h3><span className="grow" /><Copy text={text} what={what.toLowerCase()} /></div>{raw ? <Text>{text}</Text> : <Markdown text={text} />}</>;
  if (error) return <div style={{ padding: 12 }}><Failed error={error} /></div>;
  if (!data) return <Empty title="Loading…" />;
  if (data.length === 0) return <Empty title="No prompt was written for this node">Baselines, tuning and your own programs need none.</Empty>;
  return (
    <div>
      <div className="row small" style={{ padding: "7px 12px" }}><span className="grow" /><Segmented label="Texts" value={raw ? "raw" : "formatted"} onChange={(value) => setRaw(value === "raw")} options={[["formatted", "formatted"], ["raw", "as sent"]]} /></div>
      {data.map((call, i) => (
        <details key={i} open={i === 0}>
          <summary><span className="mono">{call.role}{call.role === "look" && ` ${call.tool}`}{call.attempt ? ` #${call.attempt}` : ""}</span> · {call.provider}/{call.model} · {seconds(call.seconds)} · {count(call.prompt_tokens)} → {counted(call.completion_tokens, "token")} · {dollars(call.cost_usd)} {call.cached && <span className="tag">cached</span>} {call.finish_reason && call.finish_reason !== "stop" && <span className="tag warn">{call.finish_reason}</span>}</summary>
          <div className="inner">
            {call.system && Shown({ what: "System", text: call.system })}
            {Shown({ what: "Prompt", text: call.user })}
            {Shown({ what: "Reply", text: call.reply })}
          </div>
        </details>
      ))}
    </div>
  );
}

/** What a coding agent was told, said and called, turn by turn. */
function Session({ turns }: { turns: readonly Turn[] }) {
  return (
    <div data-testid="session">
      {turns.map((turn, i) => (
        <details key={i} open={turns.length < 4}>
          <summary><span className="num">{i + 1}</span> · {seconds(turn.seconds ?? 0)} · {turn.called?.length ? turn.called.map((call) => call.split(" ")[0]).join(", ") : (turn.said ?? "").slice(0, 80) || "nothing said"} {turn.status !== "200" && <span className="tag warn">{turn.status}</span>}</summary>
          <div className="inner">
            {turn.told?.map((text, k) => <div key={k}><h3>{i ? "What came of it" : "Told"}</h3><Text>{text}</Text></div>)}
            {turn.said && <><h3>Said</h3><Text>{turn.said}</Text></>}
            {turn.called?.map((text, k) => <div key={k}><h3>Called</h3><Text>{text}</Text></div>)}
          </div>
        </details>
      ))}
    </div>
  );
}

function Output({ node }: { node: NodeDetail["node"] }) {
  const logs = node.logs;
  if (!node.term_out && !logs) return <Empty title="It printed nothing" />;
  return <div className="stack" style={{ padding: 12 }}>{node.term_out && <Text>{node.term_out}</Text>}{logs && <><h3>Evaluator</h3><Text>{logs}</Text></>}</div>;
}

function Stages({ detail }: { detail: NodeDetail }) {
  const place = (stage: string) => (STAGES.indexOf(stage) + 1 || 99);
  const stages = Object.entries(detail.stages).sort(([a], [b]) => place(a) - place(b));
  const total = stages.reduce((sum, [, s]) => sum + s, 0) || 1;
  const { totals, node } = detail;
  return (
    <div className="stack" style={{ gap: 8 }}>
      {stages.map(([stage, taken]) => (
        <div key={stage}>
          <div className="row small" style={{ justifyContent: "space-between" }}><span>{STAGE_WORDS[stage] ?? stage}</span><span className="num">{seconds(taken)}</span></div>
          <div className="meter"><span style={{ width: `${(100 * taken) / total}%` }} /></div>
        </div>
      ))}
      <dl className="kv">
        {node.exec_time ? <><dt>Program ran</dt><dd className="num">{seconds(node.exec_time)}</dd></> : null}
        <dt>Calls</dt><dd className="num">{totals.calls}{totals.cached ? `, ${totals.cached} cached` : ""}</dd>
        {totals.prompt_tokens != null && <><dt>Tokens</dt><dd className="num">{count(totals.prompt_tokens)} → {count(totals.completion_tokens)}</dd></>}
        {totals.cost_usd != null && <><dt>Cost</dt><dd className="num">{dollars(totals.cost_usd)}</dd></>}
        <dt>Writer</dt><dd>{node.writer || "–"}</dd>
      </dl>
    </div>
  );
}
