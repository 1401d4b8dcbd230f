// What the browser's tab says of a run: its name, and how far it is or how it ended.
import { counted } from "./format";
import type { RunState } from "./run-state";

/** `u120 · 57/120`; its title or the name that it was started with before the problem's, and the id only before any is known. */
export function tabTitle(state: RunState, replaying = false): string {
  const { title, config, problem } = state.run ?? {};
  const given = (config?.project as { name?: string | null } | undefined)?.name;
  return `${title || given || problem?.split("/").at(-1) || state.id} · ${replaying ? "replay" : stateText(state)}`;
}

function stateText(state: RunState): string {
  if (state.status !== "running") return state.status;
  const { max_steps: steps, max_generations: generations } = state.started ?? {};
  if (steps) return `${state.steps}/${steps}`;
  return generations ? `generation ${state.generationsBegun}/${generations}` : counted(state.steps, "step");
}
