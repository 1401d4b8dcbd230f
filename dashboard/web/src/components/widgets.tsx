// Small things that every view uses.
import { type ReactNode, useEffect, useRef } from "react";
import type { NodeFact } from "../model/facts";
import type { RunState } from "../model/run-state";
import { metric, whole } from "../model/format";
import { href } from "../model/router";
import { colourOf, meaningOf } from "../model/operators";
import { outcomeOf } from "../model/progress";

export function Panel(props: { title: string; actions?: ReactNode; flush?: boolean; fill?: boolean; children: ReactNode; id?: string }) {
  return (
    <section className={props.fill ? "panel fill" : "panel"} aria-label={props.title} id={props.id}>
      <header>
        <h2>{props.title}</h2>
        <span className="grow" />
        {props.actions}
      </header>
      <div className={props.flush ? "body flush" : "body"}>{props.children}</div>
    </section>
  );
}

export function Empty(props: { title: string; children?: ReactNode }) {
  return (
    <div className="empty">
      <strong>{props.title}</strong>
      {props.children && <p>{props.children}</p>}
    </div>
  );
}

export function Failed({ error }: { error: string }) {
  return (
    <div className="banner bad" role="alert">
      {error}
    </div>
  );
}

export function Status({ status }: { status: string }) {
  return <span className={`pill ${status}`} title={status}><span>{status}</span></span>;
}

/** A word, or on a phone a sign for it. What it stands in says the word to a screen reader. */
export function Brief({ text, brief }: { text: string; brief: string }) {
  return <><span className="on-wide">{text}</span><span className="on-phone" aria-hidden="true">{brief}</span></>;
}

export function Operator({ name }: { name: string }) {
  return (
    <span className="row" style={{ gap: 6, flexWrap: "nowrap" }}>
      <span className={`dot op-${colourOf(name)}`} title={meaningOf(name)} />
      {name}
    </span>
  );
}

export function NodeLink({ run, id, text }: { run: string; id: string; text?: string }) {
  return (
    <a className="mono" href={href(run, "node", id)}>
      {text ?? id.slice(0, 8)}
    </a>
  );
}

/** A text of the store; the nodes that it names by their ids stand in it as everywhere: by name, and as links. */
export function Linked({ state, text }: { state: RunState; text: string }) {
  return text.split(/\b([0-9a-f]{12})\b/).map((part, i) => (state.knows(part) ? <NodeLink key={i} run={state.id} id={part} text={state.name(part)} /> : part));
}

/** An engine of the arena: a link where it is a node, its name where it is a reference engine. */
export function EngineLink({ state, id }: { state: RunState; id: string }) {
  return state.byId.has(id) ? <NodeLink run={state.id} id={id} text={state.name(id)} /> : <span className="mono" title={id}>{state.name(id)}</span>;
}

/** Marks the program that wins, or leads so far. */
export function BestTag({ state }: { state: RunState }) {
  return <span className="tag ok">{state.over ? "winner" : state.hasArena ? "champion" : "best"}</span>;
}

/** An engine's one Elo, behind its name. */
export function Elo({ state, id }: { state: RunState; id: string }) {
  const rating = state.arena.rated.get(id);
  return rating ? <span className="muted num" title="Elo over all its rated games; the first champion is 0">{whole(rating.elo)}</span> : null;
}

/** What became of a node, in a tag. */
export function Outcome({ node }: { node: Pick<NodeFact, "failure" | "is_buggy" | "is_valid" | "nothing_left" | "metric"> }) {
  switch (outcomeOf(node)) {
    case "failed": return <span className="tag fail">{node.failure ?? "buggy"}</span>;
    case "left": return <span className="tag">nothing left</span>;
    case "duplicate": return <span className="tag">duplicate</span>;
    case "partly": return <span className="tag" title="valid, but left off before it had a score: its message says why">not in full</span>;
    default: return <span className="num">{metric(node.metric)}</span>;
  }
}

/** A share of a limit. `plan`: reaching it is how a run should end, not something to warn of. */
export function Meter(props: { label: string; used: number; limit: number | null | undefined; text: string; plan?: boolean }) {
  const share = props.limit ? Math.min(1, props.used / props.limit) : 0;
  return (
    <div>
      <div className="row small" style={{ justifyContent: "space-between" }}>
        <span className="muted">{props.label}</span>
        <span className="num">{props.text}</span>
      </div>
      {props.limit ? (
        <div className={share >= 1 && !props.plan ? "meter full" : "meter"} role="progressbar" aria-label={props.label} aria-valuenow={Math.round(share * 100)} aria-valuemin={0} aria-valuemax={100}>
          <span style={{ width: `${share * 100}%` }} />
        </div>
      ) : null}
    </div>
  );
}

export function Segmented<T extends string>(props: { label: string; value: T; options: readonly (readonly [T, string])[]; onChange: (value: T) => void }) {
  return (
    <div className="segmented" role="group" aria-label={props.label}>
      {props.options.map(([value, text]) => (
        <button key={value} type="button" aria-pressed={props.value === value} onClick={() => props.onChange(value)}>
          {text}
        </button>
      ))}
    </div>
  );
}

/** Choices below a button; Escape, or a click or the focus elsewhere, closes it. */
export function Menu({ text, children }: { text: string; children: ReactNode }) {
  const menu = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    const close = (event: Event) => {
      const open = menu.current?.open;
      if (!open || !menu.current) return;
      if (event instanceof KeyboardEvent ? event.key !== "Escape" : menu.current.contains(event.target as Node)) return;
      menu.current.open = false;
      if (event instanceof KeyboardEvent) menu.current.querySelector("summary")?.focus();
    };
    const kinds = ["keydown", "pointerdown", "focusin"] as const;
    for (const kind of kinds) document.addEventListener(kind, close);
    return () => kinds.forEach((kind) => document.removeEventListener(kind, close));
  }, []);
  return <details className="menu" ref={menu}><summary>{text}</summary>{children}</details>;
}
