// `?` lists the keys; `g` and a letter go to a view.
import { useEffect, useRef, useState } from "react";
import { isOurs } from "../model/plain-key";
import { go, href, parse } from "../model/router";

/** Letter → the view, what people call it, and what a run without it lacks. */
const GOES: Record<string, { view: string; text: string; lacks?: string }> = {
  r: { view: "", text: "all runs" }, o: { view: "overview", text: "overview" }, g: { view: "graph", text: "graph" }, n: { view: "nodes", text: "nodes" },
  f: { view: "failures", text: "failures" }, y: { view: "analysis", text: "analysis" }, i: { view: "islands", text: "islands", lacks: "islands" },
  a: { view: "arena", text: "arena", lacks: "games" }, w: { view: "writers", text: "writers" }, s: { view: "facts", text: "setup" },
}; // prettier-ignore
const TOLD_MS = 2500;
const OTHERS: [string, string][] = [["?", "this list"], ["/", "search"], ["arrows, Enter", "graph: walk, open a node"], ["+  −  0  b", "graph: nearer, farther, all, the best"], ["←  →  Home  End", "game: moves; chart: points, Enter opens one"], ["Esc", "close, choose nothing"]];

/** `views`: those that this page can go to, beside the list of runs. */
export function Keys({ views }: { views: readonly string[] }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [told, tell] = useState("");
  useEffect(() => {
    const timer = told ? window.setTimeout(() => tell(""), TOLD_MS) : 0;
    return () => window.clearTimeout(timer);
  }, [told]);
  const why = ({ view, lacks }: (typeof GOES)[string]): string => (!view || views.includes(view) ? "" : views.length ? `this run has no ${lacks ?? view}` : "open a run first");
  const reason = useRef(why);
  reason.current = why;
  useEffect(() => {
    let began = -Infinity;
    const key = (event: KeyboardEvent) => {
      if (!isOurs(event)) return;
      if (event.key === "?") dialog.current?.showModal();
      if (event.key === "/") {
        const search = document.querySelector<HTMLInputElement>("input[type=search]");
        if (search) event.preventDefault();
        search?.focus();
      }
      const target = performance.now() - began < 1200 ? GOES[event.key] : undefined;
      if (target) {
        began = -Infinity;
        const { run } = parse(location.hash);
        const missing = reason.current(target);
        if (missing) tell(`${target.text}: ${missing}`);
        else go(target.view && run ? href(run, target.view) : "#/");
      } else began = event.key === "g" ? performance.now() : -Infinity;
    };
    window.addEventListener("keydown", key);
    return () => window.removeEventListener("keydown", key);
  }, []);
  const rows: [string, string, string][] = [...OTHERS.map(([keys, text]): [string, string, string] => [keys, text, ""]), ...Object.entries(GOES).map(([letter, target]): [string, string, string] => [`g ${letter}`, `go to ${target.text}`, why(target)])];
  return (
    <>
    <div className="said" role="status">{told}</div>
    <dialog ref={dialog} aria-label="Keys" onClick={(e) => e.target === dialog.current && dialog.current.close()}>
      <div className="stack">
        <div className="row"><h2>Keys</h2><span className="grow" /><button type="button" onClick={() => dialog.current?.close()}>Close</button></div>
        <dl className="kv">{rows.map(([keys, text, missing]) => <div key={keys} style={{ display: "contents" }}><dt><kbd>{keys}</kbd></dt><dd className={missing && "muted"}>{text}{missing && `: ${missing}`}</dd></div>)}</dl>
      </div>
    </dialog>
    </>
  );
}
