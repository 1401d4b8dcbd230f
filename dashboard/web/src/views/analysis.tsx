// What the search costs and brings: by operator, over time, and by what the programs differ in.
import { useMemo } from "react";
import { runPath } from "../api/client";
import type { Dimensions } from "../api/types";
import { Chart } from "../components/chart";
import { Parallel } from "../components/parallel";
import { Empty, Operator, Panel } from "../components/widgets";
import type { Connection } from "../model/connection";
import { counted, dollars, metric, seconds } from "../model/format";
import { useColors, useResource } from "../model/hooks";
import { isStep } from "../model/operators";
import { importance, operatorsOf, sharesOf, spentOf } from "../model/progress";
import { go, href } from "../model/router";
import { TradeOffs } from "./trade-offs";

const COLORS = ["accent", "bad", "grey", "line", "muted", "orange"] as const;

export function AnalysisView({ connection }: { connection: Connection }) {
  const { state } = connection;
  const { data } = useResource<Dimensions>(runPath(state.id, "/dimensions"), 0, Math.floor(state.nodes.length / 20));
  if (state.nodes.length === 0) return <Empty title="No nodes yet" />;
  return (
    <div className="stack">
      <ByOperator connection={connection} />
      <div className="cols even"><Failing connection={connection} /><Spending connection={connection} /></div>
      {data && <Differing connection={connection} data={data} />}
      {data && <TradeOffs connection={connection} data={data} />}
    </div>
  );
}

function ByOperator({ connection: { state } }: { connection: Connection }) {
  const rows = useMemo(() => operatorsOf([...state.beside, ...state.nodes]), [state, state.nodes.length, state.beside.length]);
  const priced = rows.some((row) => row.cost);
  const left = rows.some((row) => row.left);
  return (
    <Panel title="What each operator brings" flush>
      <div className="scroll" tabIndex={0} role="region" aria-label="Operators"><table>
        <thead><tr><th scope="col">Operator</th><th scope="col" className="num">Programs</th><th scope="col" className="num">Scored</th><th scope="col" className="num">Failed</th><th scope="col" className="num">Duplicates</th>{left && <th scope="col" className="num" title="Its writer gave no program: it says that nothing is left to gain">Nothing left</th>}<th scope="col" className="num" title="Valid, but left off before it had a score: behind after a small part of the cases, or deciding as an earlier program does">Not scored in full</th><th scope="col" className="num" title="Steps that were better than all before them, baselines too">Improvements</th><th scope="col" className="num">Ran for</th>{priced && <><th scope="col" className="num">Cost</th><th scope="col" className="num">Dollars an improvement</th></>}</tr></thead>
        <tbody>{rows.map((r) => (
          <tr key={r.operator}><td><Operator name={r.operator} /></td><td className="num">{r.steps}</td><td className="num">{r.scored}</td><td className="num">{r.failed}</td><td className="num">{r.duplicate}</td>{left && <td className="num">{r.left}</td>}<td className="num">{r.partly}</td><td className="num">{isStep(r.operator) ? r.improved : "–"}</td><td className="num">{r.seconds ? seconds(r.seconds) : "–"}</td>{priced && <><td className="num">{dollars(r.cost)}</td><td className="num">{r.cost != null && r.improved ? dollars(r.cost / r.improved) : "–"}</td></>}</tr>
        ))}</tbody>
      </table></div>
    </Panel>
  );
}

function Failing({ connection: { state } }: { connection: Connection }) {
  const colors = useColors(COLORS);
  const shares = useMemo(() => sharesOf(state.nodes), [state, state.nodes.length]);
  const most = Math.max(...shares.failed, ...shares.duplicate, 0);
  const top = [10, 25, 50].find((end) => most <= end) ?? 100;
  return (
    <Panel title="Failed and duplicates, over time" actions={<div className="legend"><span><span className="dot" style={{ background: colors.bad }} />failed</span><span><span className="dot" style={{ background: colors.grey }} />duplicates</span></div>}>
      <Chart label="Share of programs that failed or were duplicates, by step" x={shares.steps} range={[0, top]} axis="step" grid={colors.line} text={colors.muted} height={220} series={[{ label: "failed, %", color: colors.bad, values: shares.failed, kind: "step" }, { label: "duplicates, %", color: colors.grey, values: shares.duplicate, kind: "step" }]} />
      <p className="muted small">Per cent of each stretch of steps, from its first one on.</p>
    </Panel>
  );
}

function Spending({ connection: { state } }: { connection: Connection }) {
  const colors = useColors(COLORS);
  const spent = useMemo(() => spentOf(state.nodes), [state, state.nodes.length]);
  const time = useMemo(() => ({ steps: state.nodes.map((n) => n.step), spent: state.nodes.map((n) => n.elapsed) }), [state, state.nodes.length]);
  const shown = spent ?? time;
  return (
    <Panel title={spent ? "Dollars spent" : "Seconds spent"} actions={!spent && <span className="muted small">no call of this run has a price</span>}>
      <Chart label={spent ? "Dollars by step" : "Active seconds by step"} x={shown.steps} range={[0, shown.spent.reduce((most, value) => Math.max(most, value), 1e-9) * 1.05]} axis="step" grid={colors.line} text={colors.muted} height={220} series={[{ label: spent ? "dollars" : "seconds", color: colors.orange, values: shown.spent, kind: "step" }]} />
      <p className="muted small">{spent ? "Calls of each program, up to its verdict." : "Active seconds of the run, up to each verdict."}</p>
    </Panel>
  );
}

function Differing({ connection: { state }, data }: { connection: Connection; data: Dimensions }) {
  const metrics = useMemo(() => data.points.map((p) => p.metric), [data]);
  const names = useMemo(() => data.names.map((name, i) => ({ name, i, weight: importance(data.points.map((p) => p.values[i]), metrics) })).sort((a, b) => b.weight - a.weight).slice(0, 8), [data, metrics]);
  if (data.points.length < 3 || names.length < 2) return <Panel title="What the programs differ in"><p className="muted">{tooFew(data.points.length, names.map(({ name }) => name))}</p></Panel>;
  return (
    <Panel title="What the programs differ in" actions={<span className="muted small">{counted(data.points.length, "scored program")}; a line opens its program</span>}>
      <div className="stack">
        <Parallel names={names} points={data.points} unit={state.unit} lower={state.lowerIsBetter} open={(id) => go(href(state.id, "node", id))} />
        <dl className="kv" aria-label="How much of the score's order each explains">
          {names.map(({ name, weight }) => <div key={name} style={{ display: "contents" }}><dt>{name}</dt><dd className="row" style={{ flexWrap: "nowrap" }}><span className="meter" style={{ flex: 1, maxWidth: 260 }}><span style={{ width: `${weight * 100}%` }} /></span><span className="num">{metric(weight * 100, 2)} %</span></dd></div>)}
        </dl>
        <p className="muted small">How much of the order of scores each of them goes with, alone (squared rank correlation; variance between groups for words; less what chance makes of them). It says what goes together, not what causes what.</p>
      </div>
    </Panel>
  );
}

/** Why there is no picture of what programs differ in. */
function tooFew(scored: number, names: string[]): string {
  if (scored < 3) return `Nothing to show yet: it takes three scored programs, and this run has ${scored}.`;
  return `Nothing to show: the scored programs differ in ${names.length ? `${names[0]} alone` : "nothing that was measured of them"}, and it takes two things to compare.`;
}
