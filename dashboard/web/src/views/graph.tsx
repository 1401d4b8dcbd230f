// The graph of all nodes on a canvas: pan, zoom, search, keyboard, merges of the selected node.
import { type KeyboardEvent, useEffect, useMemo, useRef, useState } from "react";
import { BestTag, Empty, Linked, NodeLink, Operator, Outcome, Panel, Segmented } from "../components/widgets";
import { runPath } from "../api/client";
import type { Dimensions } from "../api/types";
import { DagCanvas, type Scene } from "../components/dag-canvas";
import { colorsOf, crossings, lineOf, linksOf, paletteOf } from "../model/dag-colors";
import { byGeneration, byScore, layout, type Layout, rowsFor, stretched } from "../model/dag";
import { folding } from "../model/fold";
import { plainMessage } from "../model/plain";
import { isPlain } from "../model/plain-key";
import type { Connection } from "../model/connection";
import { disagrees } from "../model/curve";
import { isScored } from "../model/facts";
import { counted, metric, nodeTitle, seconds, shortened } from "../model/format";
import { useAddressed, useColors, useResource } from "../model/hooks";
import { searchingNodes } from "../model/node-search";
import { COLOURS } from "../model/operators";
import { go, href } from "../model/router";
import type { NodeFact } from "../model/facts";
import type { RunState } from "../model/run-state";
import { Marks } from "./marks";

const COLORS = ["panel", "line", "line-strong", "text", "muted", "accent", "good", "bad", "warn", ...COLOURS] as const;

export function GraphView({ connection }: { connection: Connection }) {
  const { state } = connection;
  const canvas = useRef<HTMLCanvasElement>(null);
  const view = useRef<DagCanvas | null>(null);
  const [node, setNode] = useAddressed("node", "");
  const selected = node || null;
  const setSelected = (id: string | null) => setNode(id ?? "");
  const [paint, setPaint] = useAddressed("colour", "state");
  const [height, setHeight] = useAddressed<Height>("height", "descent", { among: HEIGHTS.map(([name]) => name), kept: true });
  const [folded, setFolded] = useAddressed("fold", "yes", { among: ["yes", "no"], kept: true });
  const fold = folded === "yes";
  const [search, setSearch] = useState("");
  const palette = useColors(COLORS);
  const size = state.nodes.length + state.beside.length;
  // baselines beside the search come first, and have their places behind those of the nodes
  const all = useMemo(() => [...state.beside.map((one, i) => ({ ...one, index: state.nodes.length + i })), ...state.nodes], [state, size]);
  const factOf = (id: string | null) => (id ? (state.byId.get(id) ?? all.find((one) => one.node_id === id)) : undefined);
  const { data: measures } = useResource<Dimensions>(runPath(state.id, "/dimensions"), 0, state.ended);
  const numbers = useMemo(() => (measures?.names ?? []).filter((_, i) => measures?.points.some((p) => typeof p.values[i] === "number")), [measures]);
  const values = useMemo(() => valuesOf(measures, paint), [measures, paint]);
  const shown = useMemo(() => folding(all, state.children, fold, new Set([selected ?? "", state.bestId ?? ""])), [state, all, fold, selected && state.byId.get(selected), state.bestId, connection.version]);
  const at = useMemo(() => placed(shown.nodes, height, state), [shown, height]);
  const shades = useMemo(() => paletteOf(paint, palette, all), [paint, palette, all]);
  const colors = useMemo(() => colorsOf(shown.nodes, paint, state.lowerIsBetter, values), [shown, paint, values]);
  const across = useMemo(() => crossings(shown.nodes, (id) => shown.place[state.byId.get(id)?.index ?? -1] ?? -1, at.parent), [shown, at, state]);
  const chosen = factOf(selected);
  const best = factOf(state.bestId);
  const scene = useMemo<Scene>(() => {
    const here = (indices: readonly number[]) => indices.map((i) => shown.place[i]).filter((i) => i >= 0);
    return {
      kind: height, nodes: shown.nodes, at, colors, palette: shades.map((s) => s.color), folded: shown.folded, labelOf: (n) => shortened(state.names.get(n.node_id) ?? String(n.number ?? "")), axis: height === "score" ? `${state.run?.unit || "score"}, the best on top` : "", names: at.lanes.map(({ lane }) => laneName(shown.nodes, lane, state)),
      best: best ? shown.place[best.index] : -1, selected: chosen ? shown.place[chosen.index] : -1, winner: best ? here(lineOf(best, state.byId)) : [],
      line: chosen ? here(lineOf(chosen, state.byId)) : [], lanes: state.hasIslands && at.lanes.length > 0, across,
      links: chosen ? linksOf(chosen, state.byId, state.children).map(([a, b]): [number, number] => [shown.place[a], shown.place[b]]).filter(([a, b]) => a >= 0 && b >= 0) : [],
    };
  }, [state, shown, at, across, colors, shades, chosen, best, connection.version]); // prettier-ignore
  const latest = useRef(shown);
  latest.current = shown;

  useEffect(() => {
    if (!canvas.current) return;
    const made = new DagCanvas(canvas.current, canvasColors(palette));
    view.current = made;
    Object.assign(canvas.current, { dag: made, placeOf: (id: string) => made.place(latest.current.nodes.findIndex((one) => one.node_id === id)) }); // for measurements
    const observer = new ResizeObserver(() => made.resize());
    observer.observe(canvas.current);
    const stop = listen(canvas.current, made, (index) => setSelected(index < 0 ? null : latest.current.nodes[index].node_id));
    return () => {
      observer.disconnect();
      stop();
      made.destroy();
    };
  }, [state, size === 0]);
  useEffect(() => {
    view.current?.setScene(scene, canvasColors(palette));
  }, [scene, palette]);

  const wish = useRef("");
  const select = (id: string | undefined) => {
    if (!id) return;
    const place = id === selected ? shown.place[factOf(id)?.index ?? -1] : -1; // it is chosen already: nothing is drawn anew
    if (place >= 0) view.current?.show(place);
    else wish.current = id;
    setSelected(id);
  };
  // a node that was folded has its place only after it is shown
  useEffect(() => {
    const node = factOf(wish.current);
    wish.current = "";
    if (node && shown.place[node.index] >= 0) view.current?.show(shown.place[node.index]);
  }, [selected, shown]);
  const find = (text: string) => {
    setSearch(text);
    const wanted = text.trim().toLowerCase();
    if (!wanted) return;
    select((all.find((n) => n.node_id.startsWith(wanted) || String(n.number) === wanted) ?? all.find(searchingNodes(wanted, state.names)))?.node_id);
  };
  const next = () => {
    if (search.trim()) select([...all.slice(chosen ? all.indexOf(chosen) + 1 : 0), ...all].find(searchingNodes(search, state.names))?.node_id);
  };
  const key = (event: KeyboardEvent) => {
    const from = chosen ?? best ?? all[0];
    if (!from || !isPlain(event)) return;
    const siblings = from.parent_ids?.[0] ? (state.children.get(from.parent_ids[0]) ?? []) : all.filter((n) => !n.parent_ids?.length).map((n) => n.node_id);
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
      b: () => select(best?.node_id),
    };
    if (event.key in moves) {
      event.preventDefault();
      if (!chosen && event.key.startsWith("Arrow")) select(from.node_id);
      else moves[event.key]();
    }
  };

  if (size === 0) return <Panel title="Graph"><Empty title="No nodes yet">{state.atEnd ? "This run ended before its first node." : "The first program is being written."}</Empty></Panel>;
  return (
    <div className="cols">
      <Panel
        title="Graph" flush
        actions={
          <>
            <input type="search" placeholder="id, step, word" aria-label="Find a node by id, step or word" title="Enter goes to the next one" value={search} onChange={(e) => find(e.target.value)} onKeyDown={(e) => e.key === "Enter" && next()} style={{ width: 128 }} />
            <Segmented label="Height" value={height} onChange={setHeight} options={HEIGHTS.filter(([name]) => name !== "generation" || state.nodes.some((n) => n.generation != null))} />
            <label className="row small">Colour <select aria-label="Colour by" value={paint} onChange={(e) => setPaint(e.target.value)}>
              <option value="state">state</option><option value="metric">score</option><option value="operator">operator</option>{state.hasIslands && <option value="island">island</option>}
              {numbers.length > 0 && <optgroup label="measured">{numbers.map((name) => <option key={name}>{name}</option>)}</optgroup>}
            </select></label>
            <label className="row small" title="repetitions are folded into a count at their parent"><input type="checkbox" aria-label="fold repetitions" checked={fold} onChange={(e) => setFolded(e.target.checked ? "yes" : "no")} /> fold</label>
            <div className="segmented" role="group" aria-label="Zoom">
              <button type="button" aria-label="Zoom out" onClick={() => view.current?.zoom(0.8)}>−</button>
              <button type="button" onClick={() => view.current?.fit()}>Fit</button>
              <button type="button" aria-label="Zoom in" onClick={() => view.current?.zoom(1.25)}>+</button>
            </div>
          </>
        }
      >
        <div className="dag">
          <canvas ref={canvas} tabIndex={0} role="application" aria-label={`Graph of ${counted(size, "node")}. Arrow keys walk along it, Enter opens a node, plus and minus zoom, 0 shows all, b goes to the best.`} onKeyDown={key} />
        </div>
      </Panel>
      <div className="stack">
        <Panel title={chosen ? nodeTitle(state.names.get(chosen.node_id), chosen.number) : "Selected node"}>
          <div aria-live="polite" data-testid="selection">
            {chosen ? (
              <div className="stack" style={{ gap: 10 }}>
                <dl className="kv">
                  <dt>Id</dt><dd><NodeLink run={state.id} id={chosen.node_id} text={chosen.node_id} /></dd>
                  <dt>Operator</dt><dd><Operator name={chosen.operator} /></dd>
                  <dt>Outcome</dt><dd><Outcome node={chosen} /> {chosen.node_id === state.bestId && <BestTag state={state} />}</dd>
                  {chosen.message && <><dt>Message</dt><dd className="small"><Linked state={state} text={plainMessage(chosen.message)} /></dd></>}
                  {disagrees(chosen.claimed_metric, chosen.metric) && <><dt>Claimed</dt><dd className="num warn">{metric(chosen.claimed_metric)}</dd></>}
                  {chosen.island != null && <><dt>Island</dt><dd className="num">{chosen.island}</dd></>}
                  {chosen.generation != null && <><dt>Generation</dt><dd className="num">{chosen.generation}</dd></>}
                  <dt>Parents</dt><dd>{chosen.parent_ids?.length ? chosen.parent_ids.map((p) => <span key={p}><NodeLink run={state.id} id={p} text={state.called(p)} /> </span>) : "none"}</dd>
                  <dt>Children</dt><dd className="num">{state.children.get(chosen.node_id)?.length ?? 0}</dd>
                  <dt>Ran for</dt><dd className="num">{seconds(chosen.exec_time || null)}</dd>
                </dl>
                <div className="row"><a className="button primary" href={href(state.id, "node", chosen.node_id)}>Open</a><Marks connection={connection} id={chosen.node_id} mark={chosen.mark ?? "none"} /></div>
              </div>
            ) : <p className="muted">Click a node, or focus the graph and use the arrow keys.</p>}
          </div>
        </Panel>
        <Panel title="Colours">
          <div className="legend" style={{ flexDirection: "column" }}>
            {shades.filter((shade) => shade.label).map((shade) => <span key={shade.label}><span className="dot" style={{ background: shade.color }} />{shade.label}</span>)}
            <span><span className="dot" style={{ background: palette.good, borderRadius: 1, height: 3 }} />line of descent of the {state.over ? "winner" : "best so far"}</span>
            <span><span className="dot" style={{ background: palette.accent, borderRadius: 1, height: 3 }} />line of descent of the selected node</span>
            {size > shown.nodes.length && <span>+3: so many of its children are duplicates or have no score ({size - shown.nodes.length} in all)</span>}
            <span>┄ second parents of the selected node, and what it was merged into</span>
            {(at.beyond?.size ?? 0) > 0 && <span>▼ a score off the scale ({at.beyond?.size})</span>}
            {scene.lanes && <span>From left to right: {scene.names.join("; ")}</span>}
            {across.length > 0 && <span>thin line: a parent on another island</span>}
          </div>
        </Panel>
      </div>
    </div>
  );
}

type Height = "descent" | "score" | "generation";
const HEIGHTS: readonly (readonly [Height, string])[] = [["descent", "descent"], ["score", "score"], ["generation", "generation"]];

function placed(nodes: readonly NodeFact[], height: Height, state: RunState): Layout {
  const dag = nodes.map((n) => ({ id: n.node_id, parents: n.parent_ids ?? [], lane: n.island ?? null, metric: isScored(n) ? (n.metric ?? null) : null, generation: n.generation ?? 0 }));
  if (height === "score") return byScore(dag, state.lowerIsBetter);
  if (height === "generation" && nodes.some((n) => n.generation != null)) return stretched(byGeneration(dag));
  return stretched(layout(dag, rowsFor(dag)));
}

function laneName(nodes: readonly NodeFact[], lane: number, state: RunState): string {
  const scores = nodes.filter((n) => n.island === lane && isScored(n)).map((n) => n.metric as number);
  const best = scores.reduce<number | null>((top, value) => (top === null || (state.lowerIsBetter ? value < top : value > top) ? value : top), null);
  return `island ${lane}${best === null ? "" : `, best ${metric(best, 4)}`}`;
}

function valuesOf(measures: Dimensions | null, name: string): Map<string, number> | undefined {
  const place = measures?.names.indexOf(name) ?? -1;
  if (!measures || place < 0) return undefined;
  return new Map(measures.points.flatMap((p): [string, number][] => (typeof p.values[place] === "number" ? [[p.node_id, p.values[place] as number]] : [])));
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
    if (down.delete(event.pointerId) && down.size === 0 && moved <= 3 && event.type === "pointerup" && !view.jump(...local(event))) select(view.pick(...local(event)));
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
