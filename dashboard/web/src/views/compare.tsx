// Several runs at an address of their own: outcomes, curves, what their configurations differ in, best programs.
import { type ReactNode, useEffect, useMemo, useState } from "react";
import { get, runPath, text } from "../api/client";
import type { Curve, RunDetail } from "../api/types";
import { Chart } from "../components/chart";
import type { Series } from "../components/chart-props";
import { CodeView } from "../components/code";
import { Shell } from "../components/shell";
import { Empty, Failed, Panel, Segmented } from "../components/widgets";
import { along, type Axis, bandOf, bySetup, differences, mergeCurves } from "../model/compare";
import { yRange } from "../model/curve";
import { dollars, metric, seconds } from "../model/format";
import { useColors, useKept } from "../model/hooks";
import { compareHref, href } from "../model/router";
import { VERDICTS } from "../model/runs";

const COLORS = ["accent", "orange", "teal", "violet", "pink", "blue", "gold", "muted", "line"] as const;
const HUES = COLORS.slice(0, 7);
const AXES = { steps: "step", seconds: "active seconds", dollars: "dollars" } as const;

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
    Promise.all(key.split(",").filter(Boolean).map((run) => load(run, abort.signal))).then(setFound, (problem: Error) => { if (!abort.signal.aborted) setError(problem.message); });
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
  return (
    <div className="stack">
      {problems.size > 1 && <div className="banner" role="status">These runs search different problems ({[...problems].join(", ")}): their values do not compare.</div>}
      <Panel title="Outcome" flush><Outcomes runs={runs} /></Panel>
      {[...problems].map((problem) => <Curves key={problem} problem={problem ?? ""} runs={runs.filter(({ detail }) => detail.problem === problem)} />)}
      <Panel title={`Configuration: ${differing.length} difference${differing.length === 1 ? "" : "s"}`} flush>
        {differing.length === 0 ? <Empty title="The configurations are the same" /> : (
          <div className="scroll" tabIndex={0} role="region" aria-label="Differences of the configurations"><table>
            <thead><tr><th scope="col">Key</th>{names.map((name, i) => <th key={i} scope="col" className="mono">{name}</th>)}</tr></thead>
            <tbody>{differing.map(([name, values]) => <tr key={name}><th scope="row" className="mono">{name}</th>{values.map((value, i) => <td key={i} className="mono wrap">{value || <span className="muted">–</span>}</td>)}</tr>)}</tbody>
          </table></div>
        )}
      </Panel>
      <Programs runs={runs} />
    </div>
  );
}

function Outcomes({ runs }: { runs: Compared[] }) {
  return (
    <div className="scroll" tabIndex={0} role="region" aria-label="Outcomes"><table>
      <thead><tr><th scope="col">Run</th><th scope="col">Problem</th><th scope="col" className="num">Best</th><th scope="col" className="num">Final</th><th scope="col">95 %</th><th scope="col">Verdict</th><th scope="col" className="num">Gain</th><th scope="col" className="num">Steps</th><th scope="col" className="num">Duration</th><th scope="col" className="num">Cost</th><th scope="col"><span className="visually-hidden">Leave out</span></th></tr></thead>
      <tbody>{runs.map(({ detail: d }) => (
        <tr key={d.run}>
          <td><a className={d.title ? "" : "mono"} href={href(d.run)}>{d.title || d.run}</a></td><td>{d.problem}</td>
          <td className="num">{metric(d.best_metric)} <span className="muted">{d.lower_is_better ? "↓" : "↑"}</span></td><td className="num">{metric(d.final_metric)}</td>
          <td className="num" style={{ textAlign: "left" }}>{d.winner?.final_interval ? d.winner.final_interval.map((end) => metric(end, 4)).join(" … ") : "–"}</td>
          <td title={d.conclusion?.text}>{VERDICTS[d.verdict ?? "open"]}</td><td className="num">{d.gain == null ? "–" : metric(d.gain, 3)}</td>
          <td className="num">{d.steps}</td><td className="num">{seconds(d.seconds ?? d.elapsed)}</td><td className="num">{dollars(d.cost_usd)}</td>
          <td className="right">{runs.length > 1 && <a href={compareHref(runs.map((r) => r.detail.run).filter((run) => run !== d.run))} aria-label={`Leave out ${d.run}`}>✕</a>}</td>
        </tr>
      ))}</tbody>
    </table></div>
  );
}

function Curves({ problem, runs }: { problem: string; runs: Compared[] }) {
  const [axis, setAxis] = useKept<Axis>("compare-axis", "steps");
  const groups = useMemo(() => bySetup(runs.map((r) => r.detail)), [runs]);
  const seeds = groups.some((group) => group.length > 1);
  const [means, setMeans] = useState(true);
  const colors = useColors(COLORS);
  const lower = runs[0].curve.lower_is_better;
  const lines = useMemo(() => (seeds && means ? meanLines(runs, groups, axis) : runLines(runs, axis)), [runs, groups, axis, seeds, means]);
  const values = lines.curves.flatMap((curve) => curve.best);
  const series = lines.merged.series.map((line, i): Series => ({ label: lines.names[lines.of[i]], color: colors[HUES[lines.of[i] % HUES.length]], values: line, kind: lines.edge[i] ? "edge" : "step" }));
  return (
    <Panel
      title={`Best so far${problem ? `, ${problem}` : ""}`}
      actions={<>{seeds && <label className="small row"><input type="checkbox" checked={means} onChange={(e) => setMeans(e.target.checked)} /> mean ± deviation of seeds</label>}<Segmented label="By" value={axis} onChange={setAxis} options={[["steps", "step"], ["seconds", "time"], ["dollars", "dollars"]]} /></>}
    >
      <div className="legend" style={{ marginBottom: 8 }}>{lines.names.map((name, i) => <span key={i}><span className="dot" style={{ background: colors[HUES[i % HUES.length]] }} /><span className="mono">{name}</span></span>)}<span>{runs[0].curve.unit} {lower ? "↓ lower is better" : "↑ higher is better"}</span></div>
      {values.length > 0 ? <Chart label={`Best so far by ${AXES[axis]}`} x={lines.merged.steps} axis={AXES[axis]} whole={axis === "steps"} grid={colors.line} text={colors.muted} height={320} range={yRange(values, lower)} series={series} bands={lines.bands} /> : <Empty title="Nothing scored yet" />}
    </Panel>
  );
}

interface Lines { names: string[]; curves: { steps: number[]; best: number[] }[]; merged: ReturnType<typeof mergeCurves>; of: number[]; edge: boolean[]; bands: [number, number][] }

function runLines(runs: Compared[], axis: Axis): Lines {
  const curves = runs.map(({ curve }) => along(curve, axis));
  return { names: runs.map(({ detail }) => detail.title || detail.run), curves, merged: mergeCurves(curves), of: runs.map((_, i) => i), edge: runs.map(() => false), bands: [] };
}

/** A line a setup, with the spread of its seeds around it. */
function meanLines(runs: Compared[], groups: number[][], axis: Axis): Lines {
  const curves: Lines["curves"] = [];
  const of: number[] = [];
  const edge: boolean[] = [];
  const bands: [number, number][] = [];
  groups.forEach((group, g) => {
    const band = bandOf(group.map((i) => along(runs[i].curve, axis)));
    const add = (best: number[], isEdge: boolean) => { curves.push({ steps: band.steps, best }); of.push(g); edge.push(isEdge); };
    add(band.mean, false);
    if (group.length > 1) {
      add(band.high, true);
      add(band.low, true);
      bands.push([curves.length - 1, curves.length]);
    }
  });
  const names = groups.map((group) => (group.length > 1 ? `${group.length} seeds of ${runs[group[0]].detail.title || runs[group[0]].detail.run}` : runs[group[0]].detail.title || runs[group[0]].detail.run));
  return { names, curves, merged: mergeCurves(curves), of, edge, bands };
}

function Programs({ runs }: { runs: Compared[] }) {
  return (
    <Panel title="Best programs" flush>
      <div className="sides" style={{ gridTemplateColumns: `repeat(${runs.length}, minmax(${runs.length > 1 ? 420 : 0}px, 1fr))` }} tabIndex={0} role="region" aria-label="Best programs side by side">
        {runs.map(({ detail, code }) => (
          <div key={detail.run}>
            <div className="row small" style={{ padding: "7px 12px" }}><a className="mono" href={detail.winner ? href(detail.run, "node", detail.winner.node_id) : href(detail.run)}>{detail.winner?.name ?? "none"}</a><span className="muted">{detail.title || detail.run}</span></div>
            {code ? <CodeView code={code} /> : <Empty title="No program" />}
          </div>
        ))}
      </div>
    </Panel>
  );
}
