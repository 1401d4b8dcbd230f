// The graph of all nodes on a canvas: pan, zoom, search, keyboard, merges of the selected node.
import { type KeyboardEvent, useEffect, useMemo, useRef, useState } from "react";
import { Empty, NodeLink, Operator, Outcome, Panel, Segmented } from "../components/widgets";
import { DagCanvas, type Paint, type Scene } from "../components/dag-canvas";
import { colorsOf, lineOf, linksOf, paletteOf } from "../model/dag-colors";
import { layout, stretched } from "../model/dag";
import type { Connection } from "../model/connection";
import { disagrees } from "../model/curve";
import { metric, seconds } from "../model/format";
import { useColors } from "../model/hooks";
import { COLOURS } from "../model/operators";
import { go, href } from "../model/router";
import { Marks } from "./marks";

const COLORS = ["panel", "line", "line-strong", "text", "muted", "accent", "good", "bad", "warn", ...COLOURS] as const;

export function GraphView({ connection, query }: { connection: Connection; query: URLSearchParams }) {
  const { state } = connection;
  const canvas = useRef<HTMLCanvasElement>(null);
  const view = useRef<DagCanvas | null>(null);
  const [selected, setSelected] = useState<string | null>(query.get("node"));
  const [paint, setPaint] = useState<Paint>("state");
  const [search, setSearch] = useState("");
  const palette = useColors(COLORS);
  const size = state.nodes.length;
  const at = useMemo(() => stretched(layout(state.nodes.map((n) => ({ id: n.node_id, parents: n.parent_ids ?? [], lane: n.island ?? null })))), [state, size]);
  const shades = useMemo(() => paletteOf(paint, palette, state.nodes), [paint, palette, state, size]);
  const colors = useMemo(() => colorsOf(state.nodes, paint, state.lowerIsBetter), [state, size, paint]);
  const chosen = selected ? state.byId.get(selected) : undefined;
  const scene = useMemo<Scene>(
    () => ({
      nodes: state.nodes, at, colors, palette: shades.map((s) => s.color), best: state.best?.index ?? -1, selected: chosen?.index ?? -1,
      line: chosen ? lineOf(chosen, state.byId) : [], links: chosen ? linksOf(chosen, state.byId, state.children) : [], lanes: state.hasIslands,
    }),
    [state, at, colors, shades, chosen, connection.version],
  ); // prettier-ignore

  useEffect(() => {
    if (!canvas.current) return;
    const made = new DagCanvas(canvas.current, canvasColors(palette));
    view.current = made;
    Object.assign(canvas.current, { dag: made }); // for measurements
    const observer = new ResizeObserver(() => made.resize());
    observer.observe(canvas.current);
    const stop = listen(canvas.current, made, (index) => setSelected(index < 0 ? null : state.nodes[index].node_id));
    return () => {
      observer.disconnect();
      stop();
      made.destroy();
    };
  }, [state, size === 0]);
  useEffect(() => {
    view.current?.setScene(scene, canvasColors(palette));
  }, [scene, palette]);

  const select = (id: string | undefined) => {
    if (!id) return;
    setSelected(id);
    const index = state.byId.get(id)?.index;
    if (index !== undefined) view.current?.show(index);
  };
  const find = (text: string) => {
    setSearch(text);
    const wanted = text.trim().toLowerCase();
    if (!wanted) return;
    select(state.nodes.find((n) => n.node_id.startsWith(wanted) || String(n.step) === wanted)?.node_id);
  };
  const key = (event: KeyboardEvent) => {
    const from = chosen ?? state.best ?? state.nodes[0];
    if (!from) return;
    const siblings = from.parent_ids?.[0] ? (state.children.get(from.parent_ids[0]) ?? []) : state.nodes.filter((n) => !n.parent_ids?.length).map((n) => n.node_id);
    const place = siblings.indexOf(from.node_id);
    const moves: Record<string, () => void> = {
      ArrowUp: () => select(from.parent_ids?.[0]),
      ArrowDown: () => select(state.children.get(from.node_id)?.[0]),
      ArrowLeft: () => select(siblings[place - 1]),
      ArrowRight: () => select(siblings[place + 1]),
      Enter: () => chosen && go(href(state.id, "node", chosen.node_id)),
      Escape: () => setSelected(null),
      "+": () => view.current?.zoom(1.25),
      "=": () => view.current?.zoom(1.25),
      "-": () => view.current?.zoom(0.8),
      "0": () => view.current?.fit(),
      b: () => select(state.best?.node_id),
    };
    if (event.key in moves) {
      event.preventDefault();
      if (!chosen && event.key.startsWith("Arrow")) select(from.node_id);
      else moves[event.key]();
    }
  };

  if (size === 0) return <Panel title="Graph"><Empty title="No nodes yet">{state.live ? "The first program is being written." : "This run ended before its first node."}</Empty></Panel>;
  return (
    <div className="cols">
      <Panel
        title="Graph" flush
        actions={
          <>
            <input type="search" placeholder="id or step" aria-label="Find a node by id or step" value={search} onChange={(e) => find(e.target.value)} style={{ width: 120 }} />
            <Segmented label="Colour by" value={paint} onChange={setPaint} options={[["state", "state"], ["metric", "metric"], ["operator", "operator"]]} />
            <div className="segmented" role="group" aria-label="Zoom">
              <button type="button" aria-label="Zoom out" onClick={() => view.current?.zoom(0.8)}>−</button>
              <button type="button" onClick={() => view.current?.fit()}>Fit</button>
              <button type="button" aria-label="Zoom in" onClick={() => view.current?.zoom(1.25)}>+</button>
            </div>
          </>
        }
      >
        <div className="dag">
          <canvas ref={canvas} tabIndex={0} role="application" aria-label={`Graph of ${size} nodes. Arrow keys walk along it, Enter opens a node, plus and minus zoom, 0 shows all, b goes to the best.`} onKeyDown={key} />
        </div>
      </Panel>
      <div className="stack">
        <Panel title={chosen ? `Node ${chosen.step}` : "Selected node"}>
          <div aria-live="polite" data-testid="selection">
            {chosen ? (
              <div className="stack" style={{ gap: 10 }}>
                <dl className="kv">
                  <dt>Id</dt><dd><NodeLink run={state.id} id={chosen.node_id} text={chosen.node_id} /></dd>
                  <dt>Operator</dt><dd><Operator name={chosen.operator} /></dd>
                  <dt>Outcome</dt><dd><Outcome node={chosen} /> {chosen.node_id === state.bestId && <span className="tag ok">best</span>}</dd>
                  {chosen.message && <><dt>Message</dt><dd className="small">{chosen.message}</dd></>}
                  {disagrees(chosen.claimed_metric, chosen.metric) && <><dt>Claimed</dt><dd className="num warn">{metric(chosen.claimed_metric)}</dd></>}
                  {chosen.island != null && <><dt>Island</dt><dd className="num">{chosen.island}</dd></>}
                  {chosen.generation != null && <><dt>Generation</dt><dd className="num">{chosen.generation}</dd></>}
                  <dt>Parents</dt><dd>{chosen.parent_ids?.length ? chosen.parent_ids.map((p) => <span key={p}><NodeLink run={state.id} id={p} /> </span>) : "none"}</dd>
                  <dt>Children</dt><dd className="num">{state.children.get(chosen.node_id)?.length ?? 0}</dd>
                  <dt>Ran for</dt><dd className="num">{seconds(chosen.exec_time)}</dd>
                </dl>
                <div className="row"><a className="button primary" href={href(state.id, "node", chosen.node_id)}>Open</a><Marks connection={connection} id={chosen.node_id} mark={chosen.mark ?? "none"} /></div>
              </div>
            ) : <p className="muted">Click a node, or focus the graph and use the arrow keys.</p>}
          </div>
        </Panel>
        <Panel title="Colours">
          <div className="legend" style={{ flexDirection: "column" }}>
            {shades.filter((shade) => shade.label).map((shade) => <span key={shade.label}><span className="dot" style={{ background: shade.color }} />{shade.label}</span>)}
            <span>◎ best so far, and the selected node with its line of descent</span>
            <span>┄ second parents of the selected node, and what it was merged into</span>
            {state.hasIslands && <span>▭ each frame is an island, from {at.lanes[0]?.lane} on the left</span>}
          </div>
        </Panel>
      </div>
    </div>
  );
}

function canvasColors(c: Record<(typeof COLORS)[number], string>) {
  return { bg: c.panel, line: c.line, strong: c["line-strong"], text: c.text, muted: c.muted, accent: c.accent, good: c.good, bad: c.bad, warn: c.warn };
}

/** Mouse, wheel and touch. Returns what takes them away again. */
function listen(canvas: HTMLCanvasElement, view: DagCanvas, select: (index: number) => void): () => void {
  const down = new Map<number, { x: number; y: number }>();
  let moved = 0;
  const local = (event: PointerEvent | WheelEvent): [number, number] => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  const press = (event: PointerEvent) => {
    canvas.setPointerCapture(event.pointerId);
    down.set(event.pointerId, { x: event.clientX, y: event.clientY });
    if (down.size === 1) moved = 0;
  };
  const move = (event: PointerEvent) => {
    const before = down.get(event.pointerId);
    if (!before) return;
    const now = { x: event.clientX, y: event.clientY };
    const other = [...down].find(([id]) => id !== event.pointerId)?.[1];
    if (other) {
      const apart = (p: { x: number; y: number }) => Math.hypot(p.x - other.x, p.y - other.y) || 1;
      const box = canvas.getBoundingClientRect();
      view.zoom(apart(now) / apart(before), (now.x + other.x) / 2 - box.left, (now.y + other.y) / 2 - box.top);
      moved = 99;
    } else {
      moved += Math.abs(now.x - before.x) + Math.abs(now.y - before.y);
      if (moved > 3) view.pan(now.x - before.x, now.y - before.y);
    }
    down.set(event.pointerId, now);
  };
  const release = (event: PointerEvent) => {
    if (down.delete(event.pointerId) && down.size === 0 && moved <= 3 && event.type === "pointerup") select(view.pick(...local(event)));
  };
  const wheel = (event: WheelEvent) => {
    event.preventDefault();
    view.zoom(Math.exp(-event.deltaY * 0.0016), ...local(event));
  };
  canvas.addEventListener("pointerdown", press);
  canvas.addEventListener("pointermove", move);
  canvas.addEventListener("pointerup", release);
  canvas.addEventListener("pointercancel", release);
  canvas.addEventListener("wheel", wheel, { passive: false });
  return () => {
    canvas.removeEventListener("pointerdown", press);
    canvas.removeEventListener("pointermove", move);
    canvas.removeEventListener("pointerup", release);
    canvas.removeEventListener("pointercancel", release);
    canvas.removeEventListener("wheel", wheel);
  };
}
