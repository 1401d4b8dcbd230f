// Parallel coordinates: an axis a parameter and one for the score, a line a program; the best are drawn last.
import { useMemo } from "react";
import type { Dimensions } from "../api/types";
import { metric, nodeTitle } from "../model/format";
import type { Value } from "../model/progress";

const HEIGHT = 260;
const TOP = 30;
const BOTTOM = 24;
/** Between two axes. */
const COLUMN = 130;
const WIDEST = 320;
const MOST = 400;
/** The width of a letter of an axis's name, at most. */
const LETTER = 6.5;

interface Axis { name: string; of: (value: Value) => number | null; low: string; high: string }

export function Parallel(props: { names: { name: string; i: number }[]; points: Dimensions["points"]; unit: string; lower: boolean; open: (id: string) => void }) {
  const { names, points, lower } = props;
  const drawn = useMemo(() => [...points].sort((a, b) => (lower ? b.metric - a.metric : a.metric - b.metric)).slice(-MOST), [points, lower]);
  const axes = useMemo(() => [...names.map(({ name, i }) => axisOf(name, drawn.map((p) => p.values[i]))), { name: `${props.unit.length > 10 ? "score" : props.unit}, by rank`, of: () => null, low: metric(drawn[0].metric, 4), high: metric(drawn[drawn.length - 1].metric, 4) }], [names, drawn, props.unit]);
  const gap = Math.max(COLUMN, Math.min(WIDEST, (window.innerWidth - 260) / (axes.length - 1)));
  const width = 60 + gap * (axes.length - 1) + 90;
  const x = (column: number) => 60 + column * gap;
  const y = (place: number) => HEIGHT - BOTTOM - place * (HEIGHT - TOP - BOTTOM);
  return (
    <div className="scroll" tabIndex={0} role="region" aria-label="Parallel coordinates">
      <svg width={width} height={HEIGHT} viewBox={`0 0 ${width} ${HEIGHT}`} role="img" aria-label={`Programs by ${axes.map((a) => a.name).join(", ")}`}>
        {drawn.map((point, rank) => {
          const share = rank / Math.max(1, drawn.length - 1);
          const places = axes.map((axis, column) => ({ x: x(column), at: column < names.length ? axis.of(point.values[names[column].i]) : share })).filter((p) => p.at !== null);
          return <polyline key={point.node_id} points={places.map((p) => `${p.x},${y(p.at as number)}`).join(" ")} fill="none" stroke={share > 0.9 ? "var(--accent)" : "var(--grey)"} strokeOpacity={0.12 + 0.6 * share ** 3} strokeWidth={share > 0.97 ? 2 : 1} style={{ cursor: "pointer" }} onClick={() => props.open(point.node_id)}><title>{`${nodeTitle(undefined, point.step)}: ${metric(point.metric)}`}</title></polyline>;
        })}
        {axes.map((axis, column) => (
          <g key={column} fontSize="11" fill="var(--muted)" textAnchor="middle">
            <line x1={x(column)} x2={x(column)} y1={TOP} y2={HEIGHT - BOTTOM} stroke="var(--line-strong)" />
            <text x={x(column)} y={12} fill="var(--text)">{endOf(axis.name, Math.floor(gap / LETTER))}<title>{axis.name}</title></text>
            <text x={x(column)} y={TOP - 5}>{axis.high}</text>
            <text x={x(column)} y={HEIGHT - BOTTOM + 14}>{axis.low}</text>
          </g>
        ))}
      </svg>
    </div>
  );
}

/** A name that fits: its end tells more, as names of one origin begin alike. */
export const endOf = (name: string, most: number): string => (name.length > most ? `…${name.slice(1 - most)}` : name);

/** Numbers by their size, words by their alphabet. */
function axisOf(name: string, values: Value[]): Axis {
  const known = values.filter((value) => value !== null);
  if (known.every((value) => typeof value === "number")) {
    const numbers = known as number[];
    const [low, high] = numbers.reduce(([least, most], value) => [Math.min(least, value), Math.max(most, value)], [Infinity, -Infinity]);
    return { name, of: (value) => (typeof value === "number" ? (high > low ? (value - low) / (high - low) : 0.5) : null), low: metric(low, 3), high: metric(high, 3) };
  }
  const words = [...new Set(known.map(String))].sort();
  return { name, of: (value) => (value === null ? null : words.length > 1 ? words.indexOf(String(value)) / (words.length - 1) : 0.5), low: words[0]?.slice(0, 16) ?? "", high: words.at(-1)?.slice(0, 16) ?? "" };
}
