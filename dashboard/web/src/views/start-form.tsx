// A new run: choices and numbers only. The server starts `main.py` as a child process and tells us its run id.
import { type FormEvent, useEffect, useRef, useState } from "react";
import { ApiError, get, post } from "../api/client";
import type { Launch, Own, PolicyOption, Presets, Sweep, SweepLaunch, Writer } from "../api/types";
import { Failed } from "../components/widgets";
import { bytes, count, counted, dollars, seconds } from "../model/format";
import { inWordsOfTheForm, labelIn } from "../model/form-words";
import { useResource } from "../model/hooks";
import { follow } from "../model/launch";
import { go, href, sweepHref } from "../model/router";
import { Quote, usePlan } from "./quote";

const TEXTS = ["problem", "name", "llm", "model", "policy", "folder", "target", "metric", "program", "evaluator", "direction", "classes", "split"];
const OPTION = "option.";
const SWEEP = "sweep.";

export function StartForm({ onCancel }: { onCancel: () => void }) {
  const { data: own } = useResource<Own>("/own");
  const [folder, setFolder] = useState("");
  const { data: presets, error: presetError } = useResource<Presets>("/presets");
  const [problem, setProblem] = useState("");
  const [policy, setPolicy] = useState("");
  const [llm, setLlm] = useState("rules");
  const { data: writer } = useResource<Writer>(`/writers/${llm}`);
  const form = useRef<HTMLFormElement>(null);
  const plan = usePlan(form, body, presets !== null && own !== null);
  const [launch, setLaunch] = useState<Launch | null>(null);
  const [error, setError] = useState("");
  const [busy, setBusy] = useState(false);
  const [compared, setCompared] = useState<string[]>([]);
  const [fault, setFault] = useState("");
  const there = useRef(true);
  useEffect(() => {
    there.current = true;
    return () => {
      there.current = false;
    };
  }, []);
  useEscape(form, onCancel);
  useEffect(() => setFault(faultOf(form.current))); // of the fields as they are drawn: a choice brings others
  const chosen = problem || (presets ? ("competition" in presets.problems ? "competition" : Object.keys(presets.problems)[0]) : "");
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    setBusy(true);
    setError("");
    setLaunch(null);
    try {
      const form = new FormData(event.currentTarget);
      const place = compared.length ? await startSweep(form, compared, setLaunch) : await startRun(form, setLaunch);
      if (!there.current) return; // who closed the form has gone elsewhere; the run is in the list
      if (place) go(place);
      else setError(`The process ended before it made a ${compared.length ? "sweep" : "run"}. Its last lines are below.`);
    } catch (problem) {
      setError(problem instanceof ApiError ? problem.message : String(problem));
    }
    setBusy(false);
  };
  if (!presets) return <div style={{ padding: 12 }}>{presetError ? <Failed error={presetError} /> : "Loading…"}</div>;
  const defaults = presets.defaults[chosen] ?? {};
  const policyShown = policy || defaults.policy || "";
  const limit = (value: number | null | undefined) => (value == null ? "no limit" : String(value));
  const folders = chosen === "competition" ? (own?.data ?? []).map((f) => f.name) : chosen === "script" ? (own?.scripts ?? []).map((f) => f.name) : [];
  const mine = folders.includes(folder) ? folder : "";
  const script = chosen === "script" ? (own?.scripts ?? []).find((f) => f.name === mine) : undefined;
  const noFolder = chosen !== "script" || mine ? "" : folders.length ? "choose your folder" : "no folder with an evaluator.py and its program lies in the project's folder";
  const told = (text: string) => inWordsOfTheForm(text, (field) => labelIn(form.current, field));
  const why = noFolder || fault || told(refusalOf(writer) || (plan.told?.refusal ?? ""));
  return (
    <form ref={form} onSubmit={submit} onChange={() => plan.ask()} style={{ padding: 12, borderBottom: "1px solid var(--line)" }} className="stack" aria-label="Start a run">
      <div className="form">
        <label className="field">Problem
          <select name="problem" value={chosen} onChange={(e) => { setProblem(e.target.value); setFolder(""); }}>{Object.keys(presets.problems).map((name) => <option key={name}>{name}</option>)}</select>
        </label>
        {folders.length > 0 && (
          <label className="field">{chosen === "script" ? "Your folder" : "Data"}
            <select name="folder" value={mine} onChange={(e) => setFolder(e.target.value)}><option value="">{chosen === "script" ? "choose a folder" : "bundled"}</option>{folders.map((name) => <option key={name} value={name}>{name === "." ? "the project's folder" : name}</option>)}</select>
          </label>
        )}
        {!mine && (presets.problems[chosen] ?? []).length > 0 && (
          <label className="field">Data set
            <input name="name" list="names" placeholder="its usual one" autoComplete="off" pattern="[A-Za-z0-9_][A-Za-z0-9_\-]*" key={chosen} defaultValue={chosen === "competition" ? "diabetes" : ""} />
            <datalist id="names">{(presets.problems[chosen] ?? []).map((name) => <option key={name} value={name} />)}</datalist>
          </label>
        )}
        {script && <ScriptFields key={mine} script={script} />}
        <label className="field">Writer
          <select name="llm" value={llm} onChange={(e) => setLlm(e.target.value)}>{presets.llms.map((name) => <option key={name} value={name}>{name === "rules" ? "rules (no model)" : name}</option>)}</select>
        </label>
        {writer?.takes_model && writer.name === llm && <ModelField key={llm} writer={writer} />}
        <label className="field">Policy
          <select name="policy" value={compared.length ? "" : policyShown} disabled={compared.length > 0} title={compared.length ? "the sweep names its policies below" : ""} onChange={(e) => setPolicy(e.target.value)}>{(!policyShown || compared.length > 0) && <option value="">the problem's own</option>}{presets.policies.map((name) => <option key={name} value={name}>{name === defaults.policy ? `${name} (its own)` : name}</option>)}</select>
        </label>
        <label className="field">Steps<input name="max_steps" type="number" min={0} placeholder={limit(defaults.max_steps)} /></label>
        <label className="field">Generations<input name="max_generations" type="number" min={0} placeholder={limit(defaults.max_generations)} /></label>
        <label className="field">Seconds<input name="seconds" type="number" min={0} placeholder={defaults.seconds == null ? "no limit" : `${defaults.seconds} (${seconds(defaults.seconds)})`} /></label>
        <label className="field">Dollars<input name="usd" type="number" min={0} step="any" placeholder={limit(defaults.usd)} /></label>
        <label className="field">{compared.length ? "First seed" : "Seed"}<input name="seed" type="number" min={0} placeholder={compared.length ? "1" : "42"} /></label>
        <label className="field">Workers<input name="workers" type="number" min={1} placeholder={limit(defaults.workers)} /></label>
      </div>
      {defaults.about && <p className="muted small">{defaults.about}.</p>}
      {mine && chosen === "competition" && <Tables key={mine} folder={(own?.data ?? []).find((f) => f.name === mine) as Own["data"][number]} metrics={presets.metrics} />}
      {chosen === "competition" && own && own.data.length === 0 && <p className="muted small">Tables of your own: put a folder with a train.csv (and a test.csv) into the project's folder, and it can be chosen here.</p>}
      <Compared policies={presets.policies} chosen={compared} choose={setCompared} />
      {policyShown && compared.length === 0 && (
        <details key={policyShown}>
          <summary>Options of {policyShown}</summary>
          <div className="form">{(presets.policy_options[policyShown] ?? []).map((option) => <OptionField key={option.name} option={option} />)}</div>
        </details>
      )}
      {writer && <Prices writer={writer} />}
      <Quote plan={plan} llm={llm} refused={why !== ""} />
      <div className="row">
        <button type="submit" className="primary" disabled={busy || why !== ""} title={why} aria-describedby={why ? "why-not" : undefined}>{busy ? "Starting…" : compared.length ? "Start the sweep" : "Start"}</button>
        <button type="button" onClick={onCancel}>Cancel</button>
        {why && <span className="warn small" id="why-not">Cannot start: {why}</span>}
        <span className="muted small">A model's key is taken from the server's environment.</span>
      </div>
      {error && <Failed error={told(error)} />}
      {launch?.output && error && <pre className="tail" aria-label="Output of the process">{launch.output}</pre>}
    </form>
  );
}

/** Escape closes the form, from its fields or from nowhere: not while it closes a list or a menu, or empties another field. */
function useEscape(form: { current: HTMLFormElement | null }, close: () => void): void {
  useEffect(() => {
    const key = (event: KeyboardEvent) => {
      const at = event.target as Element;
      const others = document.querySelector("dialog[open]") || at.closest(".menu") || (at.matches("input, textarea, select") && !form.current?.contains(at));
      if (event.key === "Escape" && !others) close();
    };
    document.addEventListener("keydown", key);
    return () => document.removeEventListener("keydown", key);
  });
}

/** A sweep in place of a run: the policies to compare, over how many seeds, beside independent draws or not. */
function Compared({ policies, chosen, choose }: { policies: string[]; chosen: string[]; choose: (names: string[]) => void }) {
  const toggle = (name: string) => choose(chosen.includes(name) ? chosen.filter((other) => other !== name) : [...chosen, name]);
  return (
    <details>
      <summary>Compare policies over seeds <span className="muted small">a sweep: a run for each</span></summary>
      <div className="row" role="group" aria-label="Policies of the sweep">
        {policies.map((name) => <label key={name} className="small"><input type="checkbox" checked={chosen.includes(name)} onChange={() => toggle(name)} /> {name.replaceAll("_", " ")}</label>)}
        <label className="small"><input type="checkbox" name={`${SWEEP}control`} value="true" /> independent draws</label>
        <label className="field">Name<input name={`${SWEEP}name`} placeholder="made up" maxLength={80} pattern="[A-Za-z0-9][A-Za-z0-9._\-]*" autoComplete="off" /></label>
        <label className="field">Seeds<input name={`${SWEEP}seeds`} type="number" min={1} max={50} defaultValue={5} required={chosen.length > 0} /></label>
      </div>
    </details>
  );
}

/** The program that is improved, the evaluator that judges it, and which of its numbers counts. */
function ScriptFields({ script }: { script: Own["scripts"][number] }) {
  const choice = (name: string, title: string, guess: string, files: string[]) => (
    <label className="field">{title}<select name={name} defaultValue={guess} required><option value="">choose a file</option>{files.map((file) => <option key={file}>{file}</option>)}</select></label>
  );
  return (
    <>
      {choice("program", "Program", script.program, script.files)}
      {choice("evaluator", "Evaluator", script.evaluator, script.files)}
      <label className="field">Metric<input name="metric" autoComplete="off" pattern="[A-Za-z][A-Za-z0-9_\-]*" placeholder="combined_score, else the mean" title="which of the numbers that the evaluator returns steers the search" /></label>
      <label className="field">Better is<select name="direction" defaultValue=""><option value="">higher</option><option value="min">lower</option><option value="max">higher, whatever the metric is called</option></select></label>
    </>
  );
}

/** What a choice that is still to be made asks for, else the first field that holds what cannot be, in the browser's own words; '' where all can. An empty text is not told before the button is pressed. */
function faultOf(form: HTMLFormElement | null): string {
  const open = [...(form?.elements ?? [])].find((field) => field instanceof HTMLSelectElement && field.validity.valueMissing) as HTMLSelectElement | undefined;
  if (open) return open.options[0].text;
  const wrong = [...(form?.elements ?? [])].find((field) => field instanceof HTMLInputElement && !field.disabled && !field.validity.valid && !field.validity.valueMissing) as HTMLInputElement | undefined;
  return wrong ? `${wrong.labels?.[0]?.textContent ?? wrong.name}: ${wrong.validationMessage}` : "";
}

/** What is wrong with the writer as this server would ask it. A model that has to be named can still be. */
const refusalOf = (writer: Writer | null): string => (writer && !(writer.takes_model && !writer.model) ? writer.refusal : "");

/** Which model of the writer: the preset's, one of the price list, or any other by its name. */
function ModelField({ writer }: { writer: Writer }) {
  return (
    <label className="field">Model
      <input name="model" list="models" autoComplete="off" placeholder={writer.model || "has to be named"} required={!writer.model} pattern="[A-Za-z0-9][A-Za-z0-9._:\/@\-]*" />
      <datalist id="models">{(writer.models ?? []).map((model) => <option key={model.name} value={model.name}>{`${dollars(model.input)} in, ${dollars(model.output)} out; ${dollars(model.usd_a_call)} a call`}</option>)}</datalist>
    </label>
  );
}

function Prices({ writer }: { writer: Writer }) {
  if (!writer.models?.length) return null;
  return (
    <details>
      <summary>Prices of {writer.name} <span className="muted small">dollars a million tokens, as published</span></summary>
      <div className="scroll" tabIndex={0} role="region" aria-label={`Prices of ${writer.name}`} style={{ maxHeight: 260 }}><table>
        <thead><tr><th scope="col">Model</th><th scope="col" className="num">Prompt</th><th scope="col" className="num">Reply</th><th scope="col" className="num">A usual call</th><th scope="col" className="num">Context</th></tr></thead>
        <tbody>{(writer.models ?? []).map((model) => (
          <tr key={model.name}><td className="mono">{model.name}{model.name === writer.model && <span className="muted"> (its own)</span>}</td><td className="num">{dollars(model.input)}</td><td className="num">{dollars(model.output)}</td><td className="num">{dollars(model.usd_a_call)}</td><td className="num">{count(model.context)}</td></tr>
        ))}</tbody>
      </table></div>
    </details>
  );
}

/** A look at the tables, and what is to be predicted. */
function Tables({ folder, metrics }: { folder: Own["data"][number]; metrics: string[] }) {
  const columns = folder.tables[0]?.columns ?? [];
  return (
    <div className="stack">
      <div className="form">
        <label className="field">Predict{folder.target && " (guessed)"}<select name="target" defaultValue={folder.target} required><option value="">choose a column</option>{columns.map((name) => <option key={name}>{name}</option>)}</select></label>
        <label className="field">Metric<select name="metric" required defaultValue=""><option value="">choose a metric</option>{metrics.map((name) => <option key={name}>{name}</option>)}</select></label>
        <label className="field" title="All classes of the column with commas between them, the lowest grade first; of two the last one counts as positive">Classes, lowest first<input name="classes" autoComplete="off" placeholder="as in the data: no,yes" /></label>
        <label className="field" title="Which labelled rows programs never see">Hidden rows
          <select name="split" defaultValue="">
            <option value="">random</option><option value="stratified">random, classes in equal shares</option><option value="distinct">random, equal rows together</option>
            <optgroup label="A group is hidden whole">{columns.map((name) => <option key={name} value={`group:${name}`}>group: {name}</option>)}</optgroup>
            <optgroup label="The latest are hidden">{columns.map((name) => <option key={name} value={`time:${name}`}>time: {name}</option>)}</optgroup>
          </select>
        </label>
      </div>
      {folder.tables.map((table) => (
        <details key={table.name} open={table === folder.tables[0]}>
          <summary><span className="mono">{table.name}</span> <span className="muted small">{counted(table.columns.length, "column")}, {bytes(table.bytes)}</span></summary>
          <div className="scroll" tabIndex={0} role="region" aria-label={`First rows of ${table.name}`}><table>
            <thead><tr>{table.columns.map((name, i) => <th key={i} scope="col" className="mono">{name}</th>)}</tr></thead>
            <tbody>{table.head.map((row, i) => <tr key={i}>{row.map((cell, k) => <td key={k} className="mono small">{cell}</td>)}</tr>)}</tbody>
          </table></div>
        </details>
      ))}
    </div>
  );
}

/** An option of the chosen policy; left empty, the problem's preset or the policy's own default holds. */
function OptionField({ option }: { option: PolicyOption }) {
  const choices = option.kind === "boolean" ? ["true", "false"] : (option.choices ?? []);
  return (
    <label className="field" title={option.meaning}>{option.name.replaceAll("_", " ")}
      {choices.length > 0
        ? <select name={OPTION + option.name}><option value="">{option.default == null ? "default" : `${String(option.default)} (default)`}</option>{choices.map((choice) => <option key={choice}>{choice}</option>)}</select>
        : <input name={OPTION + option.name} type="number" step={option.kind === "integer" ? 1 : "any"} min={option.minimum ?? undefined} max={option.maximum ?? undefined} placeholder={option.default == null ? "default" : String(option.default)} />}
    </label>
  );
}

/** The request: empty fields are left out, options of the policy go into a mapping of their own. */
export function body(form: Iterable<[string, FormDataEntryValue]>): Record<string, unknown> {
  const found: Record<string, unknown> = {};
  const options: Record<string, unknown> = {};
  for (const [key, value] of form) {
    if (typeof value !== "string" || value === "") continue;
    if (key.startsWith(SWEEP)) continue;
    if (key.startsWith(OPTION)) options[key.slice(OPTION.length)] = plain(value);
    else found[key] = TEXTS.includes(key) ? value : Number(value);
  }
  return Object.keys(options).length ? { ...found, options } : found;
}

function plain(value: string): string | number | boolean {
  if (value === "true" || value === "false") return value === "true";
  return Number.isFinite(Number(value)) ? Number(value) : value;
}

/** Start a run; its address, or null if the process ended before there was one. */
async function startRun(form: FormData, tell: (launch: Launch) => void): Promise<string | null> {
  const started = await post<Launch>("/runs", body(form));
  const run = await follow(started.launch, tell, (launch) => launch.run ?? null);
  return run ? href(run) : null;
}

/** Start a sweep; its address once its plan is kept, or null if the process ended before. */
async function startSweep(form: FormData, policies: string[], tell: (launch: Launch) => void): Promise<string | null> {
  const { policy: _policy, options: _options, ...common } = body(form);
  const name = String(form.get(`${SWEEP}name`) ?? "").trim();
  const seeds = Number(form.get(`${SWEEP}seeds`) || 5);
  const started = await post<SweepLaunch>("/sweeps", { ...common, ...(name && { sweep: name }), policies, seeds, control: form.get(`${SWEEP}control`) === "true" });
  const isKept = () => get<Sweep>(`/sweeps/${started.name}`).then(() => sweepHref(started.name), () => null);
  return follow(started.launch, tell, isKept);
}
