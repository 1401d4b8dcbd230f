// How operators are shown. The server says it with each run, plug-ins included: nothing here knows a name.
import type { OperatorStyle } from "../api/types";
import { groupsOf } from "./groups";

export type Colour = OperatorStyle["colour"];
/** The palette of style.css, in the order of legends. */
export const COLOURS: readonly Colour[] = ["violet", "blue", "orange", "teal", "pink", "gold", "grey"];

const styles = new Map<string, OperatorStyle>();

export function learn(operators: Record<string, OperatorStyle>): void {
  for (const [name, style] of Object.entries(operators)) styles.set(name, style);
}

export function colourOf(name: string): Colour {
  return styles.get(name)?.colour ?? "grey";
}

export function meaningOf(name: string): string {
  return styles.get(name)?.meaning ?? "";
}

/** False for what is given (baselines, the user's programs): no step of the search. */
export function isStep(name: string): boolean {
  return styles.get(name)?.is_step ?? true;
}

/** Names that share a colour, for a legend: those of `used`, by their colour. */
export function namesBy(used: Iterable<string>): Map<Colour, string[]> {
  return groupsOf(new Set(used), colourOf);
}
