import { renderToStaticMarkup } from "react-dom/server";
import { expect, it } from "vitest";
import { Quote } from "./quote";

it("says of the scores what the terminal says before a run, as text", () => {
  const told = { refusal: "", writer: "rules", proposals: 14, note: ["<b> counts as positive"], warnings: [] };
  const plan = { told, waiting: false, error: "", ask: () => undefined };
  expect(renderToStaticMarkup(<Quote plan={plan} llm="rules" refused={false} />)).toContain("<li>&lt;b&gt; counts as positive</li>");
  expect(renderToStaticMarkup(<Quote plan={plan} llm="rules" refused />)).not.toContain("counts as positive");
});
