// What the browser's tab says of a run: its name, and how far it is or how it ended.
import type { RunState } from "./run-state";

/** `u120 · 57/120`; the title that it was given before the problem's name, and the id only before either is known. */
export function tabTitle(state: RunState): string {
  const problem = state.run?.problem?.split("/").at(-1);
  return `${state.run?.title || problem || state.id} · ${stateText(state)}`;
}

function stateText(state: RunState): string {
  if (state.status !== "running") return state.status;
  const { max_steps: steps, max_generations: generations } = state.started ?? {};
  if (steps) return `${state.steps}/${steps}`;
  return generations ? `generation ${state.generationsBegun}/${generations}` : `${state.steps} steps`;
}
