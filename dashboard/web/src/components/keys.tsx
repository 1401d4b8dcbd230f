// `?` lists the keys; `g` and a letter go to a view.
import { useEffect, useRef } from "react";
import { go, href, parse } from "../model/router";

const GOES: Record<string, [string, string]> = {
  r: ["", "all runs"], o: ["overview", "overview"], g: ["graph", "graph"], n: ["nodes", "nodes"], f: ["failures", "failures"],
  y: ["analysis", "analysis"], i: ["islands", "islands"], a: ["arena", "arena"], w: ["writers", "writers"], s: ["facts", "setup"],
}; // prettier-ignore
const OTHERS: [string, string][] = [["?", "this list"], ["/", "search"], ["arrows, Enter", "graph: walk, open a node"], ["+  −  0  b", "graph: nearer, farther, all, the best"], ["←  →  Home  End", "game: moves"], ["Esc", "close, choose nothing"]];

export function Keys() {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    let began = -Infinity;
    const key = (event: KeyboardEvent) => {
      const at = event.target;
      if (event.ctrlKey || event.metaKey || event.altKey || (at instanceof HTMLElement && at.matches("input, textarea, select"))) return;
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
        if (!target[0]) go("#/");
        else if (run) go(href(run, target[0]));
      } else began = event.key === "g" ? performance.now() : -Infinity;
    };
    window.addEventListener("keydown", key);
    return () => window.removeEventListener("keydown", key);
  }, []);
  const rows: [string, string][] = [...OTHERS, ...Object.entries(GOES).map(([letter, [, text]]): [string, string] => [`g ${letter}`, `go to ${text}`])];
  return (
    <dialog ref={dialog} aria-label="Keys" onClick={(e) => e.target === dialog.current && dialog.current.close()}>
      <div className="stack">
        <div className="row"><h2>Keys</h2><span className="grow" /><button type="button" onClick={() => dialog.current?.close()}>Close</button></div>
        <dl className="kv">{rows.map(([keys, text]) => <div key={keys} style={{ display: "contents" }}><dt><kbd>{keys}</kbd></dt><dd>{text}</dd></div>)}</dl>
      </div>
    </dialog>
  );
}
