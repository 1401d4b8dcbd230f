import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { Connection } from "./connection";

/** A socket that says what the test says. */
class Socket {
  static all: Socket[] = [];
  readyState = 1;
  onopen?: () => void;
  onmessage?: (message: { data: string }) => void;
  onclose?: (event: { code: number; reason: string }) => void;
  constructor(readonly url: string) {
    Socket.all.push(this);
    queueMicrotask(() => this.onopen?.());
  }
  tell(frame: object): void {
    this.onmessage?.({ data: JSON.stringify(frame) });
  }
  close(): void {
    setTimeout(() => this.onclose?.({ code: 1006, reason: "" }), 1);
  }
  send(): void {}
}

const note = (seq: number) => ({ seq, at: "2026-01-05T09:30:00Z", type: "note.added", text: `note ${seq}` });
const snapshot = { run: { run: "r", live: true, last_seq: 1, operators: {}, baselines: [] }, events: [note(1)], totals: { calls: 0, cached: 0, seconds: 0 }, as_of_seq: 1 };
const told = (from: number, to: number) => ({ kind: "events", events: Array.from({ length: to - from + 1 }, (_, i) => note(from + i)) });
let answers: (path: string) => unknown;

beforeEach(() => {
  Socket.all = [];
  vi.useFakeTimers();
  vi.stubGlobal("window", globalThis);
  vi.stubGlobal("location", { protocol: "http:", host: "h", hash: "" });
  vi.stubGlobal("WebSocket", Socket);
  vi.stubGlobal("fetch", async (path: string) => ({ ok: true, json: async () => answers(path) }));
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

it("loses nothing where a gap cannot be fetched: what came after it waits for the next connection", async () => {
  let down = true;
  answers = (path) => {
    if (path.includes("/snapshot")) return snapshot;
    if (!path.includes("/events")) return snapshot.run;
    if (down) throw new Error("the server went away");
    return { events: [2, 3].map(note) };
  };
  const connection = new Connection("r");
  await connection.start();
  Socket.all[0].tell({ kind: "gap", from: 2, to: 3 });
  Socket.all[0].tell(told(4, 5));
  await vi.advanceTimersByTimeAsync(1000);
  expect(connection.state.seq).toBe(1);
  down = false;
  expect(Socket.all[1].url).toContain("after=1");
  Socket.all[1].tell({ kind: "gap", from: 2, to: 3 });
  Socket.all[1].tell(told(4, 5));
  await vi.advanceTimersByTimeAsync(1000);
  expect(connection.state.notes.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5]);
  expect(connection.state.faults).toBe(0);
  connection.close();
});

it("plays a replay again from its first event", async () => {
  answers = (path) => (path.includes("/snapshot") ? { ...snapshot, events: [], as_of_seq: 0 } : snapshot.run);
  const connection = new Connection("r", { speed: 10 });
  await connection.start();
  Socket.all[0].tell(told(1, 3));
  Socket.all[0].tell({ kind: "end", last_seq: 3 });
  await vi.advanceTimersByTimeAsync(100);
  expect([connection.state.seq, connection.replayEnded]).toEqual([3, true]);
  connection.rewind();
  await vi.advanceTimersByTimeAsync(100);
  expect([connection.state.seq, connection.replayEnded, connection.phase]).toEqual([0, false, "open"]);
  Socket.all[0].tell(told(1, 1)); // of the socket before: nobody listens to it
  Socket.all[1].tell(told(1, 2));
  await vi.advanceTimersByTimeAsync(100);
  expect(connection.state.notes.map(({ seq }) => seq)).toEqual([1, 2]);
  expect(Socket.all[1].url).toContain("after=0&speed=10");
  expect(Socket.all.length).toBe(2); // the one that was closed brings no third
  connection.close();
});
