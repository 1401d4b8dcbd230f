// A sweep at an address of its own: its table with paired differences, the mean curve of each setting, its runs. And the list of sweeps.
import { type ReactNode, useEffect, useMemo, useState } from "react";
import { get, post, remove, runPath } from "../api/client";
import type { Curve, Sweep, SweepLine, SweepRow } from "../api/types";
import { Shell } from "../components/shell";
import { Empty, Failed, Panel, Status } from "../components/widgets";
import { counted, day, dollars, interval, metric, seconds, shortDay } from "../model/format";
import { useResource } from "../model/hooks";
import { compareHref, go, href, sweepHref } from "../model/router";
import { gainText } from "../model/sweep";
import { Curves } from "./curves";

const REFRESH_MS = 5000;

export function SweepView({ query, themeButton }: { query: URLSearchParams; themeButton: ReactNode }) {
  const name = query.get("name") ?? "";
  const [ended, setEnded] = useState(false);
  const { data, error } = useResource<Sweep>(name ? `/sweeps/${encodeURIComponent(name)}` : null, ended ? 0 : REFRESH_MS);
  useEffect(() => setEnded(!!data && !data.running && data.cells.every(({ status }) => status === "finished")), [data]);
  return (
    <Shell crumb={<div className="crumb"><span className="sep">/</span><a href="#/sweeps">Sweeps</a><span className="sep">/</span><h1 className="mono">{name}</h1></div>} actions={<>{data && <SweepActions sweep={data} />}<a className="button" href="#/">All runs</a>{themeButton}</>}>
      {error ? <Failed error={error} /> : data ? <Found sweep={data} /> : name ? <Empty title="Loading…" /> : <Empty title="No sweep is named in the address">All of them: <a href="#/sweeps">Sweeps</a></Empty>}
    </Shell>
  );
}

/** Stop it while a run of it runs; remove it with its runs when none does. */
function SweepActions({ sweep }: { sweep: Sweep }) {
  const [asked, setAsked] = useState(false);
  const [told, setTold] = useState("");
  const path = `/sweeps/${encodeURIComponent(sweep.name)}`;
  const runs = sweep.cells.filter(({ run }) => run).length;
  const act = (work: Promise<unknown>, after: () => void) => void work.then(after, (problem: Error) => { setTold(problem.message); setAsked(false); });
  if (asked) return (
    <span className="row small" role="alert">Remove {sweep.name} and its {counted(runs, "run")} with all files?
      <button type="button" className="danger" onClick={() => act(remove(path), () => go("#/sweeps"))}>Remove</button><button type="button" onClick={() => setAsked(false)}>Keep</button>
    </span>
  );
  return (
    <>
      {told && <span className="small" role="status">{told}</span>}
      {sweep.running ? <button type="button" title="its run finishes what is in flight and saves; no other begins" onClick={() => act(post(`${path}/stop`, {}), () => setTold("stopping…"))}>Stop</button> : <button type="button" onClick={() => setAsked(true)}>Delete…</button>}
    </>
  );
}

function Found({ sweep }: { sweep: Sweep }) {
  const among = (test: (status: string) => boolean) => sweep.cells.filter(({ status }) => test(status)).length;
  const [gone, broken] = [among((status) => status === "removed"), among((status) => status === "unreadable")];
  const open = among((status) => status !== "finished") - gone - broken;
  return (
    <div className="stack">
      {open + gone + broken > 0 && <div className="banner" role="status">{[open > 0 && `${open} of ${counted(sweep.cells.length, "run has", "runs have")} not ended`, gone > 0 && `${gone} of ${counted(sweep.cells.length, "run was", "runs were")} removed`, broken > 0 && `${broken} of ${counted(sweep.cells.length, "run")} cannot be read`].filter(Boolean).join(", ")}: means and differences are of those that are there and have ended.</div>}
      <Panel title={`${sweep.problem || "Settings"}, score on the ${sweep.score === "final" ? "unseen" : "validation"} part (${sweep.lower_is_better ? "lower" : "higher"} is better)`} flush><Rows sweep={sweep} />{sweep.lacking && <p className="muted small" style={{ padding: "0 12px" }}>{sweep.lacking.charAt(0).toUpperCase() + sweep.lacking.slice(1)}.</p>}</Panel>
      <Means sweep={sweep} />
      <Panel title="Runs" flush actions={<a className="button" href={compareHref(sweep.cells.flatMap(({ run }) => (run ? [run] : [])))}>Compare all</a>}><Cells sweep={sweep} /></Panel>
      <Panel title="What all runs have in common"><code className="wrap">{sweep.words.join(" ") || "the defaults"}</code></Panel>
    </div>
  );
}

function Rows({ sweep }: { sweep: Sweep }) {
  return (
    <div className="scroll" tabIndex={0} role="region" aria-label="Settings and what they came to"><table>
      <thead><tr><th scope="col">Setting</th><th scope="col" className="num">Seeds</th><th scope="col" className="num">Mean</th><th scope="col">95 %</th><th scope="col" title={`Mean of the differences seed by seed; above 0 is better${sweep.rows.length > 2 ? ". With 95 % the intervals hold for all settings together" : ""}`}>Gain over {sweep.rows[0].name}</th><th scope="col" title={`The best of the other settings by its mean, paired by seed; above 0 is better${sweep.rows.length > 2 ? ". With 95 % the intervals hold for all pairs of settings together" : ""}`}>Lead over the best other</th><th scope="col" className="num">Search time</th><th scope="col" className="num">Cost</th></tr></thead>
      <tbody>{sweep.rows.map((row) => <Line key={row.setting.join(" ")} row={row} />)}</tbody>
    </table></div>
  );
}

function Line({ row }: { row: SweepRow }) {
  return (
    <tr>
      <th scope="row" className="mono">{row.name}</th>
      <td className="num">{row.runs}{row.without > 0 && <span className="muted" title="Runs that ended without a valid program"> (+{row.without})</span>}</td>
      <td className="num">{metric(row.mean)}</td>
      <td>{interval(row.interval)}</td>
      <td>{gainText(row.gain, row.gain_interval, row.verdict)}</td>
      <td>{gainText(row.lead, row.lead_interval, row.lead_verdict)}{row.rival_name && row.lead != null && <span className="muted"> ({row.rival_name})</span>}</td>
      <td className="num">{seconds(row.seconds)}</td>
      <td className="num">{dollars(row.cost_usd)}</td>
    </tr>
  );
}

/** The mean curve of each setting, of the runs that have one. */
function Means({ sweep }: { sweep: Sweep }) {
  const key = sweep.cells.flatMap(({ run }) => (run ? [run] : [])).join(",");
  const ended = sweep.cells.filter(({ status }) => status === "finished").length;
  const [curves, setCurves] = useState<Map<string, Curve>>(new Map());
  const [error, setError] = useState("");
  useEffect(() => {
    const abort = new AbortController();
    Promise.all(key.split(",").filter(Boolean).map(async (run): Promise<[string, Curve]> => [run, await get<Curve>(runPath(run, "/curve"), abort.signal)]))
      .then((found) => { setCurves(new Map(found)); setError(""); }, (problem: Error) => { if (!abort.signal.aborted) setError(problem.message); });
    return () => abort.abort();
  }, [key, ended]);
  const { runs, groups } = useMemo(() => {
    const shown = sweep.cells.filter(({ run }) => run && curves.get(run)?.best.length);
    return {
      runs: shown.map((cell) => ({ name: `${cell.name} seed ${cell.seed}`, curve: curves.get(cell.run as string) as Curve })),
      groups: sweep.rows.map(({ setting, name }) => ({ name, of: shown.flatMap((cell, i) => (cell.setting.join(" ") === setting.join(" ") ? [i] : [])) })).filter(({ of }) => of.length > 0),
    };
  }, [sweep, curves]);
  if (error) return <Failed error={error} />;
  return runs.length > 0 ? <Curves runs={runs} groups={groups} /> : null;
}

function Cells({ sweep }: { sweep: Sweep }) {
  return (
    <div className="scroll" tabIndex={0} role="region" aria-label="Runs of the sweep"><table>
      <thead><tr><th scope="col">Setting</th><th scope="col" className="num">Seed</th><th scope="col">Run</th><th scope="col">Status</th><th scope="col" className="num">Validation</th><th scope="col" className="num">Final</th><th scope="col" className="num">Steps</th></tr></thead>
      <tbody>{sweep.cells.map((cell) => (
        <tr key={`${cell.setting.join(" ")} ${cell.seed}`}>
          <td className="mono">{cell.name}</td><td className="num">{cell.seed}</td>
          <td>{cell.run ? <a className="mono" href={href(cell.run)}>{cell.run}</a> : <span className="muted">–</span>}</td>
          <td><Status status={cell.status} /></td><td className="num">{metric(cell.metric)}</td><td className="num">{metric(cell.final_metric)}</td><td className="num">{cell.steps}</td>
        </tr>
      ))}</tbody>
    </table></div>
  );
}

export function SweepsView({ themeButton }: { themeButton: ReactNode }) {
  const { data, error } = useResource<SweepLine[]>("/sweeps", REFRESH_MS);
  return (
    <Shell crumb={<div className="crumb"><span className="sep">/</span><h1>Sweeps</h1></div>} actions={<><a className="button" href="#/">All runs</a>{themeButton}</>}>
      <div className="stack">
        {error && <Failed error={error} />}
        <Panel title={data ? counted(data.length, "sweep") : "Sweeps"} flush>
          {data === null ? !error && <Empty title="Loading…" /> : data.length === 0 ? (
            <Empty title="No sweeps yet">Compare settings over seeds: <code>python main.py sweep --vary search.policy=three_phase,mcts</code></Empty>
          ) : (
            <div className="scroll" tabIndex={0} role="region" aria-label="Sweeps"><table>
              <thead><tr><th scope="col">Sweep</th><th scope="col">Problem</th><th scope="col">Status</th><th scope="col" className="num">Started</th><th scope="col" className="num">Settings</th><th scope="col" className="num">Seeds</th><th scope="col" className="num">Runs begun</th></tr></thead>
              <tbody>{data.map((line) => (
                <tr key={line.name}><td><a className="mono" href={sweepHref(line.name)}>{line.name}</a></td><td>{line.problem || "–"}</td><td><Status status={line.status} /></td><td className="num" title={day(line.started_at)}>{shortDay(line.started_at)}</td><td className="num">{line.settings}</td><td className="num">{line.seeds}</td><td className="num">{line.begun} of {line.settings * line.seeds}</td></tr>
              ))}</tbody>
            </table></div>
          )}
        </Panel>
      </div>
    </Shell>
  );
}
