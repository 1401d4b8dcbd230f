// Several runs at an address of their own: outcomes, curves, what their configurations differ in, best programs.
import { type CSSProperties, type ReactNode, useEffect, useMemo, useState } from "react";
import { get, runPath, text } from "../api/client";
import type { Curve, RunDetail } from "../api/types";
import { CodeView } from "../components/code";
import { Shell } from "../components/shell";
import { Empty, Failed, Panel } from "../components/widgets";
import { bySetup, differences } from "../model/compare";
import { counted, dollars, interval, metric, seconds } from "../model/format";
import { isNarrow, useKept } from "../model/hooks";
import { namesText } from "../model/runs";
import { compareHref, href } from "../model/router";
import { Curves, hueOf, useMeans } from "./curves";

interface Compared { detail: RunDetail; curve: Curve; code: string }

async function load(run: string, signal: AbortSignal): Promise<Compared> {
  const [detail, curve] = await Promise.all([get<RunDetail>(runPath(run), signal), get<Curve>(runPath(run, "/curve"), signal)]);
  const best = detail.winner?.node_id;
  const code = best ? await text(runPath(run, `/nodes/${best}/code`), signal).catch(() => "") : "";
  return { detail, curve, code };
}

export function CompareView({ query, themeButton }: { query: URLSearchParams; themeButton: ReactNode }) {
  const key = (query.get("runs") ?? "").split(",").filter(Boolean).join(",");
  const [found, setFound] = useState<Compared[] | null>(null);
  const [error, setError] = useState("");
  useEffect(() => {
    const abort = new AbortController();
    setFound(null);
    setError("");
    Promise.all(key.split(",").filter(Boolean).map((run) => load(run, abort.signal))).then((all) => { if (!abort.signal.aborted) setFound(all); }, (problem: Error) => { if (!abort.signal.aborted) setError(problem.message); });
    return () => abort.abort();
  }, [key]);
  return (
    <Shell crumb={<div className="crumb"><span className="sep">/</span><h1>Compare</h1></div>} actions={<><a className="button" href="#/">All runs</a>{themeButton}</>}>
      {error ? <Failed error={error} /> : !found ? <Empty title="Loading…" /> : found.length === 0 ? <Empty title="Nothing to compare">Choose runs in the list of runs.</Empty> : <Comparison runs={found} />}
    </Shell>
  );
}

function Comparison({ runs }: { runs: Compared[] }) {
  const names = runs.map(({ detail }) => detail.title || detail.run);
  const differing = useMemo(() => differences(runs.map((r) => r.detail)), [runs]);
  const problems = new Set(runs.map(({ detail }) => detail.problem));
  const [means] = useMeans();
  const hues = useMemo(() => huesOf(runs.map((r) => r.detail), means), [runs, means]);
  return (
    <div className="stack">
      {problems.size > 1 && <div className="banner" role="status">These runs search different problems ({[...problems].join(", ")}): their values do not compare.</div>}
      <Panel title="Outcome" flush><Outcomes runs={runs} hues={hues} /></Panel>
      {[...problems].map((problem) => <CurvesOf key={problem} problem={problem ?? ""} runs={runs.filter(({ detail }) => detail.problem === problem)} />)}
      <Panel title={`Configuration: ${counted(differing.length, "difference")}`} flush>
        {differing.length === 0 ? <Empty title="The configurations are the same" /> : (
          <div className="scroll" tabIndex={0} role="region" aria-label="Differences of the configurations"><table>
            <thead><tr><th scope="col">Key</th>{names.map((name, i) => <th key={i} scope="col" className="mono name"><div className="title" title={name}>{name}</div></th>)}</tr></thead>
            <tbody>{differing.map(([name, values]) => <tr key={name}><th scope="row" className="mono">{name}</th>{values.map((value, i) => <td key={i} className="mono wrap">{value || <span className="muted">–</span>}</td>)}</tr>)}</tbody>
          </table></div>
        )}
      </Panel>
      <Programs runs={runs} />
      {runs.length > 1 && <Panel title="The same on the command line"><pre className="text" tabIndex={0}>{`python main.py compare ${runs.map(({ detail }) => detail.run).join(" ")}`}</pre></Panel>}
    </div>
  );
}

function CurvesOf({ problem, runs }: { problem: string; runs: Compared[] }) {
  const named = useMemo(() => runs.map(({ detail, curve }) => ({ name: detail.title || detail.run, curve })), [runs]);
  const groups = useMemo(() => bySetup(runs.map((r) => r.detail)).map((of) => ({ of, name: groupName(of.map((i) => runs[i].detail)) })), [runs]);
  return <Curves problem={problem} runs={named} groups={groups} />;
}

/** A run by its name; of several each by its own. */
function groupName(runs: readonly RunDetail[]): string {
  const what = new Set(runs.map(({ seed }) => seed)).size === runs.length ? "seeds" : "runs";
  return runs.length > 1 ? `${runs.length} ${what}: ${namesText(runs, runs.length)}` : namesText(runs);
}

/** The colour of each run's line: each problem has a picture of its own, and with means a line is that of a setting. */
function huesOf(runs: readonly RunDetail[], means: boolean): Map<string, string> {
  const hues = new Map<string, string>();
  for (const problem of new Set(runs.map((run) => run.problem))) {
    const own = runs.filter((run) => run.problem === problem);
    const groups = bySetup(own);
    own.forEach(({ run }, i) => hues.set(run, hueOf(means && groups.length < own.length ? groups.findIndex((of) => of.includes(i)) : i)));
  }
  return hues;
}

function Outcomes({ runs, hues }: { runs: Compared[]; hues: Map<string, string> }) {
  return (
    <div className="scroll" tabIndex={0} role="region" aria-label="Outcomes"><table>
      <thead><tr><th scope="col">Run</th><th scope="col">Problem</th><th scope="col" className="num">Best</th><th scope="col" className="num">Final</th><th scope="col">95 %</th><th scope="col">Verdict</th><th scope="col" className="num">Gain</th><th scope="col" className="num">Steps</th><th scope="col">Budget</th><th scope="col" className="num">Search time</th><th scope="col" className="num">Cost</th><th scope="col"><span className="visually-hidden">Leave out</span></th></tr></thead>
      <tbody>{runs.map(({ detail: d }) => (
        <tr key={d.run}>
          <td className="name"><div className="title"><span className="dot" style={{ background: hues.get(d.run), marginRight: 7 }} /><a className={d.title ? "" : "mono"} href={href(d.run)} title={d.title || d.run}>{d.title || d.run}</a></div></td><td>{d.problem}</td>
          <td className="num">{metric(d.best_metric)} <span className="muted">{d.lower_is_better ? "↓" : "↑"}</span></td><td className="num">{metric(d.final_metric)}</td>
          <td className="num" style={{ textAlign: "left" }}>{interval(d.winner?.final_interval)}</td>
          <td className="nowrap" title={d.conclusion?.text}>{d.verdict_words}</td><td className="num">{d.gain == null ? "–" : <>{d.gain > 0 ? "+" : ""}{metric(d.gain, 3)} <span className="muted small unit">{d.unit}</span></>}</td>
          <td className="num">{d.steps}</td><td className="small wrap">{d.limits}</td><td className="num">{seconds(d.seconds ?? d.elapsed)}</td><td className="num">{dollars(d.cost_usd)}</td>
          <td className="right">{runs.length > 1 && <a href={compareHref(runs.map((r) => r.detail.run).filter((run) => run !== d.run))} aria-label={`Leave out ${d.run}`}>✕</a>}</td>
        </tr>
      ))}</tbody>
    </table></div>
  );
}

function Programs({ runs }: { runs: Compared[] }) {
  const [wrap, setWrap] = useKept("wrap", isNarrow());
  return (
    <Panel title="Best programs" flush actions={<label className="small row"><input type="checkbox" checked={wrap} onChange={(e) => setWrap(e.target.checked)} /> wrap</label>}>
      <div className="sides" style={{ "--sides": runs.length } as CSSProperties} tabIndex={0} role="region" aria-label="Best programs side by side">
        {runs.map(({ detail, code }) => (
          <div key={detail.run}>
            <div className="row small" style={{ padding: "7px 12px" }}><a className="mono" href={detail.winner ? href(detail.run, "node", detail.winner.node_id) : href(detail.run)}>{detail.winner?.name ?? "none"}</a><span className="muted">{detail.title || detail.run}</span></div>
            {code ? <CodeView code={code} wrap={wrap} label={`Program of ${detail.run}`} /> : <Empty title="No program" />}
          </div>
        ))}
      </div>
    </Panel>
  );
}
