// Which programs are open, what each waits for or does and for how long, and what it has said so far.
import { useEffect, useLayoutEffect, useRef, useState } from "react";
import { post, runPath } from "../api/client";
import type { Live, LiveTail } from "../api/types";
import { NodeLink, Operator, Panel } from "../components/widgets";
import type { Connection } from "../model/connection";
import { counted, wholeSeconds } from "../model/format";
import { useResource } from "../model/hooks";
import { type Doing, idleText, inOrder, workersText } from "../model/open-work";
import type { RunState } from "../model/run-state";

const MOST = 16;
/** Up to so many open programs show what they say at length; of more the last lines are in sight. */
const FEW = 2;

export function Running({ connection }: { connection: Connection }) {
  const { state } = connection;
  const follows = state.live && !connection.replay;
  const { data: now } = useResource<Live>(follows ? runPath(state.id, "/live") : null, 1000);
  if (!state.live && state.open.size === 0) return null;
  const told = follows && now?.work ? now : null;
  const open = inOrder([...state.open.values()], state.started?.writer ?? "", told);
  return (
    <Panel title="Running now" actions={told && <span className="muted small" data-testid="workers">{workersText(told, state.hasArena)}</span>}>
      {told?.doing && <p data-testid="doing">{told.doing[0].toUpperCase() + told.doing.slice(1)}.</p>}
      {open.length === 0 && !told?.doing && <p className="muted">{idleText(state)}</p>}
      <div className={open.length > FEW ? "stack many" : "stack"} style={{ gap: 10 }}>
        {open.slice(0, MOST).map((doing) => <OpenProgram key={doing.node.id} state={state} doing={doing} tails={now?.tails ?? []} follows={follows} />)}
        {open.length > MOST && <p className="muted small">{open.length - MOST} more are open.</p>}
      </div>
    </Panel>
  );
}

function OpenProgram({ state, doing: { node, text, since }, tails, follows }: { state: RunState; doing: Doing; tails: LiveTail[]; follows: boolean }) {
  const said = (kind: LiveTail["kind"]) => tails.find((t) => t.node_id === node.id && t.kind === kind);
  const [tail, reply] = [said("output"), said("reply")];
  return (
    <div className="stack" style={{ gap: 4 }}>
      <div className="row">
        <Operator name={node.operator} /><span className="mono">{state.name(node.id)}</span>
        {node.parents.length > 0 && <span className="muted small">from {node.parents.map((p) => <span key={p}><NodeLink run={state.id} id={p} text={state.called(p)} /> </span>)}</span>}
        <span className="grow" />{follows && <Since at={since} />}{reply && <span className="num muted">some {counted(tokensOf(reply.bytes), "token")} so far</span>}
        <span className="tag">{text}</span>
        {follows && <StopNode run={state.id} id={node.id} />}
      </div>
      {reply && <Tail label={`Reply for ${node.id} so far`} tail={reply} />}
      {tail && <Tail label={`Output of ${node.id}`} tail={tail} />}
    </div>
  );
}

/** The end of a text that still grows: it stays in view, unless one has scrolled up in it. */
function Tail({ label, tail }: { label: string; tail: LiveTail }) {
  const box = useRef<HTMLPreElement>(null);
  const follows = useRef(true);
  useLayoutEffect(() => {
    if (box.current && follows.current) box.current.scrollTop = box.current.scrollHeight;
  }, [tail.text]);
  const look = (at: HTMLPreElement) => (follows.current = at.scrollHeight - at.scrollTop - at.clientHeight < 24);
  return <pre ref={box} className="tail" tabIndex={0} aria-label={label} onScroll={(e) => look(e.currentTarget)}>{tail.cut ? "…" : ""}{tail.text}</pre>;
}

/** Four bytes each, as the search guesses where nobody counts. */
const tokensOf = (bytes: number): number => Math.ceil(bytes / 4);

/** Seconds since a moment, counted on. */
function Since({ at }: { at: number }) {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = window.setInterval(() => setNow(Date.now()), 1000);
    return () => window.clearInterval(timer);
  }, []);
  return Number.isFinite(at) ? <span className="num muted">{wholeSeconds((now - at) / 1000)}</span> : null;
}

function StopNode({ run, id }: { run: string; id: string }) {
  const [told, setTold] = useState("");
  const stop = async () => {
    try {
      await post(runPath(run, `/nodes/${id}/stop`), {});
      setTold("stopping…");
    } catch (problem) {
      setTold((problem as Error).message);
    }
  };
  return (
    <>
      <button type="button" aria-label={`Stop ${id}`} title="kill this program; the search goes on" onClick={() => void stop()}>Stop</button>
      {told && <span className="muted small" role="status">{told}</span>}
    </>
  );
}
