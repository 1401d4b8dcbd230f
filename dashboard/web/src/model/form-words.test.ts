import { expect, it } from "vitest";
import { inWordsOfTheForm } from "./form-words";

it("says a refusal with the label of the field, where the form has one", () => {
  const labels: Record<string, string> = { classes: "Classes, lowest first", model: "Model" };
  const said = (text: string) => inWordsOfTheForm(text, (field) => labels[field] ?? "");
  expect(said("data.classes=1,2: only metrics of classes")).toBe("Classes, lowest first 1,2: only metrics of classes");
  expect(said("llm.code.model is not set")).toBe("Model is not set");
  expect(said("budget.usd=-1: allowed: number >= 0")).toBe("budget.usd=-1: allowed: number >= 0");
  expect(said("constructor.name=x: no")).toBe("constructor.name=x: no");
  expect(said("set data.target=COLUMN")).toBe("set data.target=COLUMN");
});
