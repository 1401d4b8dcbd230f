// Title, note and tags of a run: the user's own words, kept beside its store.
import { type FormEvent, useState } from "react";
import { patch, runPath } from "../api/client";
import type { Labels, LabelsRequest, RunSummary } from "../api/types";
import { labelChanges } from "../model/runs";

export const label = (run: string, change: LabelsRequest): Promise<Labels> => patch<Labels>(runPath(run, "/labels"), change);

export function LabelEditor({ line, done }: { line: RunSummary; done: () => void }) {
  const [error, setError] = useState("");
  const [before] = useState(line); // as the fields were filled in
  const save = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault(); // an action would empty the fields, also where it is refused
    const form = new FormData(event.currentTarget);
    const said = (name: string) => String(form.get(name) ?? "");
    try {
      await label(line.run, labelChanges(before, { title: said("title"), note: said("note"), tags: said("tags") }));
      done();
    } catch (problem) {
      setError((problem as Error).message);
    }
  };
  return (
    <form onSubmit={(event) => void save(event)} className="stack" style={{ gap: 8, padding: "4px 0", position: "sticky", left: 8, maxWidth: "min(100%, calc(100vw - 72px))" }} aria-label={`Words on ${line.run}`}>
      <div className="form">
        <label className="field">Title<input name="title" maxLength={120} defaultValue={before.title} placeholder={line.run} /></label>
        <label className="field">Tags<input name="tags" defaultValue={(before.tags ?? []).join(" ")} placeholder="paper draft" /></label>
      </div>
      <label className="field">Note<textarea name="note" maxLength={4000} defaultValue={before.note} /></label>
      <div className="row"><button type="submit" className="primary">Save</button><button type="button" onClick={done}>Cancel</button>{error && <span className="bad small" role="alert">{error}</span>}</div>
    </form>
  );
}
