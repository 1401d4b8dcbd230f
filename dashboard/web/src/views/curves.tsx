// Best so far of several runs, in an arena the champions' ratings: each by itself, or the mean of the runs of a group with the spread around it.
import { useMemo } from "react";
import type { Curve } from "../api/types";
import { Chart, OffScale } from "../components/chart";
import type { Series } from "../components/chart-props";
import { useScale } from "../components/scale";
import { Empty, Panel, Segmented } from "../components/widgets";
import { along, type Axis, bandOf, dashOf, hidden, mergeCurves, overText } from "../model/compare";
import { AXES, beyond, linesRange } from "../model/curve";
import { useAddressed, useColors } from "../model/hooks";
import { logRange } from "../model/log-scale";

const COLORS = ["accent", "orange", "teal", "violet", "pink", "blue", "gold", "muted", "line"] as const;
const HUES = COLORS.slice(0, 7);

/** The colour of the n-th line, as a variable of the style sheet. */
export const hueOf = (place: number): string => `var(--${HUES[place % HUES.length]})`;

export interface NamedCurve { name: string; curve: Curve }
/** Runs that differ in their seed alone, as places in the list of runs. */
export interface Group { name: string; of: number[] }

export function Curves({ problem = "", runs, groups }: { problem?: string; runs: NamedCurve[]; groups: Group[] }) {
  const [axis, setAxis] = useAddressed<Axis>("by", "steps", { among: ["steps", "seconds", "dollars"], kept: true });
  const seeds = groups.some(({ of }) => of.length > 1);
  const [means, setMeans] = useMeans();
  const colors = useColors(COLORS);
  const { lower_is_better: lower, of } = runs[0].curve;
  const title = `${of[0].toUpperCase()}${of.slice(1)}`;
  const lines = useMemo(() => (seeds && means ? meanLines(runs, groups, axis) : runLines(runs, axis)), [runs, groups, axis, seeds, means]);
  const values = useMemo(() => lines.curves.flatMap((curve, i) => (lines.edge[i] ? [] : curve.best)), [lines]);
  const [log, scale] = useScale(values);
  const range = log ? logRange(values) : linesRange(lines.curves, lower);
  const drawn = lines.edge.flatMap((edge, i) => (edge ? [] : [i]));
  const over = useMemo(() => hidden(drawn.map((i) => lines.curves[i])), [lines]);
  const series = lines.merged.series.map((line, i): Series => ({ label: lines.names[lines.of[i]], color: colors[HUES[lines.of[i] % HUES.length]], values: log ? line.map((value) => (value != null && value <= 0 ? range[0] : value)) : line, kind: lines.edge[i] ? "edge" : "step", dash: lines.edge[i] ? undefined : dashOf(over[drawn.indexOf(i)]) }));
  return (
    <Panel
      title={problem ? `${title}, ${problem}` : title}
      actions={<>{seeds && <label className="small row"><input type="checkbox" checked={means} onChange={(e) => setMeans(e.target.checked)} /> mean ± deviation of seeds</label>}{scale}<Segmented label="By" value={axis} onChange={setAxis} options={[["steps", "step"], ["seconds", "time"], ["dollars", "dollars"]]} /></>}
    >
      <div className="legend" style={{ marginBottom: 8 }}>{lines.names.map((name, i) => <span key={i}><span className="dot" style={{ background: colors[HUES[i % HUES.length]] }} /><span><span className="mono">{name}</span>{overText(over[i], lines.names)}</span></span>)}<span>{runs[0].curve.unit} {lower ? "↓ lower is better" : "↑ higher is better"}</span></div>
      {values.length > 0 ? <><Chart label={`${title} by ${AXES[axis]}`} x={lines.merged.steps} axis={AXES[axis]} whole={axis === "steps"} grid={colors.line} text={colors.muted} height={320} range={range} log={log} series={series} bands={lines.bands} /><OffScale scores={beyond(values, range).length} /></> : <Empty title="Nothing scored yet" />}
    </Panel>
  );
}

/** Whether the seeds of a setting are drawn as one line. */
export function useMeans(): [boolean, (on: boolean) => void] {
  const [seeds, say] = useAddressed("seeds", "mean", { among: ["mean", "each"] });
  return [seeds === "mean", (on) => say(on ? "mean" : "each")];
}

interface Lines { names: string[]; curves: { steps: number[]; best: number[] }[]; merged: ReturnType<typeof mergeCurves>; of: number[]; edge: boolean[]; bands: [number, number][] }

function runLines(runs: NamedCurve[], axis: Axis): Lines {
  const curves = runs.map(({ curve }) => along(curve, axis));
  return { names: runs.map(({ name }) => name), curves, merged: mergeCurves(curves), of: runs.map((_, i) => i), edge: runs.map(() => false), bands: [] };
}

/** A line a group, with the spread of its seeds around it. */
function meanLines(runs: NamedCurve[], groups: Group[], axis: Axis): Lines {
  const curves: Lines["curves"] = [];
  const of: number[] = [];
  const edge: boolean[] = [];
  const bands: [number, number][] = [];
  groups.forEach((group, g) => {
    const band = bandOf(group.of.map((i) => along(runs[i].curve, axis)));
    const add = (best: number[], isEdge: boolean) => { curves.push({ steps: band.steps, best }); of.push(g); edge.push(isEdge); };
    add(band.mean, false);
    if (group.of.length > 1) {
      add(band.high, true);
      add(band.low, true);
      bands.push([curves.length - 1, curves.length]);
    }
  });
  return { names: groups.map((group) => groupText(group, runs)), curves, merged: mergeCurves(curves), of, edge, bands };
}

/** A group by its name, and how many of its runs the mean is without. */
function groupText({ name, of }: Group, runs: NamedCurve[]): string {
  const without = of.filter((i) => runs[i].curve.best.length === 0).length;
  return without ? `${name} (${without} without a score)` : name;
}
