// All runs: their outcome, a new one, and the curves of several side by side.
import { type ReactNode, useEffect, useState } from "react";
import { get, runPath } from "../api/client";
import type { Curve, RunSummary } from "../api/types";
import { Empty, Failed, Panel, Status } from "../components/widgets";
import { Chart } from "../components/chart";
import { Shell } from "../components/shell";
import { mergeCurves } from "../model/compare";
import { yRange } from "../model/curve";
import { day, dollars, metric } from "../model/format";
import { useColors, useResource } from "../model/hooks";
import { href } from "../model/router";
import { StartForm } from "./start-form";

const REFRESH_MS = 2000;
const COLORS = ["accent", "orange", "teal", "violet", "pink", "blue", "muted", "line"] as const;
const MOST = 6;
const VERDICTS = {
  better: "better", unclear: "not told apart", worse: "worse", unbeaten: "nothing better", unconfirmed: "no unseen part",
  none: "no valid program", open: "–",
} as const; // prettier-ignore

export function RunsView({ themeButton }: { themeButton: ReactNode }) {
  const { data: runs, error } = useResource<RunSummary[]>("/runs", REFRESH_MS);
  const [starting, setStarting] = useState(false);
  const [chosen, setChosen] = useState<string[]>([]);
  const toggle = (run: string) => setChosen((now) => (now.includes(run) ? now.filter((r) => r !== run) : [...now, run].slice(-MOST)));
  return (
    <Shell crumb={<div className="crumb"><span className="sep">/</span><h1>Runs</h1></div>} actions={themeButton}>
      <div className="stack">
        {error && <Failed error={error} />}
        <Panel
          title={runs ? `${runs.length} run${runs.length === 1 ? "" : "s"}` : "Runs"}
          flush
          actions={<button type="button" className="primary" aria-expanded={starting} onClick={() => setStarting(!starting)}>Start a run</button>}
        >
          {starting && <StartForm onCancel={() => setStarting(false)} />}
          {runs === null && !error && <Empty title="Loading…" />}
          {runs?.length === 0 && (
            <Empty title="No runs yet">
              Start one here, or in a terminal: <code>python main.py --problem=competition --problem.name=diabetes</code>
            </Empty>
          )}
          {runs && runs.length > 0 && <RunTable runs={runs} chosen={chosen} toggle={toggle} />}
        </Panel>
        {chosen.length > 0 && <Compare runs={chosen} />}
      </div>
    </Shell>
  );
}

function RunTable({ runs, chosen, toggle }: { runs: RunSummary[]; chosen: string[]; toggle: (run: string) => void }) {
  return (
    <div className="scroll" tabIndex={0} role="region" aria-label="Table of runs">
      <table>
        <thead>
          <tr>
            <th scope="col"><span className="visually-hidden">Compare</span></th>
            <th scope="col">Run</th><th scope="col" className="wide">Problem</th><th scope="col">Status</th>
            <th scope="col" className="num">Best</th><th scope="col" className="num wide">Final</th><th scope="col" className="wide">Verdict</th><th scope="col" className="num wide">Steps</th>
            <th scope="col" className="wide">Writer</th><th scope="col" className="num wide">Cost</th><th scope="col" className="wide">Started</th><th scope="col" className="wide" />
          </tr>
        </thead>
        <tbody>
          {runs.map((line) => (
            <tr key={line.run}>
              <td><input type="checkbox" aria-label={`Compare ${line.run}`} checked={chosen.includes(line.run)} disabled={line.status === "unreadable"} onChange={() => toggle(line.run)} /></td>
              <td>{line.status === "unreadable" ? <span className="mono">{line.run}</span> : <a className="mono" href={href(line.run)}>{line.run}</a>}</td>
              <td className="wide">{line.problem || "–"}</td>
              <td><Status status={line.status} /></td>
              <td className="num">{line.error ? <span className="bad small">{line.error}</span> : <>{metric(line.best_metric)} <span className="muted" title={line.lower_is_better ? "lower is better" : "higher is better"}>{line.lower_is_better ? "↓" : "↑"}</span></>}</td>
              <td className="num wide">{metric(line.final_metric)}</td>
              <td className="wide">{line.verdict && VERDICTS[line.verdict]}</td>
              <td className="num wide">{line.steps}</td>
              <td className="wide">{line.writer || "–"}</td>
              <td className="num wide">{dollars(line.cost_usd)}</td>
              <td className="num wide" style={{ textAlign: "left" }}>{day(line.started_at)}</td>
              <td className="right wide">{line.status !== "unreadable" && <a href={`#/run/${encodeURIComponent(line.run)}/overview?speed=10`} aria-label={`Replay ${line.run}`}>Replay</a>}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Compare({ runs }: { runs: string[] }) {
  const [curves, setCurves] = useState<Curve[]>([]);
  const [error, setError] = useState("");
  const colors = useColors(COLORS);
  const key = runs.join("\n");
  useEffect(() => {
    let gone = false;
    Promise.all(key.split("\n").map((run) => get<Curve>(runPath(run, "/curve")))).then(
      (found) => { if (!gone) { setCurves(found); setError(""); } },
      (problem: Error) => { if (!gone) setError(problem.message); },
    );
    return () => { gone = true; };
  }, [key]);
  const merged = mergeCurves(curves);
  const lower = curves[0]?.lower_is_better ?? false;
  const problems = new Set(curves.map((curve) => curve.problem));
  const values = curves.flatMap((curve) => curve.best);
  return (
    <Panel title="Best so far, by step" actions={problems.size > 1 ? <span className="tag warn">different problems: the values do not compare</span> : <span className="muted small">{curves[0]?.unit} {lower ? "↓ lower is better" : "↑ higher is better"}</span>}>
      {error && <Failed error={error} />}
      <div className="legend" style={{ marginBottom: 8 }}>
        {curves.map((curve, i) => <span key={curve.run}><span className="dot" style={{ background: colors[COLORS[i % MOST]] }} /><span className="mono">{curve.run}</span> {metric(curve.best.at(-1))}</span>)}
      </div>
      {values.length > 0 ? (
        <Chart
          label={`Best so far of ${runs.join(", ")}`} x={merged.steps} axis="step" grid={colors.line} text={colors.muted} height={300}
          range={problems.size > 1 ? [Math.min(...values), Math.max(...values)] : yRange(values, lower)}
          series={merged.series.map((line, i) => ({ label: curves[i].run, color: colors[COLORS[i % MOST]], values: line, kind: "step" as const }))}
        />
      ) : <Empty title="Nothing scored yet" />}
    </Panel>
  );
}
