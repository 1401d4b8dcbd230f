// Addresses behind `#`: /runs, /run/ID/VIEW, /run/ID/node/NODE, /run/ID/game?id=…, with `speed` in a replay.
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

/** The address of a comparison. */
export function compareHref(runs: readonly string[]): string {
  return `#/compare?runs=${runs.map(encodeURIComponent).join(",")}`;
}

/** The address of a sweep. */
export function sweepHref(name: string): string {
  return `#/sweep?name=${encodeURIComponent(name)}`;
}

export function go(to: string): void {
  location.hash = to;
}

/** Go on at another address, as if this one had never been asked for. */
export function redirect(to: string): void {
  location.replace(to);
}

function subscribe(listener: () => void): () => void {
  window.addEventListener("hashchange", listener);
  return () => window.removeEventListener("hashchange", listener);
}

let lastHash = "";
let lastRoute: Route | null = null;

export function useRoute(): Route {
  return useSyncExternalStore(subscribe, () => {
    if (!lastRoute || lastHash !== location.hash) {
      lastHash = location.hash;
      lastRoute = parse(lastHash);
    }
    return lastRoute;
  });
}
