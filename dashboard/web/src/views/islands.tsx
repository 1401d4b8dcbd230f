// Islands beside each other: who leads, how they got there, who moved.
import { useMemo } from "react";
import { runPath } from "../api/client";
import type { Generation, Islands } from "../api/types";
import { Empty, Failed, NodeLink, Panel } from "../components/widgets";
import { Chart, OffScale } from "../components/chart";
import type { Connection } from "../model/connection";
import { beyond, linesRange } from "../model/curve";
import { metric } from "../model/format";
import { useColors, useResource } from "../model/hooks";
import { dashOf, hidden, islandCurves, mergeCurves, overText } from "../model/compare";

const COLORS = ["accent", "orange", "teal", "violet", "pink", "blue", "muted", "line", "text"] as const;

export function IslandsView({ connection }: { connection: Connection }) {
  const { state } = connection;
  const colors = useColors(COLORS);
  const { data, error } = useResource<Islands>(runPath(state.id, "/islands"), 0, state.nodes.length);
  const { data: generations } = useResource<Generation[]>(runPath(state.id, "/generations"), 0, state.arena.generations.size);
  const newest = state.nodes.reduce((last, node) => Math.max(last, node.island == null ? 0 : (node.generation ?? node.step)), 0);
  const curves = useMemo(() => islandCurves(data?.islands ?? [], newest), [data, newest]);
  const merged = useMemo(() => mergeCurves(curves), [curves]);
  const over = useMemo(() => hidden(curves), [curves]);
  if (error) return <Failed error={error} />;
  if (!data) return <Empty title="Loading…" />;
  if (data.islands.length === 0) return <Panel title="Islands"><Empty title="This run has no islands">They come with <code>search.policy=islands</code>.</Empty></Panel>;
  const range = linesRange(curves, state.lowerIsBetter);
  const values = curves.flatMap((c) => c.best);
  const names = data.islands.map(({ island }) => `island ${island}`);
  return (
    <div className="stack">
      <Panel title="Best of each island" actions={<div className="legend">{names.map((name, i) => <span key={name}><span className="dot" style={{ background: colors[COLORS[i % 6]] }} />{name}{overText(over[i], names)}</span>)}</div>}>
        {values.length > 0 ? (
          <><Chart label="Best of each island by generation" x={merged.steps} series={merged.series.map((line, i) => ({ label: names[i], color: colors[COLORS[i % 6]], kind: "step" as const, values: line, dash: dashOf(over[i]) }))} range={range} axis="generation" grid={colors.line} text={colors.muted} height={260} /><OffScale scores={beyond(values, range).length} /></>
        ) : <Empty title="Nothing scored yet" />}
      </Panel>
      <div className="cols even">
        <Panel title="Islands" flush>
          <div className="scroll" tabIndex={0} role="region" aria-label="Table of islands"><table>
            <thead><tr><th scope="col" className="num">Island</th><th scope="col" className="num">Nodes</th><th scope="col" className="num">Scored</th><th scope="col" className="num">Best</th><th scope="col" className="num">Mean</th><th scope="col" className="num">Resets</th><th scope="col">Best node</th></tr></thead>
            <tbody>{data.islands.map((i) => <tr key={i.island}><td className="num">{i.island}</td><td className="num">{i.nodes}</td><td className="num">{i.scored}</td><td className="num">{metric(i.best_metric)}</td><td className="num">{metric(i.mean_metric)}</td><td className="num">{i.resets}</td><td>{i.best_node_id && <NodeLink run={state.id} id={i.best_node_id} text={state.called(i.best_node_id)} />}</td></tr>)}</tbody>
          </table></div>
        </Panel>
        <Panel title="Migrations" flush>
          {state.migrations.length === 0 ? <Empty title={state.atEnd ? "Nobody moved between the islands" : "Nobody has moved yet"} /> : (
            <div className="scroll" tabIndex={0} role="region" aria-label="Table of migrations"><table>
              <thead><tr><th scope="col" className="num">Generation</th><th scope="col">Who, and where to</th></tr></thead>
              <tbody>{state.migrations.slice(-30).reverse().map((m) => <tr key={m.seq}><td className="num">{m.generation}</td><td className="small">{m.moves.slice(0, 8).map(([id, from, to], k) => <span key={k}><NodeLink run={state.id} id={id} text={state.called(id)} /> <span className="num">{from}→{to}</span> </span>)}</td></tr>)}</tbody>
            </table></div>
          )}
        </Panel>
      </div>
      <Panel title="Generations" flush>
        {!generations || generations.length === 0 ? <Empty title="No generation yet" /> : (
          <div className="scroll" style={{ maxHeight: 360 }} tabIndex={0} role="region" aria-label="Table of generations"><table>
            <thead><tr><th scope="col" className="num">Generation</th><th scope="col" className="num">Nodes</th><th scope="col" className="num">Scored</th><th scope="col" className="num">Best</th><th scope="col" className="num">Mean</th></tr></thead>
            <tbody>{[...generations].reverse().map((g) => <tr key={g.generation}><td className="num">{g.generation}</td><td className="num">{g.nodes}</td><td className="num">{g.scored}</td><td className="num">{metric(g.best_metric)}</td><td className="num">{metric(g.mean_metric)}</td></tr>)}</tbody>
          </table></div>
        )}
      </Panel>
    </div>
  );
}
