// What went wrong, how often, and what to do about it.
import { runPath } from "../api/client";
import type { FailureCount } from "../api/types";
import { Empty, Failed, Linked, NodeLink, Panel } from "../components/widgets";
import { plainMessage } from "../model/plain";
import type { Connection } from "../model/connection";
import { counted, day, metric, time } from "../model/format";
import { useResource } from "../model/hooks";
import { failedAs } from "../model/node-search";
import { href } from "../model/router";
import { WARNINGS } from "../model/run-state";

export function FailuresView({ connection }: { connection: Connection }) {
  const { state } = connection;
  const failed = state.nodes.reduce((sum, node) => sum + (node.failure ? 1 : 0), 0);
  const { data, error } = useResource<FailureCount[]>(runPath(state.id, "/failures"), 0, failed);
  if (error) return <Failed error={error} />;
  if (!data) return <Empty title="Loading…" />;
  const share = (count: number) => (100 * count) / Math.max(1, state.nodes.length);
  const total = data.reduce((sum, item) => sum + item.count, 0);
  return (
    <div className="stack">
      <Panel title={`${total} failed of ${state.nodes.length}`} flush>
        {data.length === 0 ? <Empty title="No candidate has failed" /> : (
          <div className="scroll" tabIndex={0} role="region" aria-label="Table of failures">
            <table>
              <thead><tr><th scope="col">Failure</th><th scope="col" className="num">Count</th><th scope="col" style={{ width: "22%" }}>Of all nodes</th><th scope="col">By operator</th><th scope="col">What it means</th><th scope="col">Newest</th></tr></thead>
              <tbody>
                {data.map((item) => (
                  <tr key={item.failure}>
                    <td><span className="tag fail">{item.failure}</span></td>
                    <td className="num"><a href={href(state.id, "nodes", "", { q: failedAs(item.failure) })} aria-label={`${counted(item.count, "node")} that failed by ${item.failure}`}>{item.count}</a></td>
                    <td><div className="row share"><div className="meter"><span style={{ width: `${share(item.count)}%`, background: "var(--bad)" }} /></div><span className="num">{metric(share(item.count), 2)} %</span></div></td>
                    <td className="small">{Object.entries(item.operators).map(([name, n]) => `${name} ${n}`).join(", ")}</td>
                    <td className="wrap small">{item.advice}</td>
                    <td className="wrap small"><NodeLink run={state.id} id={item.example} text={state.called(item.example)} /> <span className="muted"><Linked state={state} text={plainMessage(item.message)} /></span></td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
      </Panel>
      {state.warnings.length > 0 && (
        <Panel title="Warnings" flush actions={state.warnings.length >= WARNINGS && <span className="muted small">the newest {WARNINGS}</span>}>
          <ul className="feed warnings" tabIndex={0} aria-label="Warnings, newest first">
            {[...state.warnings].reverse().map((w) => <li key={w.seq}><time className="num muted" title={day(w.at)}>{time(w.at)}</time><span>{w.node_id && <><NodeLink run={state.id} id={w.node_id} text={state.called(w.node_id)} /> </>}{w.text}</span></li>)}
          </ul>
        </Panel>
      )}
    </div>
  );
}
