// What a chart is given, for the component and for uPlot behind it.

export interface Series {
  label: string;
  color: string;
  values: (number | null)[];
  /** `edge`: the border of a band, not drawn itself. */
  kind: "step" | "points" | "edge";
  width?: number;
  /** Pixels drawn and left out in turns: what lies below is seen. */
  dash?: number[];
}

export interface ChartProps {
  x: number[];
  series: Series[];
  /** Horizontal reference lines. */
  lines?: { label: string; value: number }[];
  /** A point of its own, in a ring. */
  ring?: { x: number; y: number; color: string };
  range: [number, number];
  /** A logarithmic axis: `range` and all that is to be seen lie above 0. */
  log?: boolean;
  height?: number;
  /** As high as its panel leaves room for, `height` at least. */
  fill?: boolean;
  label: string;
  axis: string;
  /** False: the axis is no count, its ticks may be fractions. */
  whole?: boolean;
  /** Pairs of series (from 1) between which the ground is tinted. */
  bands?: [number, number][];
  grid: string;
  text: string;
  onPick?: (index: number) => void;
  /** What the thing at an index is called, for the pointer. */
  nameOf?: (index: number) => string;
}
