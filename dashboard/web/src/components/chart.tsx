// Curves by uPlot, loaded when first needed.
import { useEffect, useRef, useState } from "react";
import type uPlot from "uplot";
import { zoomOf } from "../model/curve";
import { count } from "../model/format";
import { placeAfter, places } from "../model/chart-points";
import { told } from "../model/curve";
import type { ChartProps } from "./chart-props";

/** What the triangles of a chart mean; nothing where it has none. */
export function OffScale({ scores }: { scores: number }) {
  if (scores === 0) return null;
  return <p className="muted small">{scores === 1 ? "The triangle at the edge is a score" : `A triangle at the edge: one of ${count(scores)} scores`} off the scale; the pointer tells its value.</p>;
}

export function Chart(props: ChartProps) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const [lost, setLost] = useState(false);
  const [at, setAt] = useState<number | null>(null);
  const show = useRef<(at: number | null) => void>(() => {});
  const latest = useRef(props);
  latest.current = props;
  const shape = JSON.stringify([props.series.map((s) => [s.label, s.color, s.kind, s.dash]), props.grid, props.text, props.axis, props.whole, props.log, props.bands, props.lines?.map((l) => l.label)]);

  useEffect(() => {
    const host = box.current;
    if (!host) return;
    let gone = false;
    let observer: ResizeObserver | null = null;
    void import("./uplot").then(({ heightOf, makePlot, pointAt }) => {
      if (gone) return;
      const made = makePlot(host, latest);
      plot.current = made;
      show.current = (index) => pointAt(made, latest.current, index);
      observer = new ResizeObserver(() => made.setSize({ width: host.clientWidth, height: heightOf(host, latest.current) }));
      observer.observe(host);
    }, () => setLost(true));
    return () => {
      gone = true;
      observer?.disconnect();
      plot.current?.destroy();
      plot.current = null;
      show.current = () => {};
    };
  }, [shape]);

  useEffect(() => {
    const made = plot.current;
    if (!made) return;
    const zoom = zoomOf(made.data[0], made.scales.x);
    made.setData([props.x, ...props.series.map((s) => s.values)] as uPlot.AlignedData, zoom === null);
    if (zoom) made.setScale("x", zoom);
  }, [props.x, props.series, props.range[0], props.range[1], props.ring?.x]);

  if (lost) return <p className="muted">The chart could not be loaded: reload the page when the server answers again.</p>;
  const among = places(props.series, props.x.length);
  const here = at !== null && among.includes(at) ? at : null;
  const walk = (event: React.KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const next = placeAfter(event.key, among, here);
    if (event.key === "Enter" && here !== null) props.onPick?.(here);
    if (event.key === "Escape") { setAt(null); show.current(null); }
    if (next === null) return;
    event.preventDefault();
    setAt(next);
    show.current(next);
  };
  const leave = () => { setAt(null); show.current(null); };
  return <div className="chart" ref={box} role="slider" tabIndex={0} aria-readonly aria-label={props.label} aria-valuemin={1} aria-valuemax={Math.max(1, among.length)} aria-valuenow={here === null ? 1 : among.indexOf(here) + 1} aria-valuetext={here === null ? `${count(among.length)} points: the arrows walk them` : told(props, here).replaceAll("\n", ", ")} onKeyDown={walk} onBlur={leave} style={props.fill ? { flex: `1 0 ${props.height ?? 260}px`, height: 0, overflow: "hidden" } : { height: props.height ?? 260 }} />;
}
