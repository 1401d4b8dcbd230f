// Pin, ban and free: sent to the running search, which applies it between two rounds and writes the event.
import { useEffect, useState } from "react";
import { post, runPath } from "../api/client";
import type { Mark } from "../api/types";
import type { Connection } from "../model/connection";

export function Marks({ connection, id, mark }: { connection: Connection; id: string; mark: Mark }) {
  const { state } = connection;
  const [asked, setAsked] = useState<Mark | null>(null);
  const [error, setError] = useState("");
  useEffect(() => setAsked(null), [mark, id]);
  const can = state.live && !connection.replay;
  const send = async (next: Mark) => {
    setError("");
    try {
      await post(runPath(state.id, `/nodes/${id}/mark`), { mark: next });
      setAsked(next);
    } catch (problem) {
      setError((problem as Error).message);
    }
  };
  const title = can ? "applied between two rounds" : "only a running search can be told";
  const button = (value: "pinned" | "banned", text: string) => (
    <button type="button" disabled={!can} title={title} aria-pressed={mark === value} onClick={() => void send(mark === value ? "none" : value)}>
      {asked === value ? `${text}…` : mark === value ? `${text}ned` : text}
    </button>
  );
  return (
    <span className="row">
      {button("pinned", "Pin")}
      {button("banned", "Ban")}
      {!can && <span className="muted small">while it runs</span>}
      {error && <span className="bad small" role="alert">{error}</span>}
    </span>
  );
}
