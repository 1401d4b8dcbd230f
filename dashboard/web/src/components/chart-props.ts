// What a chart is given, for the component and for uPlot behind it.

export interface Series {
  label: string;
  color: string;
  values: (number | null)[];
  kind: "step" | "points";
  width?: number;
}

export interface ChartProps {
  x: number[];
  series: Series[];
  /** Horizontal reference lines. */
  lines?: { label: string; value: number }[];
  range: [number, number];
  height?: number;
  label: string;
  axis: string;
  grid: string;
  text: string;
  onPick?: (index: number) => void;
}
