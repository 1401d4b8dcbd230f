// The only file that imports uPlot, so that it travels in a file of its own.
import uPlot from "uplot";
import { beyond, stacked, told, xRange } from "../model/curve";
import { metric, tickTexts } from "../model/format";
import { logTicks } from "../model/log-scale";
import type { ChartProps } from "./chart-props";

/** Steps and generations are whole numbers. */
const WHOLE = [1, 2, 5].flatMap((n) => Array.from({ length: 8 }, (_, k) => n * 10 ** k)).sort((a, b) => a - b);
/** Pixels right of the last tick: half of a label such as "100,000". */
const END = 24;
/** Pixels of a letter of the names, and of a name with its value below it. */
const LETTER = 6.7;
const NAME = 28;
const NOTE = "u-note";
const FONT = "11px ui-monospace, Menlo, Consolas, monospace";

export function makePlot(host: HTMLElement, latest: { current: ChartProps }): uPlot {
  const props = latest.current;
  const stepped = uPlot.paths.stepped?.({ align: 1 });
  const axis: uPlot.Axis = { stroke: props.text, font: FONT, grid: { stroke: props.grid, width: 1 }, ticks: { stroke: props.grid, width: 1, size: 4 } };
  const note = document.createElement("div");
  note.className = NOTE;
  note.hidden = true;
  const plot = new uPlot(
    {
      width: Math.max(100, host.clientWidth),
      height: heightOf(host, props),
      padding: [10, (u) => gutterOf(u, latest.current), 0, 0],
      cursor: { points: { show: false }, drag: { x: true, y: false } },
      scales: { x: { time: false, range: (u, first, last) => xRange(u.data[0], first, last) }, y: { distr: props.log ? 3 : 1, range: () => latest.current.range } },
      axes: [
        { ...axis, ...(props.whole === false ? {} : { incrs: WHOLE }), label: props.axis, labelFont: FONT, labelSize: 16, size: 28, labelGap: 0 },
        { ...axis, size: (_, texts) => 18 + 7 * Math.max(4, ...(texts ?? []).map((text) => text.length)), ...(props.log ? { splits: (_u: uPlot, _i: number, low: number, high: number) => logTicks(low, high), filter: (_u: uPlot, ticks: number[]) => ticks, values: (_u: uPlot, ticks: number[]) => ticks.map((tick) => metric(tick)) } : { values: (_u: uPlot, ticks: number[]) => tickTexts(ticks) }) },
      ],
      bands: (props.bands ?? []).map((series) => ({ series, fill: `color-mix(in srgb, ${props.series[series[0] - 1].color} 16%, transparent)` })),
      series: [
        {},
        ...props.series.map((line): uPlot.Series =>
          line.kind === "edge"
            ? { label: line.label, stroke: line.color, width: 0, paths: stepped, points: { show: false }, spanGaps: true }
            : line.kind === "step"
            ? { label: line.label, stroke: line.color, width: line.width ?? 2, dash: line.dash, paths: stepped, points: { show: isAlone, size: 7, fill: line.color }, spanGaps: true }
            : { label: line.label, stroke: line.color, paths: () => null, points: { show: true, size: 6, width: 1.5, fill: line.color, stroke: line.color } },
        ),
      ],
      hooks: { draw: [(u) => drawBeyond(u, latest.current), (u) => drawLines(u, latest.current), (u) => drawRing(u, latest.current)], setCursor: [(u) => tell(u, note, latest.current)] },
    },
    [props.x, ...props.series.map((s) => s.values)] as uPlot.AlignedData,
    host,
  );
  plot.over.append(note);
  if (props.onPick) plot.over.style.cursor = "pointer";
  plot.over.addEventListener("click", () => {
    const index = plot.cursor.idx;
    if (index != null) latest.current.onPick?.(index);
  });
  return plot;
}

/** Pixels that the chart is high. */
export function heightOf(host: HTMLElement, { fill, height = 260 }: ChartProps): number {
  return fill ? Math.max(height, host.clientHeight) : height;
}

/** A line through one point has no length: the point itself is drawn. */
function isAlone(u: uPlot, series: number): boolean {
  return (u.data[series] as (number | null | undefined)[]).filter((value) => value != null).length === 1;
}

/** A triangle at the edge for a score off the scale, pointing to where it is: of points, and of lines that have none. */
function drawBeyond(u: uPlot, props: ChartProps): void {
  const { ctx } = u;
  const { left, top, width, height } = u.bbox;
  const half = 4 * devicePixelRatio;
  ctx.save();
  const points = props.series.filter(({ kind }) => kind === "points");
  for (const line of points.length ? points : props.series.filter(({ kind }) => kind === "step")) {
    ctx.fillStyle = line.color;
    ctx.beginPath();
    for (const i of beyond(line.values, props.range)) {
      const x = u.valToPos(props.x[i], "x", true);
      if (x < left || x > left + width) continue;
      const above = (line.values[i] as number) > props.range[1];
      const [edge, back] = above ? [top, 2 * half] : [top + height, -2 * half];
      ctx.moveTo(x, edge);
      ctx.lineTo(x - half, edge + back);
      ctx.lineTo(x + half, edge + back);
    }
    ctx.fill();
  }
  ctx.restore();
}

function drawRing(u: uPlot, { ring }: ChartProps): void {
  if (!ring) return;
  const { ctx } = u;
  ctx.save();
  ctx.strokeStyle = ring.color;
  ctx.lineWidth = 2 * devicePixelRatio;
  ctx.beginPath();
  ctx.arc(u.valToPos(ring.x, "x", true), u.valToPos(ring.y, "y", true), 6 * devicePixelRatio, 0, 2 * Math.PI);
  ctx.stroke();
  ctx.restore();
}

/** Put the pointer at a point, as the keys lead to it; null takes it away. */
export function pointAt(u: uPlot, props: ChartProps, at: number | null): void {
  const value = at === null ? null : props.series.map(({ values }) => values[at]).find((found) => found != null);
  if (at === null || value == null) return u.setCursor({ left: -10, top: -10 });
  const { min, max } = u.scales.x;
  if (props.x[at] < (min ?? -Infinity) || props.x[at] > (max ?? Infinity)) u.setData(u.data, true); // it was zoomed away
  u.setCursor({ left: u.valToPos(props.x[at], "x"), top: u.valToPos(value, "y") });
  const note = u.over.querySelector<HTMLElement>(`.${NOTE}`);
  if (note) tell(u, note, props, at); // several points may stand at one place
}

/** Beside the pointer: what the nearest place holds. */
function tell(u: uPlot, note: HTMLElement, props: ChartProps, at = u.cursor.idx): void {
  const text = at == null || (u.cursor.left ?? -1) < 0 ? "" : told(props, at);
  note.hidden = !text;
  if (!text || at == null) return;
  note.textContent = text;
  const left = u.valToPos(props.x[at], "x");
  const half = u.over.clientWidth / 2;
  note.style.left = left < half ? `${left + 10}px` : "";
  note.style.right = left < half ? "" : `${u.over.clientWidth - left + 10}px`;
}

/** Room at the right for the names of the lines, so that they hide no point; a fifth of a narrow chart at most. */
function gutterOf(u: uPlot, { lines = [] }: ChartProps): number {
  const letters = Math.max(0, ...lines.flatMap(({ label, value }) => [label.length, metric(value).length]));
  return lines.length ? Math.max(END, Math.min(8 + LETTER * letters, 150, u.width / 5)) : END;
}

/** As much of a text as fits. */
function fitted(ctx: CanvasRenderingContext2D, whole: string, width: number): string {
  let text = whole;
  while (text.length > 2 && ctx.measureText(text).width > width) text = `${text.slice(0, -2)}…`;
  return text;
}

function drawLines(u: uPlot, props: ChartProps): void {
  const { ctx } = u;
  const { left, top, width, height } = u.bbox;
  const pixel = devicePixelRatio;
  ctx.save();
  ctx.font = `${11 * pixel}px ui-monospace, Menlo, Consolas, monospace`;
  ctx.strokeStyle = props.text;
  ctx.fillStyle = props.text;
  ctx.setLineDash([4 * pixel, 4 * pixel]);
  ctx.lineWidth = pixel;
  const places = (props.lines ?? []).map((line) => u.valToPos(line.value, "y", true));
  const shown = (props.lines ?? []).map((line, i) => ({ ...line, y: places[i] })).filter(({ y }) => y >= top && y <= top + height);
  for (const { y } of shown) {
    ctx.beginPath();
    ctx.moveTo(left, y);
    ctx.lineTo(left + width, y);
    ctx.stroke();
  }
  shown.sort((a, b) => a.y - b.y);
  ctx.textAlign = "left"; // uPlot leaves the alignment of its last axis behind
  ctx.textBaseline = "middle";
  const x = left + width + 4 * pixel;
  const room = u.width * pixel - x;
  const at = stacked(shown.map(({ y }) => y), NAME * pixel, top + 7 * pixel);
  shown.forEach((line, i) => [line.label, metric(line.value)].forEach((text, row) => ctx.fillText(fitted(ctx, text, room), x, at[i] + (13 * row - 6) * pixel)));
  ctx.restore();
}
