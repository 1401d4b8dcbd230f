// How the run was set up: configuration, sandbox, environment, cost by model, and the command that repeats it.
import { runPath } from "../api/client";
import type { Cost, RunDetail } from "../api/types";
import { Empty, Failed, Panel } from "../components/widgets";
import type { Connection } from "../model/connection";
import { count, counted, dollars, metric, seconds } from "../model/format";
import { flatten } from "../model/flatten";
import { useResource } from "../model/hooks";

export function FactsView({ connection }: { connection: Connection }) {
  const { state } = connection;
  const tellsEnd = connection.replay === null || state.atEnd;
  const { data, error } = useResource<RunDetail>(runPath(state.id), 0, state.ended);
  const { data: cost } = useResource<Cost>(runPath(state.id, "/cost"), 0, state.totals.calls);
  if (error) return <Failed error={error} />;
  if (!data) return <Empty title="Loading…" />;
  return (
    <div className="stack">
      <div className="cols even">
        <Panel title="Sandbox"><Sandbox value={data.sandbox ?? {}} /></Panel>
        <Panel title="Environment"><Pairs value={data.environment ?? {}} empty="not recorded" /></Panel>
      </div>
      {(data.problem_note ?? []).length > 0 && <Panel title="What to know about the scores"><ul className="small">{data.problem_note?.map((part, i) => <li key={i}>{part}</li>)}</ul></Panel>}
      {!tellsEnd && <p className="muted small">A replay: setup and cost are those of the whole run; how it ended is told at the end.</p>}
      {tellsEnd && data.winner?.chosen && <Cases table={data.final?.table} winner={data.winner.name} />}
      <Panel title="Baselines and the final part" flush>
        {(data.baselines ?? []).length === 0 && !data.final ? <Empty title="None" /> : (
          <div className="scroll" tabIndex={0} role="region" aria-label="Table of baselines"><table>
            <thead><tr><th scope="col">Program</th><th scope="col" className="num">Validation</th><th scope="col" className="num">Final part</th></tr></thead>
            <tbody>
              {(data.baselines ?? []).map((b, i) => <tr key={i}><td>{b.own ? "your program" : String(b.name)}</td><td className="num">{b.failure ? String(b.failure) : metric(number(b.metric))}</td><td className="num">{metric(tellsEnd ? number(b.final) : null)}</td></tr>)}
              {tellsEnd && data.winner?.chosen && <tr><td><strong>winner: {data.winner.name}</strong></td><td className="num">{metric(data.winner.metric)}</td><td className="num">{metric(data.winner.final_metric)}</td></tr>}
            </tbody>
          </table></div>
        )}
      </Panel>
      <Panel title="Calls by role and model" flush>
        {!cost || cost.rows.length === 0 ? <Empty title="No call yet" /> : (
          <div className="scroll" tabIndex={0} role="region" aria-label="Table of calls"><table>
            <thead><tr><th scope="col">Role</th><th scope="col">Model</th><th scope="col" className="num">Calls</th><th scope="col" className="num">Prompt tokens</th><th scope="col" className="num">Reply tokens</th><th scope="col" className="num">Time</th><th scope="col" className="num">Cost</th></tr></thead>
            <tbody>{cost.rows.map((r, i) => <tr key={i}><td>{r.role}</td><td className="mono">{r.provider === r.model ? r.model : `${r.provider}/${r.model}`}</td><td className="num">{count(r.calls)}</td><td className="num">{count(r.prompt_tokens)}</td><td className="num">{count(r.completion_tokens)}</td><td className="num">{seconds(r.seconds)}</td><td className="num">{dollars(r.cost_usd)}</td></tr>)}</tbody>
          </table></div>
        )}
      </Panel>
      <Panel title="Configuration"><Pairs value={data.config ?? {}} empty="not recorded" mono /></Panel>
      <Panel title="The same on the command line">
        <pre className="text" tabIndex={0}>{[`python main.py show ${state.id}`, `python main.py replay ${state.id} --verify`, `python main.py export-best ${state.id}`, `python main.py report ${state.id}`].join("\n")}</pre>
      </Panel>
    </div>
  );
}

/** The tier, and the attacks that it withstood when the run began. */
function Sandbox({ value }: { value: Record<string, unknown> }) {
  const { probes, ...rest } = value;
  const known = Array.isArray(probes) ? (probes as { name: string; ok: boolean; detail?: string }[]) : [];
  return (
    <>
      <Pairs value={rest} empty="not recorded" />
      {known.length > 0 && <p className="small muted">It withstood {known.filter((p) => p.ok).length} of {counted(known.length, "attack or check", "attacks and checks")} when the run began. A program in it:</p>}
      {known.length > 0 && <ul className="checks" aria-label="Attacks it withstood when the run began">{known.map((p) => <li key={p.name} title={p.detail}><span className={p.ok ? "good" : "bad"}>{p.ok ? "✓" : "✗"}</span> {FOUND[p.name] ?? `cannot ${TRIED[p.name] ?? p.name.replaceAll("_", " ")}`}</li>)}</ul>}
    </>
  );
}

/** What a probe tried, where its name alone does not say it. */
const TRIED: Record<string, string> = {
  read_file: "read a file of the host", look_at_file: "see that a file of the host is there",
  memory_limit: "take more memory than it may", process_limit: "start more processes than it may", no_survivors: "leave a process behind", trace: "trace another process",
  new_namespace: "make a namespace", read_hidden: "read what is hidden from it", write_input: "change its input", become_root: "become root",
  connect_abstract: "connect to an abstract socket", connect_tcp: "connect over TCP", connect_unix: "connect to a socket of the host", read_memory: "read another process' memory", load_bpf: "load a BPF program",
}; // prettier-ignore

/** What must go on working in it. */
const FOUND: Record<string, string> = { start: "starts", child_interpreter: "can start a Python of its own" };

const number = (value: unknown): number | null => (typeof value === "number" ? value : null);

function Pairs({ value, empty, mono }: { value: Record<string, unknown>; empty: string; mono?: boolean }) {
  const pairs = flatten(value);
  if (pairs.length === 0) return <p className="muted">{empty}</p>;
  return <dl className="kv" style={mono ? { maxHeight: 460, overflow: "auto" } : undefined} tabIndex={mono ? 0 : undefined}>{pairs.map(([key, text]) => <div key={key} style={{ display: "contents" }}><dt className={mono ? "mono" : ""}>{key}</dt><dd className="num">{text}</dd></div>)}</dl>;
}

const CASE_COLUMNS = ["case", "value", "bound", "gap", "seconds", "baseline"] as const;

/** The final part case by case: the winner, which may be a baseline, beside the best of the other baselines. */
function Cases({ table, winner }: { table: unknown; winner: string }) {
  const found = table as { baseline: string | null; rows: Record<string, string | number | null>[] } | null | undefined;
  if (!found?.rows?.length) return null;
  const columns = CASE_COLUMNS.filter((name) => found.rows.some((row) => row[name] != null));
  return (
    <Panel title={`Final part, ${counted(found.rows.length, "case")} of ${winner}, the winner`} flush>
      <div className="scroll" tabIndex={0} role="region" aria-label="Cases of the final part"><table>
        <thead><tr>{columns.map((name) => <th key={name} scope="col" className={name === "case" ? "" : "num"}>{name === "baseline" ? found.baseline : name === "value" ? winner : name}</th>)}</tr></thead>
        <tbody>{found.rows.map((row, i) => <tr key={i}>{columns.map((name) => <td key={name} className={name === "case" ? "" : "num"}>{typeof row[name] === "number" ? metric(row[name]) : String(row[name] ?? "–")}</td>)}</tr>)}</tbody>
      </table></div>
    </Panel>
  );
}
