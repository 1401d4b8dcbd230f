// What one takes along of a run: its report and the winner's files. All are saved, none is shown.
import { useState } from "react";
import { post, runPath } from "../api/client";
import type { SolutionFile } from "../api/types";
import { Failed, Panel } from "../components/widgets";
import { bytes } from "../model/format";
import { useResource } from "../model/hooks";
import type { RunState } from "../model/run-state";

export function TakeAlong({ state }: { state: RunState }) {
  const { data: files, error, reload } = useResource<SolutionFile[]>(state.live ? null : runPath(state.id, "/solution"));
  const [writing, setWriting] = useState(false);
  const [refusal, setRefusal] = useState("");
  const write = () => {
    setWriting(true);
    setRefusal("");
    void post(runPath(state.id, "/solution")).then(reload, (problem: Error) => setRefusal(problem.message)).finally(() => setWriting(false));
  };
  const path = (rest: string) => `/api${runPath(state.id, rest)}`;
  return (
    <Panel title="To take along">
      <div className="stack" style={{ gap: 6 }}>
        <div className="row"><a className="button" href={path("/report.html")} download>Report</a><span className="muted small">one HTML file that opens offline</span></div>
        {error && <Failed error={error} />}
        {files && state.best && (files.length === 0 || !state.finished) && (
          <div className="row"><button type="button" disabled={writing} onClick={write}>{writing ? "Writing…" : "Write the winner's files"}</button><span className="muted small">{files.length === 0 ? "they are not written yet" : "the run was cut off: these are of the best by then"}</span></div>
        )}
        {refusal && <p className="bad small" role="alert">{refusal}</p>}
        {files && files.length > 0 && (
          <ul className="small" style={{ margin: 0, paddingLeft: 18, maxHeight: 220, overflow: "auto" }} tabIndex={0} aria-label="Files of the winner">
            {files.map((file) => <li key={file.name}><a className="mono" style={{ overflowWrap: "anywhere" }} href={path(`/solution/file?name=${encodeURIComponent(file.name)}`)} download>{file.name}</a> <span className="muted small">{bytes(file.bytes)}{file.name === "games.pgn" ? ": the games that the winner played" : ""}</span></li>)}
          </ul>
        )}
      </div>
    </Panel>
  );
}
