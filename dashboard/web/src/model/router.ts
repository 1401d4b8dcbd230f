// Addresses behind `#`: /runs, /run/ID/VIEW, /run/ID/node/NODE, /run/ID/game?id=…&ply=…, with `speed` in a replay.
import { useSyncExternalStore } from "react";

export interface Route {
  run: string | null;
  view: string;
  id: string;
  query: URLSearchParams;
}

export function parse(hash: string): Route {
  const [path = "", search = ""] = hash.replace(/^#/, "").split("?", 2);
  const query = new URLSearchParams(search);
  const parts = path.split("/").filter(Boolean).map(decode);
  if (parts[0] === "run" && parts[1]) return { run: parts[1], view: parts[2] ?? "overview", id: parts[3] ?? "", query };
  return { run: null, view: parts[0] ?? "runs", id: "", query };
}

/** The views of a run; an address that names another one is put right by `RunPage`. */
export const VIEWS: readonly string[] = ["overview", "graph", "nodes", "node", "failures", "analysis", "islands", "arena", "game", "writers", "facts"];

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** The address of a view of a run; a replay stays a replay. */
export function href(run: string, view = "overview", id = "", query: Record<string, string> = {}): string {
  const kept = parse(location.hash);
  const search = new URLSearchParams(query);
  const speed = kept.run === run ? kept.query.get("speed") : null;
  if (speed && !search.has("speed")) search.set("speed", speed);
  const tail = search.size ? `?${search}` : "";
  return `#/run/${encodeURIComponent(run)}/${view}${id ? `/${encodeURIComponent(id)}` : ""}${tail}`;
}

/** The ply of a game that an address says; null: the newest one. */
export function plyOf({ query }: Route): number | null {
  const said = query.get("ply") ?? "";
  return /^\d{1,6}$/.test(said) ? Number(said) : null;
}

/** The address of a comparison. */
export function compareHref(runs: readonly string[]): string {
  return `#/compare?runs=${runs.map(encodeURIComponent).join(",")}`;
}

/** The address of a sweep. */
export function sweepHref(name: string): string {
  return `#/sweep?name=${encodeURIComponent(name)}`;
}

/** The address with some of what it says changed; '' takes a part out. */
export function saying(hash: string, changes: Record<string, string>): string {
  const [path = "", search = ""] = hash.replace(/^#/, "").split("?", 2);
  const query = new URLSearchParams(search);
  for (const [name, value] of Object.entries(changes)) {
    if (value) query.set(name, value);
    else query.delete(name);
  }
  return `#${path || "/"}${query.size ? `?${query}` : ""}`;
}

/** Milliseconds between two changes of the address: browsers refuse more than some hundred in a while. */
const PAUSE = 300;
let unsaid: Record<string, string> = {};
let timer = 0;
let written = -Infinity;
const listeners = new Set<() => void>();

/** Let the address say what is shown: at once for every view, soon in the browser's line. No step of the way back. */
export function say(changes: Record<string, string>): void {
  unsaid = { ...unsaid, ...changes };
  timer ||= window.setTimeout(write, Math.max(0, written + PAUSE - performance.now()));
  for (const listener of listeners) listener();
}

function write(): void {
  const to = saying(location.hash, unsaid);
  [unsaid, timer, written] = [{}, 0, performance.now()];
  history.replaceState(history.state, "", to);
}

/** Another address: what was still to be said of the one before is void. */
function moved(): void {
  window.clearTimeout(timer);
  [unsaid, timer] = [{}, 0];
  for (const listener of listeners) listener();
}

export function go(to: string): void {
  location.hash = to;
}

/** Go on at another address, as if this one had never been asked for. */
export function redirect(to: string): void {
  location.replace(to);
}

function subscribe(listener: () => void): () => void {
  if (listeners.size === 0) window.addEventListener("hashchange", moved);
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) window.removeEventListener("hashchange", moved);
  };
}

let lastHash = "";
let lastRoute: Route | null = null;

export function useRoute(): Route {
  return useSyncExternalStore(subscribe, () => {
    const hash = Object.keys(unsaid).length ? saying(location.hash, unsaid) : location.hash;
    if (!lastRoute || lastHash !== hash) {
      lastHash = hash;
      lastRoute = parse(hash);
    }
    return lastRoute;
  });
}
