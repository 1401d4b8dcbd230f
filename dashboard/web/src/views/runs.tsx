// All runs: searched, sorted, filtered, labelled, put away, removed; a new one; several of them compared.
import { lazy, type ReactNode, Suspense, useMemo, useState } from "react";
import { remove } from "../api/client";
import type { RunSummary, SweepLine } from "../api/types";
import { Boundary } from "../components/boundary";
import { Empty, Failed, Menu, Panel, Segmented, Status } from "../components/widgets";
import { Shell } from "../components/shell";
import { counted, day, dollars, metric, seconds, shortDay } from "../model/format";
import { useAddressed, useResource } from "../model/hooks";
import { compareHref, href, sweepHref } from "../model/router";
import { AT_FIRST, COLUMNS, type Column, columnsOf, MAY_BE_EMPTY, namesText, NUMBERS, orderOf, ORDERS, orderText, PER_PROBLEM, SHOWN, wanted, type Wish } from "../model/runs";
import { type OfSweep, ofSweeps } from "../model/sweep";
import { label, LabelEditor } from "./labels";

const StartForm = lazy(() => import("./start-form").then((file) => ({ default: file.StartForm })));

const REFRESH_MS = 2000;
const SWEEPS_REFRESH_MS = 10_000;
const PAGE = 100;

export function RunsView({ themeButton }: { themeButton: ReactNode }) {
  const { data: runs, error, reload } = useResource<RunSummary[]>("/runs", REFRESH_MS);
  const { data: sweeps } = useResource<SweepLine[]>("/sweeps", SWEEPS_REFRESH_MS);
  const of = useMemo(() => ofSweeps(sweeps ?? []), [sweeps]);
  const [starting, setStarting] = useState(false);
  const [chosenText, choose] = useAddressed("chosen", "");
  const chosen = useMemo(() => chosenText.split(",").filter(Boolean), [chosenText]);
  const [text, setText] = useAddressed("q", "");
  const [show, setShow] = useAddressed<Wish["show"]>("show", "listed", { among: SHOWN });
  const [order, setOrder] = useAddressed("sort", "-started", { among: ORDERS });
  const [columnsText, setColumnsText] = useAddressed("columns", AT_FIRST.join(), { kept: true });
  const wish = useMemo((): Wish => ({ text, show, ...orderOf(order) }), [text, show, order]);
  const columns = useMemo(() => columnsOf(columnsText), [columnsText]);
  const rows = useMemo(() => wanted(runs ?? [], wish), [runs, wish]);
  const [most, setMost] = useState(PAGE);
  const page = useMemo(() => rows.slice(0, most), [rows, most]);
  const picked = useMemo(() => page.filter((line) => chosen.includes(line.run)), [page, chosen]);
  /** What can no longer be seen is no longer chosen. */
  const change = (next: Wish) => {
    const seen = new Set(wanted(runs ?? [], next).slice(0, most).map((line) => line.run));
    setText(next.text);
    setShow(next.show);
    setOrder(orderText(next));
    choose(chosen.filter((run) => seen.has(run)).join());
  };
  const toggle = (names: string[], on: boolean) => choose((on ? [...new Set([...chosen, ...names])] : chosen.filter((run) => !names.includes(run))).join());
  return (
    <Shell crumb={<div className="crumb"><span className="sep">/</span><h1>Runs</h1></div>} actions={themeButton}>
      <div className="stack">
        {error && <Failed error={error} />}
        <Panel
          title={runs ? `${rows.length === runs.length ? "" : `${rows.length} of `}${counted(runs.length, "run")}` : "Runs"}
          flush
          actions={<><a className="button" href="#/sweeps">Sweeps</a><button type="button" className="primary" aria-expanded={starting} onClick={() => setStarting(!starting)}>Start a run</button></>}
        >
          {starting && <Boundary place="start"><Suspense fallback={<Empty title="Loading…" />}><StartForm onCancel={() => setStarting(false)} /></Suspense></Boundary>}
          {runs === null && !error && <Empty title="Loading…" />}
          {runs?.length === 0 && (
            <Empty title="No runs yet">
              Start one here, or in a terminal: <code>python main.py --problem=competition --problem.name=diabetes</code>
            </Empty>
          )}
          {runs && runs.length > 0 && (
            <>
              <Tools wish={wish} setWish={change} columns={columns} setColumns={(next) => setColumnsText(next.join())} />
              {picked.length > 0 && <Chosen picked={picked} clear={() => choose("")} changed={reload} />}
              {rows.length === 0 ? <Empty title="No such run">Other words, or another filter.</Empty> : <RunTable page={page} of={of} hidden={rows.length - page.length} more={() => setMost(most + PAGE * 3)} columns={columns} chosen={chosen} toggle={toggle} wish={wish} setWish={change} changed={reload} />}
            </>
          )}
        </Panel>
      </div>
    </Shell>
  );
}

interface Wishing { wish: Wish; setWish: (wish: Wish) => void }

function Tools({ wish, setWish, columns, setColumns }: Wishing & { columns: Column[]; setColumns: (columns: Column[]) => void }) {
  return (
    <div className="row tools">
      <input type="search" aria-label="Search runs" placeholder="words, or tag:paper seed:3" value={wish.text} onChange={(e) => setWish({ ...wish, text: e.target.value })} />
      <Segmented label="Show" value={wish.show} onChange={(show) => setWish({ ...wish, show })} options={[["listed", "all"], ["running", "running"], ["archived", "archived"]]} />
      <span className="grow" />
      <Menu text="Columns">
        <div className="choices">
          {(Object.keys(COLUMNS) as Column[]).map((name) => (
            <label key={name}><input type="checkbox" checked={columns.includes(name)} onChange={(e) => setColumns((Object.keys(COLUMNS) as Column[]).filter((c) => (c === name ? e.target.checked : columns.includes(c))))} /> {COLUMNS[name].title}</label>
          ))}
        </div>
      </Menu>
    </div>
  );
}

/** What can be done with the runs that are ticked. */
function Chosen({ picked, clear, changed }: { picked: RunSummary[]; clear: () => void; changed: () => void }) {
  const [asked, setAsked] = useState(false);
  const [error, setError] = useState("");
  const [busy, setBusy] = useState(false);
  const names = picked.map((line) => line.run);
  const live = picked.filter((line) => line.live);
  const away = picked.every((line) => line.archived);
  const act = async (work: () => Promise<unknown>, after: () => void = () => undefined) => {
    setBusy(true);
    setError("");
    try {
      await work();
      after();
    } catch (problem) {
      setError((problem as Error).message);
    }
    setBusy(false);
    setAsked(false);
    changed();
  };
  const tag = (form: FormData) => act(async () => { for (const run of names) await label(run, { add: String(form.get("tag")).split(/[\s,]+/).filter(Boolean) }); });
  return (
    <div className="row tools chosen" role="region" aria-label="Chosen runs">
      <span>{names.length} chosen: {namesText(picked)}</span>
      <a className="button primary" href={compareHref(names)}>Compare</a>
      <form className="row" action={tag}><input name="tag" aria-label="Tag for the chosen runs" placeholder="tag" required style={{ width: 110 }} /><button type="submit" disabled={busy}>Tag</button></form>
      <button type="button" disabled={busy} onClick={() => void act(async () => { for (const run of names) await label(run, { archived: !away }); }, clear)}>{away ? "Restore" : "Archive"}</button>
      {asked ? (
        <span className="row" role="alert">
          Remove {names.length === 1 ? "" : `${names.length} runs, `}{namesText(picked, 5)}, with all files?
          <button type="button" className="danger" disabled={busy} onClick={() => void act(() => remove(`/runs?${new URLSearchParams(names.map((run) => ["run", run]))}`), clear)}>{busy ? "Removing…" : "Remove"}</button>
          <button type="button" onClick={() => setAsked(false)}>Keep</button>
        </span>
      ) : <button type="button" disabled={busy || live.length > 0} title={live.length ? `${live[0].run} is running: stop it first` : "removes the runs with all their files"} onClick={() => setAsked(true)}>Delete…</button>}
      <span className="grow" />
      {error && <span className="bad small" role="alert">{error}</span>}
      <button type="button" className="quiet" onClick={clear}>Clear</button>
    </div>
  );
}

interface Table extends Wishing { page: RunSummary[]; of: Map<string, OfSweep>; hidden: number; more: () => void; columns: Column[]; chosen: string[]; toggle: (names: string[], on: boolean) => void; changed: () => void }

function RunTable({ page, of, hidden, more, columns: wished, chosen, toggle, wish, setWish, changed }: Table) {
  const columns = wished.filter((name) => !MAY_BE_EMPTY.has(name) || page.some((line) => COLUMNS[name].value(line)));
  const [edited, setEdited] = useState("");
  const all = page.every((line) => chosen.includes(line.run));
  const head = (name: Column | "run", text: string, style: string) => (
    <th key={name} scope="col" className={style} aria-sort={wish.sort === name ? (wish.down ? "descending" : "ascending") : undefined}>
      <button type="button" className="sort" title={PER_PROBLEM.has(name) ? "first the best ones; runs of one problem stand together: scores of two cannot be compared" : undefined} onClick={() => setWish({ ...wish, sort: name, down: wish.sort === name ? !wish.down : name === "started" || name === "run" || NUMBERS.has(name) })}>{text}{wish.sort === name ? (wish.down ? " ↓" : " ↑") : ""}</button>
    </th>
  );
  return (
    <>
      <div className="scroll" tabIndex={0} role="region" aria-label="Table of runs">
        <table className="runs">
          <thead>
            <tr>
              <th scope="col"><input type="checkbox" aria-label="Choose all runs shown" checked={all} onChange={() => toggle(page.map((line) => line.run), !all)} /></th>
              {head("run", "Run", "")}
              {columns.map((name) => head(name, COLUMNS[name].title, styleOf(name)))}
              <th scope="col" className="wide"><span className="visually-hidden">Edit, replay</span></th>
            </tr>
          </thead>
          <tbody>
            {page.map((line) => <Row key={line.run} line={line} of={of.get(line.run)} columns={columns} chosen={chosen.includes(line.run)} toggle={toggle} edited={edited === line.run} edit={setEdited} changed={changed} />)}
          </tbody>
        </table>
      </div>
      {hidden > 0 && <div style={{ padding: 10 }}><button type="button" onClick={more}>Show more ({hidden})</button></div>}
    </>
  );
}

const styleOf = (name: Column) => `${NUMBERS.has(name) ? "num" : ""}${COLUMNS[name].wide ? " wide" : ""}`;

interface Line { line: RunSummary; of?: OfSweep; columns: Column[]; chosen: boolean; toggle: Table["toggle"]; edited: boolean; edit: (run: string) => void; changed: () => void }

function Row({ line, of, columns, chosen, toggle, edited, edit, changed }: Line) {
  const broken = line.status === "unreadable";
  return (
    <>
      <tr>
        <td><input type="checkbox" aria-label={`Choose ${line.run}`} checked={chosen} onChange={(e) => toggle([line.run], e.target.checked)} /></td>
        <td className="name">
          {broken ? <span className="mono">{line.run}</span> : line.title ? <div className="title"><a href={href(line.run)} title={line.title}>{line.title}</a></div> : <a className="mono" href={href(line.run)}>{line.run}</a>}
          {line.title && <div className="mono muted small">{line.run}</div>}
          {of && <div className="small note"><a href={sweepHref(of.sweep)} title={`${of.sweep}: ${of.setting}, seed ${of.seed}`}>{of.sweep}</a> <span className="muted">{of.setting}, seed {of.seed}</span></div>}
          {!columns.includes("tags") && tagsOf(line).length > 0 && <div className="small">{tagsOf(line)}</div>}
          {line.note && <div className="muted small note" title={line.note}>{line.note}</div>}
          {line.error && <div className="bad small">{line.error}</div>}
        </td>
        {columns.map((name) => <td key={name} className={styleOf(name)}>{cell(name, line)}</td>)}
        <td className="right wide">
          <button type="button" className="quiet" aria-label={`Edit ${line.run}`} title="title, note, tags" aria-expanded={edited} onClick={() => edit(edited ? "" : line.run)}>✎</button>
          {!broken && <a href={`#/run/${encodeURIComponent(line.run)}/overview?speed=10`} aria-label={`Replay ${line.run}`} title="replay the run">▷</a>}
        </td>
      </tr>
      {edited && <tr><td colSpan={columns.length + 3}><LabelEditor line={line} done={() => { edit(""); changed(); }} /></td></tr>}
    </>
  );
}

/** A unit that has its place in a cell; a longer one is told by the pointer. */
const SHORT = 5;

const tagsOf = (line: RunSummary): ReactNode[] => (line.tags ?? []).map((tag) => <span key={tag} className="tag">{tag}</span>);

function cell(name: Column, line: RunSummary): ReactNode {
  switch (name) {
    case "status": return <Status status={line.status ?? ""} />;
    case "best": return <>{metric(line.best_metric)} <span className="muted" title={line.lower_is_better ? "lower is better" : "higher is better"}>{line.lower_is_better ? "↓" : "↑"}</span></>;
    case "final": return metric(line.final_metric);
    case "verdict": return line.verdict_words;
    case "gain": return line.gain == null ? "–" : <span className={line.verdict === "better" ? "good" : line.verdict === "worse" ? "bad" : ""} title={`${line.unit}, against ${line.against}: ${line.verdict_words}`}>{line.gain > 0 ? "+" : ""}{metric(line.gain, 3)}{line.unit && line.unit.length <= SHORT && <span className="muted small"> {line.unit}</span>}</span>;
    case "seconds": return seconds(line.seconds);
    case "cost": return dollars(line.cost_usd);
    case "tags": return tagsOf(line);
    case "started": return <span className="num" title={day(line.started_at)}>{shortDay(line.started_at)}</span>;
    default: return COLUMNS[name].value(line) ?? "–";
  }
}
