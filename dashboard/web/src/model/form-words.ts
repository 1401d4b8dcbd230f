// A refusal of a new run in the words of its form: the command line names the keys of the configuration.
const FIELDS: Record<string, string> = {
  "problem.name": "name", "problem.program": "program", "problem.evaluator": "evaluator", "problem.metric": "metric", "problem.direction": "direction",
  "data.target": "target", "data.metric": "metric", "data.classes": "classes", "data.split": "split", "llm.code.model": "model",
  "search.policy": "policy", "search.max_steps": "max_steps", "search.max_generations": "max_generations", "search.workers": "workers",
  "budget.seconds": "seconds", "budget.usd": "usd", "project.seed": "seed",
};

/** `KEY=VALUE: why` and `KEY is not set` with the label of the field that holds the key; as it is where the form has no such field. `labelOf` gives the label of a field by its name, '' for none. */
export function inWordsOfTheForm(text: string, labelOf: (field: string) => string): string {
  return text.replace(/^(?:--)?([a-z]+(?:\.[a-z_]+)+)(=| (?=is ))/, (whole, key: string) => {
    const label = Object.hasOwn(FIELDS, key) ? labelOf(FIELDS[key]) : "";
    return label ? `${label} ` : whole;
  });
}

/** The label of a form's field, without the choices and values that stand below it. */
export function labelIn(form: HTMLFormElement | null, field: string): string {
  const found = form?.elements.namedItem(field);
  return found instanceof HTMLInputElement || found instanceof HTMLSelectElement ? (found.labels?.[0]?.firstChild?.textContent ?? "").trim() : "";
}
