// Differences as people read them: removed and added lines side by side, the words that changed marked.
import type { Diff } from "../api/types";

type Line = Diff["lines"][number];

export interface Piece {
  text: string;
  changed: boolean;
}

export interface Side {
  number: number | null;
  pieces: Piece[];
}

export interface Row {
  kind: "same" | "changed" | "skip";
  left: Side | null;
  right: Side | null;
  text: string;
}

/** Removed lines beside the added ones that stand in their place. */
export function rowsOf(lines: readonly Line[]): Row[] {
  const rows: Row[] = [];
  for (let i = 0; i < lines.length; ) {
    const line = lines[i];
    if (line.kind === "same" || line.kind === "skip") {
      const side = (number?: number | null): Side => ({ number: number ?? null, pieces: [{ text: line.text ?? "", changed: false }] });
      rows.push(line.kind === "skip" ? { kind: "skip", left: null, right: null, text: line.text ?? "" } : { kind: "same", left: side(line.old), right: side(line.new), text: "" });
      i += 1;
      continue;
    }
    const removed: Line[] = [];
    const added: Line[] = [];
    for (; i < lines.length && lines[i].kind === "del"; i += 1) removed.push(lines[i]);
    for (; i < lines.length && lines[i].kind === "add"; i += 1) added.push(lines[i]);
    for (let k = 0; k < Math.max(removed.length, added.length); k += 1) rows.push(changed(removed[k], added[k]));
  }
  return rows;
}

function changed(old?: Line, fresh?: Line): Row {
  const [left, right] = old && fresh ? wordDiff(old.text ?? "", fresh.text ?? "") : [whole(old), whole(fresh)];
  return {
    kind: "changed", text: "",
    left: old ? { number: old.old ?? null, pieces: left } : null,
    right: fresh ? { number: fresh.new ?? null, pieces: right } : null,
  }; // prettier-ignore
}

const whole = (line?: Line): Piece[] => (line ? [{ text: line.text ?? "", changed: false }] : []);
const MOST = 60_000;

/** The words of two lines; those that the other has not are marked. Lines with little in common are not marked at all. */
export function wordDiff(a: string, b: string): [Piece[], Piece[]] {
  const [left, right] = [split(a), split(b)];
  if (left.length * right.length > MOST) return [[{ text: a, changed: false }], [{ text: b, changed: false }]];
  const common = Array.from({ length: left.length + 1 }, () => new Uint16Array(right.length + 1));
  for (let i = left.length - 1; i >= 0; i -= 1) {
    for (let j = right.length - 1; j >= 0; j -= 1) common[i][j] = left[i] === right[j] ? common[i + 1][j + 1] + 1 : Math.max(common[i + 1][j], common[i][j + 1]);
  }
  const out: [Piece[], Piece[]] = [[], []];
  let [i, j, kept] = [0, 0, 0];
  while (i < left.length || j < right.length) {
    if (i < left.length && j < right.length && left[i] === right[j]) {
      kept += left[i].trim().length;
      add(out[0], left[i++], false);
      add(out[1], right[j++], false);
    } else if (j >= right.length || (i < left.length && common[i + 1][j] >= common[i][j + 1])) add(out[0], left[i++], true);
    else add(out[1], right[j++], true);
  }
  if (kept * 4 < Math.max(a.trim().length, b.trim().length)) return [[{ text: a, changed: false }], [{ text: b, changed: false }]];
  return out;
}

const split = (text: string): string[] => text.match(/\d+(?:\.\d+)?(?:e[+-]?\d+)?|\w+|\s+|[^\w\s]/gi) ?? [];

function add(pieces: Piece[], text: string, changed: boolean): void {
  const last = pieces.at(-1);
  if (last && last.changed === changed) last.text += text;
  else pieces.push({ text, changed });
}
