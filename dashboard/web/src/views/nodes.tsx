// All nodes as a table: filtered, sorted, a screenful at a time.
import { runPath } from "../api/client";
import { useMemo, useState } from "react";
import { BestTag, Empty, Linked, NodeLink, Operator, Outcome, Panel, Segmented } from "../components/widgets";
import { plainMessage } from "../model/plain";
import type { Connection } from "../model/connection";
import { disagrees } from "../model/curve";
import { isScored } from "../model/facts";
import { searchingNodes } from "../model/node-search";
import { sorted } from "../model/sorted";
import type { NodeFact } from "../model/facts";
import { useAddressed } from "../model/hooks";
import { count, counted, dollars, metric, seconds } from "../model/format";

const PAGE = 100;
const SHOWN = ["all", "scored", "failed", "marked"] as const;
type Show = (typeof SHOWN)[number];
interface Order { by: keyof typeof SORTS; down: boolean }

/** What each column sorts by; null stands last, whichever way. */
const SORTS = {
  step: (n: NodeFact) => n.index, operator: (n: NodeFact) => n.operator, outcome: (n: NodeFact) => (isScored(n) ? (n.metric ?? null) : null),
  claimed: (n: NodeFact) => n.claimed_metric ?? null, ran: (n: NodeFact) => n.exec_time, tokens: (n: NodeFact) => n.completion_tokens ?? null, cost: (n: NodeFact) => n.cost_usd ?? null,
}; // prettier-ignore

const ORDERS = Object.keys(SORTS).flatMap((name) => [name, `-${name}`]);

export function NodesView({ connection }: { connection: Connection }) {
  const { state } = connection;
  const [show, setShow] = useAddressed<Show>("show", "all", { among: SHOWN });
  const [orderText, setOrder] = useAddressed("sort", "-step", { among: ORDERS });
  const order = useMemo((): Order => ({ by: orderText.replace("-", "") as Order["by"], down: orderText.startsWith("-") }), [orderText]);
  const [operator, setOperator] = useAddressed("operator", "");
  const [text, setText] = useAddressed("q", "");
  const [shown, setShown] = useState(PAGE);
  const all = useMemo(() => [...state.beside, ...state.nodes], [state, connection.version]);
  const operators = useMemo(() => [...new Set(all.map((n) => n.operator))], [all]);
  const rows = useMemo(() => {
    const fits = searchingNodes(text, state.names);
    const found = all.filter((n) => fits(n) && (show === "all" || (show === "scored" ? isScored(n) : show === "failed" ? n.is_buggy : n.mark !== undefined)) && (!operator || n.operator === operator));
    return sorted(found, SORTS[order.by], order.down);
  }, [all, show, order, operator, text]);
  /** The first click puts first what one looks for: the newest, the best score, the largest. */
  const click = (by: Order["by"]) => setOrder(`${(order.by === by ? !order.down : by === "outcome" ? !state.lowerIsBetter : by !== "operator") ? "-" : ""}${by}`);
  const head = (by: Order["by"], text: string, className = "", title?: string) => (
    <th scope="col" className={className} title={title} aria-sort={order.by === by ? (order.down ? "descending" : "ascending") : undefined}>
      <button type="button" className="sort" onClick={() => click(by)}>{text}{order.by === by ? (order.down ? " ↓" : " ↑") : ""}</button>
    </th>
  );
  return (
    <Panel
      title={`${rows.length === all.length ? "" : `${rows.length} of `}${counted(all.length, "node")}`} flush
      actions={
        <>
          <input type="search" aria-label="Search nodes" placeholder="words, failure:x" value={text} onChange={(e) => setText(e.target.value)} />
          <select aria-label="Operator" value={operator} onChange={(e) => setOperator(e.target.value)}><option value="">all operators</option>{operators.map((name) => <option key={name}>{name}</option>)}</select>
          <Segmented label="Show" value={show} onChange={setShow} options={SHOWN.map((name) => [name, name] as const)} />
          <a className="button" href={`/api${runPath(state.id, "/candidates.csv")}`} download>CSV</a>
        </>
      }
    >
      {rows.length === 0 ? <Empty title="No such node">Other words, or another filter.</Empty> : (
        <div className="scroll" tabIndex={0} role="region" aria-label="Table of nodes">
          <table data-testid="nodes">
            <thead><tr>{head("step", "#", "num", "step of the search, from 1; what is given is no step")}<th scope="col">Node</th>{head("operator", "Operator")}<th scope="col" className="wide">Parents</th>{head("outcome", "Outcome", "num")}{head("claimed", "Claimed", "num wide")}{head("ran", "Ran", "num")}{head("tokens", "Reply tokens", "num", "of the reply")}{head("cost", "Cost", "num")}<th scope="col" className="wide">Message</th></tr></thead>
            <tbody>
              {rows.slice(0, shown).map((node) => (
                <tr key={node.node_id}>
                  <td className="num">{node.number}</td>
                  <td><NodeLink run={state.id} id={node.node_id} text={state.names.get(node.node_id)} /> {node.node_id === state.bestId && <BestTag state={state} />} {node.mark && <span className="tag warn">{node.mark}</span>}</td>
                  <td><Operator name={node.operator} /></td>
                  <td className="wide">{(node.parent_ids ?? []).map((p) => <span key={p}><NodeLink run={state.id} id={p} text={state.called(p)} /> </span>)}</td>
                  <td className="num"><Outcome node={node} /></td>
                  <td className={`num wide ${disagrees(node.claimed_metric, node.metric) ? "warn" : "muted"}`}>{metric(node.claimed_metric)}</td>
                  <td className="num">{seconds(node.exec_time || null)}</td>
                  <td className="num">{count(node.completion_tokens)}</td>
                  <td className="num">{dollars(node.cost_usd)}</td>
                  <td className="wrap wide small muted"><Linked state={state} text={plainMessage(node.message ?? "")} /></td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {rows.length > shown && <div style={{ padding: 10 }}><button type="button" onClick={() => setShown(shown + PAGE * 3)}>Show more ({rows.length - shown})</button></div>}
    </Panel>
  );
}
