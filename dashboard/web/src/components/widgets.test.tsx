import { renderToStaticMarkup } from "react-dom/server";
import { expect, it, vi } from "vitest";
import type { RunState } from "../model/run-state";
import { SmallBoard } from "./boards";
import { Linked, Outcome } from "./widgets";

it("names and links the nodes that a message tells of, and nothing else", () => {
  vi.stubGlobal("location", { hash: "" });
  const names: Record<string, string> = { a5015e8e01d7: "best_fit", "705086c54fc5": "705086c5" };
  const state = { id: "r", knows: (id: string) => id in names, name: (id: string) => names[id] } as unknown as RunState;
  const shown = renderToStaticMarkup(<Linked state={state} text="as a5015e8e01d7 (0.04), 705086c54fc5 does; <b>bcf6367b63af</b>, a5015e8e01d7f" />);
  expect(shown.replace(/<a [^>]*href="([^"]*)"[^>]*>([^<]*)<\/a>/g, "[$2]($1)")).toBe(
    "as [best_fit](#/run/r/node/a5015e8e01d7) (0.04), [705086c5](#/run/r/node/705086c54fc5) does; &lt;b&gt;bcf6367b63af&lt;/b&gt;, a5015e8e01d7f",
  );
});

it("draws no board of another game for a game of one's own", () => {
  const shown = (game: string, fen: string) => renderToStaticMarkup(<SmallBoard game={game} fen={fen} last="" />);
  expect(shown("connect_four", "7/7/7/7/7/7 x")).toContain("<circle");
  const own = shown("pawn_race", "b<b/.../w.w b");
  expect(own).not.toContain("<circle");
  expect([...own.matchAll(/>([^<]*)<\/text>/g)].map((found) => found[1]).join("")).toBe("b&lt;b...w.w");
});

it("says in a word what became of a node, also of one that was left off before it had a score", () => {
  const shown = (node: Partial<Parameters<typeof Outcome>[0]["node"]>) =>
    renderToStaticMarkup(<Outcome node={{ failure: null, is_buggy: false, is_valid: true, nothing_left: false, metric: null, ...node }} />).replace(/<[^>]*>/g, "");
  expect([{}, { metric: 0 }, { is_valid: false }, { is_valid: false, nothing_left: true }, { is_buggy: true }, { is_buggy: true, failure: "timeout" as const }].map(shown)).toEqual(["not in full", "0", "duplicate", "nothing left", "buggy", "timeout"]);
});
