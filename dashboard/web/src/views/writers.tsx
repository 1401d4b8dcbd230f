// Who wrote what: programs by their writer, tickets that were handed out, sessions of coding agents.
import { runPath } from "../api/client";
import type { Outside } from "../api/types";
import { Empty, Failed, NodeLink, Panel } from "../components/widgets";
import type { Connection } from "../model/connection";
import { count, dollars, metric, seconds, shortMoment } from "../model/format";
import { useResource } from "../model/hooks";

/** Of a run that goes on: no event tells that a program was looked at, or a ticket put off. */
const REFRESH_MS = 5000;

export function WritersView({ connection: { state } }: { connection: Connection }) {
  const { data, error } = useResource<Outside>(runPath(state.id, "/outside"), state.live ? REFRESH_MS : 0, state.nodes.length);
  if (error) return <Failed error={error} />;
  if (!data) return <Empty title="Loading…" />;
  return (
    <div className="stack">
      <Panel title="Who wrote what" flush>
        {data.writers.length === 0 ? <Empty title="Nothing yet" /> : (
          <div className="scroll" tabIndex={0} role="region" aria-label="Table: programs by writer" data-testid="writers"><table>
            <thead><tr><th scope="col">Writer</th><th scope="col" className="num">Programs</th><th scope="col" className="num">Failed</th><th scope="col" className="num">Duplicates</th><th scope="col" className="num">Improvements</th><th scope="col" className="num">Best</th><th scope="col" className="num">Tokens</th><th scope="col" className="num">Cost</th></tr></thead>
            <tbody>{data.writers.map((w) => <tr key={w.writer}><td className="mono">{w.writer}</td><td className="num">{count(w.programs)}</td><td className="num">{count(w.failed)}</td><td className="num">{count(w.duplicates)}</td><td className="num">{count(w.improvements)}</td><td className="num">{metric(w.best)}</td><td className="num">{count(w.tokens)}</td><td className="num">{dollars(w.cost_usd)}</td></tr>)}</tbody>
          </table></div>
        )}
      </Panel>
      {data.sessions.length > 0 && <Panel title={`Sessions of coding agents ${count(data.sessions.length)}`} flush>
        <div className="scroll" tabIndex={0} role="region" aria-label="Table: sessions" data-testid="sessions"><table>
          <thead><tr><th scope="col">Node</th><th scope="col">Writer</th><th scope="col" className="num">Turns</th><th scope="col" className="num">Tokens</th><th scope="col" className="num">Cost</th><th scope="col" className="num">Seconds</th><th scope="col" className="num">With its model</th><th scope="col">Changed</th></tr></thead>
          <tbody>{data.sessions.map((s) => <tr key={s.node_id}><td><NodeLink run={state.id} id={s.node_id} text={state.names.get(s.node_id)} /></td><td className="mono">{s.writer}</td><td className="num">{count(s.turns)}</td><td className="num">{count(s.prompt_tokens)} → {count(s.completion_tokens)}</td><td className="num">{dollars(s.cost_usd)}</td><td className="num">{seconds(s.seconds)}</td><td className="num">{seconds(s.model_seconds)}</td><td className="mono">{s.files?.join(", ") || "nothing"}</td></tr>)}</tbody>
        </table></div>
      </Panel>}
      {data.tickets.length > 0 && <Panel title={`Tickets ${count(data.tickets.length)}`} flush>
        <div className="scroll" tabIndex={0} role="region" aria-label="Table: tickets" data-testid="tickets"><table>
          <thead><tr><th scope="col">Proposal</th><th scope="col">State</th><th scope="col">Holder</th><th scope="col" className="num">Checks</th><th scope="col" className="num">Characters told</th><th scope="col">Good until</th></tr></thead>
          <tbody>{data.tickets.map((t) => <tr key={t.node_id}><td>{state.byId.has(t.node_id) ? <NodeLink run={state.id} id={t.node_id} text={state.names.get(t.node_id)} /> : <span className="mono">{t.node_id}</span>}</td><td><span className={t.state === "told" ? "tag ok" : t.state === "open" ? "tag" : "tag warn"}>{t.state.replace("_", " ")}</span></td><td className="mono">{t.holder}</td><td className="num">{count(t.checks)}</td><td className="num">{count(t.characters)}</td><td className="num">{shortMoment(t.expires_at)}</td></tr>)}</tbody>
        </table></div>
      </Panel>}
    </div>
  );
}
