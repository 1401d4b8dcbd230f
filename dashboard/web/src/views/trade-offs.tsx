// The score against one figure of the programs, and those that no other beats in both.
import { useMemo } from "react";
import type { Dimensions } from "../api/types";
import { Chart, OffScale } from "../components/chart";
import { NodeLink, Panel, Segmented } from "../components/widgets";
import type { Connection } from "../model/connection";
import { beyond, yRange } from "../model/curve";
import { counted, metric, nodeTitle } from "../model/format";
import { frontOf } from "../model/front";
import { useAddressed, useColors } from "../model/hooks";
import { importance } from "../model/progress";
import { go, href } from "../model/router";
import { sorted } from "../model/sorted";

const COLORS = ["accent", "grey", "muted", "line"] as const;
/** Rows of the table; the picture shows all. */
const MOST = 30;

export function TradeOffs({ connection: { state }, data }: { connection: Connection; data: Dimensions }) {
  const colors = useColors(COLORS);
  const figures = useMemo(() => figuresOf(data), [data]);
  const [name, setName] = useAddressed("against", figures[0] ?? "");
  const [better, setBetter] = useAddressed("better", "less", { among: ["less", "more"] });
  const chosen = figures.includes(name) ? name : figures[0];
  const points = useMemo(() => {
    const at = data.names.indexOf(chosen);
    return data.points.flatMap((point) => (typeof point.values[at] === "number" ? [{ ...point, x: point.values[at] as number }] : [])).sort((a, b) => a.x - b.x);
  }, [data, chosen]);
  const front = useMemo(() => frontOf(points, state.lowerIsBetter, better === "less"), [points, better, state.lowerIsBetter]);
  if (chosen === undefined || points.length < 3) return null;
  const among = new Set(front);
  const metrics = points.map((point) => point.metric);
  const range = yRange(metrics, state.lowerIsBetter, [], front.map((point) => point.metric));
  const series = [
    { label: state.unit, color: colors.grey, kind: "points" as const, values: points.map((point) => (among.has(point) ? null : point.metric)) },
    { label: `${state.unit}, beaten by none in both`, color: colors.accent, kind: "points" as const, values: points.map((point) => (among.has(point) ? point.metric : null)) },
  ];
  return (
    <Panel
      title="Trade-offs"
      actions={<><select aria-label="Figure" value={chosen} onChange={(e) => setName(e.target.value)}>{figures.map((figure) => <option key={figure}>{figure}</option>)}</select><Segmented label="Better" value={better} onChange={setBetter} options={[["less", "less is better"], ["more", "more is better"]]} /></>}
    >
      <div className="stack">
        <Chart label={`${state.unit} by ${chosen}`} x={points.map((point) => point.x)} series={series} range={range} axis={chosen} whole={false} grid={colors.line} text={colors.muted} height={280} nameOf={(i) => nodeTitle(undefined, points[i].step)} onPick={(i) => go(href(state.id, "node", points[i].node_id))} />
        <OffScale scores={beyond(metrics, range).length} />
        <p className="muted small">In colour: {counted(front.length, "program")} of {points.length} that no other beats in both ({state.unit} and {chosen}, of which {better} counts as better). Whether that is what you want of it you say: the search ranks by the score alone.</p>
        <div className="scroll" style={{ maxHeight: 260 }} tabIndex={0} role="region" aria-label="Programs beaten by none in both"><table>
          <thead><tr><th scope="col" className="num">{chosen}</th><th scope="col" className="num">{state.unit}</th><th scope="col">Program</th></tr></thead>
          <tbody>{front.slice(0, MOST).map((point) => <tr key={point.node_id}><td className="num">{metric(point.x)}</td><td className="num">{metric(point.metric)}</td><td><NodeLink run={state.id} id={point.node_id} text={state.called(point.node_id)} /></td></tr>)}</tbody>
        </table></div>
        {front.length > MOST && <p className="muted small">The first {MOST} of {front.length}.</p>}
      </div>
    </Panel>
  );
}

/** Names that are numbers in every program; those that go with the score first. */
function figuresOf({ names, points }: Dimensions): string[] {
  const scores = points.map((point) => point.metric);
  const columns = names.map((name, i) => ({ name, values: points.map((point) => point.values[i]) }));
  const numbers = columns.filter(({ values }) => values.every((value) => value === null || typeof value === "number"));
  return sorted(numbers, ({ values }) => importance(values, scores), true).map(({ name }) => name);
}
