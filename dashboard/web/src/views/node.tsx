// One node, opened: what it changed, what was asked and answered, what it printed, how it was judged and why it was made.
import { type ReactNode, useState } from "react";
import { runPath } from "../api/client";
import type { Call, Diff, NodeDetail } from "../api/types";
import { Empty, Failed, NodeLink, Operator, Outcome, Panel, Segmented } from "../components/widgets";
import { CodeView, DiffView } from "../components/code";
import type { Connection } from "../model/connection";
import { disagrees } from "../model/curve";
import { count, dollars, metric, seconds } from "../model/format";
import { useResource } from "../model/hooks";
import { href } from "../model/router";
import { Marks } from "./marks";

const STAGES = ["select", "prompt", "reply", "code", "execute", "review"];
type Tab = "diff" | "code" | "calls" | "output";

export function NodeView({ connection, id }: { connection: Connection; id: string }) {
  const { state } = connection;
  const known = state.byId.has(id);
  const base = runPath(state.id, `/nodes/${encodeURIComponent(id)}`);
  const { data, error } = useResource<NodeDetail>(base, 0, known);
  const [picked, setTab] = useState<Tab | null>(null);
  if (error) return <Empty title="This node cannot be shown"><span>{error}. <a href={href(state.id, "nodes")}>All nodes</a></span></Empty>;
  if (!data) return <Empty title="Loading…" />;
  const node = { ...data.node, id: data.node.id ?? id }; // the server always tells it; in Python it has a default
  const tab = picked ?? (node.parent_ids?.length ? "diff" : "code");
  const against = tab === "diff" ? `${base}/diff` : null;
  const message = node.message ?? "";
  return (
    <div className="stack">
      <Panel title={`Node ${node.step}`} actions={<><Marks connection={connection} id={node.id} mark={state.byId.get(node.id)?.mark ?? data.mark} /><a className="button" href={href(state.id, "graph", "", { node: node.id })}>In the graph</a></>}>
        <div className="row" style={{ gap: 14 }}>
          <span className="mono" data-testid="node-id">{node.id}</span>
          <Operator name={node.operator ?? ""} />
          <Outcome node={{ failure: node.failure, is_buggy: node.is_buggy ?? false, is_valid: node.is_valid ?? true, metric: node.metric_value }} />
          {node.id === state.bestId && <span className="tag ok">best</span>}
          {node.metric_source && <span className={node.metric_source === "verified" ? "tag ok" : "tag warn"}>{node.metric_source}</span>}
          <Claim claimed={node.claimed_metric} verified={node.metric_value} />
          {node.parent_ids && node.parent_ids.length > 0 && <span className="muted small">from {node.parent_ids.map((p) => <span key={p}><NodeLink run={state.id} id={p} /> </span>)}</span>}
        </div>
        {message && <p className={node.failure ? "bad" : "muted"} style={{ marginTop: 8, overflowWrap: "anywhere" }}>{message}</p>}
      </Panel>
      <div className="cols">
        <Panel title="Program" flush actions={<Segmented label="Show" value={tab} onChange={setTab} options={[["diff", "diff to parent"], ["code", "code"], ["calls", "prompt and reply"], ["output", "output"]]} />}>
          {tab === "diff" && against && <DiffTab path={against} />}
          {tab === "code" && <CodeView code={node.code} />}
          {tab === "calls" && <Calls path={`${base}/calls`} />}
          {tab === "output" && <Output node={node} />}
        </Panel>
        <div className="stack">
          <Panel title="Verdict">
            <dl className="kv">
              <dt>Metric</dt><dd className="num">{metric(node.metric_value)} {state.run?.unit}</dd>
              <dt>Vouched by</dt><dd>{node.metric_source === "verified" ? "the evaluator, out of the program's reach" : node.metric_source === "unisolated" ? "the evaluator, within the program's reach" : node.metric_source === "claimed" ? "the program itself" : "nobody"}</dd>
              <dt>Claimed</dt><dd className="num">{metric(node.claimed_metric)}</dd>
              {node.signature && node.signature.length > 0 && <><dt>Cases</dt><dd className="num">{node.signature.length}</dd></>}
              {node.exc_type && <><dt>Exception</dt><dd className="mono">{node.exc_type}</dd></>}
              {node.island != null && <><dt>Island</dt><dd className="num">{node.island}</dd></>}
              {node.generation != null && <><dt>Generation</dt><dd className="num">{node.generation}</dd></>}
              <dt>Children</dt><dd>{data.children_ids.length ? data.children_ids.slice(0, 12).map((c) => <span key={c}><NodeLink run={state.id} id={c} /> </span>) : "none"}{data.children_ids.length > 12 && `and ${data.children_ids.length - 12} more`}</dd>
              {node.visits ? <><dt>Visits</dt><dd className="num">{node.visits}, mean reward {metric((node.total_reward ?? 0) / node.visits)}</dd></> : null}
            </dl>
          </Panel>
          <Measured metrics={node.metrics ?? {}} artifacts={node.artifacts ?? {}} />
          <Panel title="Time and tokens"><Stages detail={data} /></Panel>
          {node.plan && <Panel title="Plan"><Text>{node.plan}</Text></Panel>}
          {node.analysis && <Panel title="Review"><Text>{node.analysis}</Text></Panel>}
          {Object.keys(data.why).length > 0 && <Panel title="Why it was chosen"><Text>{JSON.stringify(data.why, null, 1)}</Text></Panel>}
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

function DiffTab({ path }: { path: string }) {
  const { data, error } = useResource<Diff>(path);
  if (error) return <div style={{ padding: 12 }}><Failed error={error} /></div>;
  if (!data) return <Empty title="Loading…" />;
  return (
    <>
      <div className="row small" style={{ padding: "7px 12px", borderBottom: "1px solid var(--line)" }} data-testid="diff-head">
        <span className="good num">+{data.added}</span><span className="bad num">−{data.removed}</span>
        <span className="muted">{data.against ? `against ${data.against.slice(0, 8)}` : "no parent: everything is new"}</span>
      </div>
      {data.lines.length === 0 ? <Empty title="No difference" /> : <DiffView diff={data} />}
    </>
  );
}

function Calls({ path }: { path: string }) {
  const { data, error } = useResource<Call[]>(path);
  if (error) return <div style={{ padding: 12 }}><Failed error={error} /></div>;
  if (!data) return <Empty title="Loading…" />;
  if (data.length === 0) return <Empty title="No prompt was written for this node">Baselines, tuning and your own programs need none.</Empty>;
  return (
    <div>
      {data.map((call, i) => (
        <details key={i} open={i === 0}>
          <summary><span className="mono">{call.role}{call.attempt ? ` #${call.attempt}` : ""}</span> · {call.provider}/{call.model} · {seconds(call.seconds)} · {count(call.prompt_tokens)} → {count(call.completion_tokens)} tokens · {dollars(call.cost_usd)} {call.cached && <span className="tag">cached</span>} {call.finish_reason && call.finish_reason !== "stop" && <span className="tag warn">{call.finish_reason}</span>}</summary>
          <div className="inner">
            {call.system && <><h3>System</h3><Text>{call.system}</Text></>}
            <h3>Prompt</h3><Text>{call.user}</Text>
            <h3>Reply</h3><Text>{call.reply}</Text>
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
          <div className="row small" style={{ justifyContent: "space-between" }}><span>{stage}</span><span className="num">{seconds(taken)}</span></div>
          <div className="meter"><span style={{ width: `${(100 * taken) / total}%` }} /></div>
        </div>
      ))}
      <dl className="kv">
        <dt>Program ran</dt><dd className="num">{seconds(node.exec_time)}</dd>
        <dt>Calls</dt><dd className="num">{totals.calls}{totals.cached ? `, ${totals.cached} cached` : ""}</dd>
        <dt>Tokens</dt><dd className="num">{count(totals.prompt_tokens)} → {count(totals.completion_tokens)}</dd>
        <dt>Cost</dt><dd className="num">{dollars(totals.cost_usd)}</dd>
        <dt>Writer</dt><dd>{node.writer || "–"}</dd>
      </dl>
    </div>
  );
}
