// The choice between a linear and a logarithmic axis, where scores have ratios.
import { useMemo } from "react";
import type { ReactNode } from "react";
import { useAddressed } from "../model/hooks";
import { hasRatios } from "../model/log-scale";
import { Segmented } from "./widgets";

type Scale = "linear" | "log";

/** (whether the axis is logarithmic, the buttons for it; null where it would tell nothing more). */
export function useScale(values: readonly (number | null)[]): [boolean, ReactNode] {
  const [scale, setScale] = useAddressed<Scale>("scale", "linear", { among: ["linear", "log"], kept: true });
  const can = useMemo(() => hasRatios(values), [values]);
  return [can && scale === "log", can ? <Segmented label="Scale" value={scale} onChange={setScale} options={[["linear", "linear"], ["log", "log"]]} /> : null];
}
