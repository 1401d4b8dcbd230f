// Engines by generation and Elo, with lines from parent to child: does the line of champions climb?
import { useMemo } from "react";
import { Empty } from "../components/widgets";
import { shortened, whole } from "../model/format";
import { groupsOf } from "../model/groups";
import { href } from "../model/router";
import type { RunState } from "../model/run-state";

const COLUMN = 170;
const WIDEST = 560;
/** Pixels that a few generations are spread over. */
const FILLED = 1080;
const HEIGHT = 300;
const PAD = 26;
/** Letters of a name that are shown, and the pixels right of the last generation: as many of them, where it is the first, too. */
const LETTERS = 14;
const END = 110;

interface Point { id: string; x: number; y: number; elo: number; champion: boolean; promoted: boolean; parents: string[] }

export function Lineage({ state, version }: { state: RunState; version: number }) {
  const finished = [...state.arena.generations.values()].filter((g) => g.ratings.length > 0).length;
  const points = useMemo(() => place(state), [state, finished]);
  void version;
  if (points.length === 0) return <Empty title="No generation is rated yet" />;
  const first = new Map(points.map((p) => [p.id, p]));
  for (const p of points) if ((first.get(p.id) as Point).x > p.x) first.set(p.id, p);
  const columns = [...new Set(points.map((p) => p.x))].sort((a, b) => a - b);
  const gap = columns.length > 1 ? columns[1] - columns[0] : COLUMN;
  const width = (columns.at(-1) ?? 0) + END;
  return (
    <div className="scroll" tabIndex={0} role="region" aria-label="Lineage of the engines">
      <svg width={width} height={HEIGHT} viewBox={`0 0 ${width} ${HEIGHT}`} role="group" aria-label="Engines by generation and Elo">
        {points.map((p) => p.parents.map((parent) => {
          const from = [...points].reverse().find((q) => q.id === parent && q.x < p.x);
          return from && first.get(p.id) === p ? <line key={parent + p.id + p.x} x1={from.x} y1={from.y} x2={p.x} y2={p.y} stroke="var(--line-strong)" strokeWidth="1.500" /> : null;
        }))}
        {points.map((p) => {
          const again = points.find((q) => q.id === p.id && q.x === p.x + gap);
          return again ? <line key={`stay${p.id}${p.x}`} x1={p.x} y1={p.y} x2={again.x} y2={again.y} stroke="var(--accent)" strokeWidth="2" /> : null;
        })}
        {points.map((p) => (
          <a key={p.id + p.x} href={href(state.id, "node", p.id)} aria-label={`${state.name(p.id)}, Elo ${whole(p.elo)}`}>
            <title>{`${state.name(p.id)}, Elo ${whole(p.elo)}`}</title>
            <circle cx={p.x} cy={p.y} r={p.promoted ? 6 : 4.5} fill={p.promoted ? "var(--accent)" : "var(--panel)"} stroke="var(--accent)" strokeWidth="1.500" />
            <text x={p.x} y={p.y - 9} textAnchor={p.x > 60 ? "middle" : "start"} fontSize="11" fill="var(--text)" stroke="var(--panel)" strokeWidth="3" paintOrder="stroke" fontFamily="var(--mono)">{shortened(state.name(p.id), LETTERS)}</text>
          </a>
        ))}
        {[...new Set(points.map((p) => p.x))].map((x, i) => <text key={x} x={x} y={HEIGHT - 4} fontSize="11" fill="var(--muted)" textAnchor="middle">gen {[...state.arena.generations.keys()].sort((a, b) => a - b)[i]}</text>)}
      </svg>
    </div>
  );
}

/** Between two generations. */
const gapOf = (generations: number): number => Math.max(COLUMN, Math.min(WIDEST, Math.floor(FILLED / Math.max(1, generations - 1))));

function place(state: RunState): Point[] {
  const rated = [...state.arena.generations.values()].filter((g) => g.ratings.length > 0).sort((a, b) => a.generation - b.generation);
  const elos = rated.flatMap((g) => g.ratings.map((r) => r.elo)).filter(Number.isFinite);
  const low = Math.min(...elos);
  const span = Math.max(1, Math.max(...elos) - low);
  const gap = gapOf(rated.length);
  const points = rated.flatMap((generation, column) =>
    generation.ratings.filter((r) => Number.isFinite(r.elo)).map((rating) => ({
      id: rating.node_id, elo: rating.elo, x: PAD + column * gap, y: PAD + (1 - (rating.elo - low) / span) * (HEIGHT - 2 * PAD - 14),
      champion: generation.champion === rating.node_id, promoted: generation.promoted.includes(rating.node_id), parents: [...(state.byId.get(rating.node_id)?.parent_ids ?? [])],
    })),
  ); // prettier-ignore
  return apart(points);
}

/** Engines of equal strength stand below each other, so that every name can be read. */
function apart(points: Point[]): Point[] {
  for (const column of groupsOf(points, (point) => point.x).values()) {
    column.sort((a, b) => a.y - b.y);
    for (let i = 1; i < column.length; i += 1) column[i].y = Math.max(column[i].y, column[i - 1].y + 26);
  }
  return points;
}
