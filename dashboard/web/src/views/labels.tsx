// Title, note and tags of a run: the user's own words, kept beside its store.
import { useState } from "react";
import { patch, runPath } from "../api/client";
import type { Labels, LabelsRequest, RunSummary } from "../api/types";

export const label = (run: string, change: LabelsRequest): Promise<Labels> => patch<Labels>(runPath(run, "/labels"), change);

export function LabelEditor({ line, done }: { line: RunSummary; done: () => void }) {
  const [error, setError] = useState("");
  const save = async (form: FormData) => {
    const tags = words(form.get("tags"));
    const known = line.tags ?? [];
    try {
      await label(line.run, {
        title: String(form.get("title")), note: String(form.get("note")),
        add: tags.filter((tag) => !known.includes(tag)), remove: known.filter((tag) => !tags.includes(tag)),
      }); // prettier-ignore
      done();
    } catch (problem) {
      setError((problem as Error).message);
    }
  };
  return (
    <form action={save} className="stack" style={{ gap: 8, padding: "4px 0", position: "sticky", left: 8, maxWidth: "min(100%, calc(100vw - 72px))" }} aria-label={`Words on ${line.run}`}>
      <div className="form">
        <label className="field">Title<input name="title" maxLength={120} defaultValue={line.title} placeholder={line.run} /></label>
        <label className="field">Tags<input name="tags" defaultValue={(line.tags ?? []).join(" ")} placeholder="paper draft" /></label>
      </div>
      <label className="field">Note<textarea name="note" maxLength={4000} defaultValue={line.note} /></label>
      <div className="row"><button type="submit" className="primary">Save</button><button type="button" onClick={done}>Cancel</button>{error && <span className="bad small" role="alert">{error}</span>}</div>
    </form>
  );
}

const words = (text: FormDataEntryValue | null): string[] => String(text ?? "").split(/[\s,]+/).filter(Boolean);
