// Keeps a RunState current: snapshot, then the socket; after a cut it goes on from the last event; a gap is fetched.
import { ApiError, get, runPath } from "../api/client";
import type { EventPage, Frame, RunDetail, RunEvent, Snapshot } from "../api/types";
import { RunState } from "./run-state";

export type Phase = "loading" | "open" | "reconnecting" | "failed";

const FIRST_RETRY_MS = 300;
const LONGEST_RETRY_MS = 5000;
const REFUSED = new Set([401, 403, 404, 422]);
/** A run that was removed, or whose store is broken; without a token one waits on, since the address with the new one may be opened beside. */
const GONE = new Set([404, 422]);
const GIVE_UP_CODES = new Set([4403, 4404]);
/** After these the server has more to say of the run as a whole: its unit, its status, its answer. */
const TELLS_MORE = new Set<RunEvent["type"]>(["run.started", "final.scored", "run.finished"]);

export interface ReplayOptions {
  speed: number;
}

export class Connection {
  phase: Phase = "loading";
  error = "";
  reconnects = 0;
  gaps = 0;
  replayEnded = false;
  paused = false;
  version = 0;
  state: RunState;
  private socket: WebSocket | null = null;
  private closed = false;
  private retry = FIRST_RETRY_MS;
  private timer = 0;
  private queue: Promise<void> = Promise.resolve();
  private listeners = new Set<() => void>();
  private told = false;

  constructor(
    readonly run: string,
    public replay: ReplayOptions | null = null,
  ) {
    this.state = new RunState(run);
  }

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  async start(): Promise<void> {
    try {
      const at = this.replay ? "?at=0" : "";
      const snapshot = await get<Snapshot>(runPath(this.run, `/snapshot${at}`));
      if (this.closed) return;
      this.state.load(this.replay ? { ...snapshot, run: { ...snapshot.run, live: false } } : snapshot);
      this.connect();
    } catch (error) {
      if (this.closed) return;
      this.error = (error as Error).message;
      // a run that has only just begun has no tables yet (409): that passes
      if (error instanceof ApiError && REFUSED.has(error.status)) this.set("failed");
      else this.again(() => void this.start());
    }
  }

  close(): void {
    this.closed = true;
    window.clearTimeout(this.timer);
    this.socket?.close();
  }

  /** Replay only: another speed, or a pause. */
  command(change: { speed?: number; paused?: boolean }): void {
    if (change.speed && this.replay) this.replay = { speed: change.speed };
    if (change.paused !== undefined) this.paused = change.paused;
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(change));
    this.changed();
  }

  /** Of a replay that has ended: from its first event again. */
  rewind(): void {
    if (!this.replayEnded) return;
    const before = this.socket;
    this.socket = null;
    before?.close();
    window.clearTimeout(this.timer);
    this.state = new RunState(this.run);
    this.replayEnded = this.paused = false;
    this.set("loading");
    void this.start();
  }

  private connect(): void {
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    const speed = this.replay ? `&speed=${this.replay.speed}` : "";
    const query = `run=${encodeURIComponent(this.run)}&after=${this.state.seq}${speed}`;
    const socket = new WebSocket(`${scheme}://${location.host}/ws?${query}`);
    this.socket = socket;
    socket.onopen = () => {
      this.retry = FIRST_RETRY_MS;
      this.error = "";
      this.set("open");
      if (this.replay && this.paused) socket.send(JSON.stringify({ paused: true }));
    };
    // frames are taken one after the other, also while a gap is being fetched; after one that could not be taken none of this
    // socket is, or what it held would be passed over: the next connection goes on from the last event that was taken
    let broken = false;
    socket.onmessage = (message) => {
      const frame = JSON.parse(message.data as string) as Frame;
      this.queue = this.queue
        .then(() => (broken || this.socket !== socket ? undefined : this.take(frame)))
        .catch(() => {
          broken = true;
          socket.close();
        });
    };
    socket.onclose = (event) => {
      if (this.closed || this.socket !== socket) return;
      if (GIVE_UP_CODES.has(event.code)) {
        this.error = event.reason || "the server refused the connection";
        this.set("failed");
        return;
      }
      this.reconnects += 1;
      this.again(() => void this.queue.then(() => this.reconnect()));
    };
  }

  /** A browser does not tell why it was refused: whether the server still knows us is asked for first. */
  private async reconnect(): Promise<void> {
    try {
      await this.ask();
      if (!this.closed) this.connect();
    } catch (error) {
      if (this.closed) return;
      this.error = (error as Error).message;
      if (error instanceof ApiError && GONE.has(error.status)) this.set("failed");
      else this.again(() => void this.reconnect());
    }
  }

  private async ask(): Promise<void> {
    const run = await get<RunDetail>(runPath(this.run));
    if (!this.closed) this.state.tell(run);
    this.changed();
  }

  private async take(frame: Frame): Promise<void> {
    if (frame.kind === "events") {
      await this.reduce(frame.events);
    } else if (frame.kind === "gap") {
      this.gaps += 1;
      await this.fill(frame.to);
    } else if (frame.kind === "status") {
      if (!this.replay && this.state.live !== frame.live) {
        this.state.lives(frame.live);
        await this.ask().catch(() => undefined);
      }
    } else {
      this.replayEnded = true;
    }
    this.changed();
  }

  private async reduce(events: readonly RunEvent[]): Promise<void> {
    for (const event of events) this.state.apply(event);
    if (this.replay) return;
    if (!this.state.live) this.state.lives(false); // the last words of a process that was killed
    if (events.some((event) => TELLS_MORE.has(event.type))) await this.ask().catch(() => undefined);
  }

  private async fill(to: number): Promise<void> {
    while (this.state.seq < to) {
      const limit = Math.min(5000, to - this.state.seq);
      const page = await get<EventPage>(runPath(this.run, `/events?after=${this.state.seq}&limit=${limit}`));
      if (page.events.length === 0) return;
      await this.reduce(page.events);
    }
  }

  private again(action: () => void): void {
    this.set("reconnecting");
    this.timer = window.setTimeout(action, this.retry);
    this.retry = Math.min(LONGEST_RETRY_MS, this.retry * 1.7);
  }

  private set(phase: Phase): void {
    this.phase = phase;
    this.changed();
  }

  /** Views are told at most once a frame, however many events come. */
  private changed(): void {
    if (this.told) return;
    this.told = true;
    window.setTimeout(() => {
      this.told = false;
      this.version += 1;
      for (const listener of this.listeners) listener();
    }, 60);
  }
}
