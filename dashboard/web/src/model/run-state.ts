// The state of one run: a reduction of its events. A snapshot is a shorter list of the same events, so there is one way
// in, live, reloaded and replayed.
import type { Committed, EventOf, RunDetail, RunEvent, Snapshot, Totals } from "../api/types";
import { ArenaState } from "./arena-state";
import type { Died, Happened, Improvement, NodeFact, OpenNode, Rating, Reference } from "./facts";
import { Happenings } from "./happenings";
import { isScored } from "./facts";
import { SearchClock } from "./search-clock";
import { isStep, learn } from "./operators";

/** What only a search that goes on brings, and of games those outside of the final part. */
const SEARCHING = /^(node\.(proposed|stage|committed)|llm\.called|ticket\.|candidate\.|generation\.|builder\.|strategist\.|island\.|game\.)/;
/** Roles of what is no call of its own: the reply of an agent's session counts what it asked. */
const NO_CALLS = new Set(["look", "session"]);
/** Warnings kept, newest last. */
export const WARNINGS = 200;

export class RunState {
  seq = 0;
  live = false;
  ended = false;
  run: RunDetail | null = null;
  totals: Totals = { calls: 0, cached: 0, seconds: 0 };
  nodes: NodeFact[] = [];
  byId = new Map<string, NodeFact>();
  children = new Map<string, string[]>();
  open = new Map<string, OpenNode>();
  names = new Map<string, string>();
  readonly arena = new ArenaState();
  readonly clock = new SearchClock();
  private readonly feed = new Happenings();
  notes: EventOf<"note.added">[] = [];
  warnings: EventOf<"warning">[] = [];
  baselines: EventOf<"baseline.scored">[] = [];
  migrations: EventOf<"island.migrated">[] = [];
  started: EventOf<"run.started"> | null = null;
  finished: EventOf<"run.finished"> | null = null;
  final: EventOf<"final.scored"> | null = null;
  /** Baselines that were scored beside the search: they are none of its nodes, and may win. */
  beside: NodeFact[] = [];
  /** Events that arrived out of order or twice: must stay 0. */
  faults = 0;

  /** The best by score, as the search tells it; the winner once the run is over. */
  private leads: string | null = null;
  private scored = 0;

  constructor(readonly id: string) {}

  load(snapshot: Snapshot): void {
    this.tell(snapshot.run); // first: what is a step stands in it
    for (const event of snapshot.events) this.reduce(event);
    this.lives(snapshot.run.live);
    this.totals = { ...snapshot.totals };
    this.seq = snapshot.as_of_seq;
  }

  /** What the server says of the run as a whole: as of the snapshot, and anew when it begins or ends. */
  tell(run: RunDetail): void {
    this.run = run;
    learn(run.operators ?? {});
    for (const { node_id: id, name, own } of run.baselines ?? []) if (typeof id === "string" && typeof name === "string") this.names.set(id, own ? "your program" : name);
  }

  /** Whether a process works on the run. Where none does, nothing is being run, however the last one ended. */
  lives(live: boolean): void {
    this.live = live;
    if (!live) this.open.clear();
  }

  /** Takes the next event of the sequence; an older one is passed over. */
  apply(event: RunEvent): void {
    if (event.seq !== this.seq + 1) this.faults += 1;
    if (event.seq <= this.seq) return;
    this.seq = event.seq;
    if (event.type === "llm.called") this.count(event);
    this.reduce(event);
  }

  get lowerIsBetter(): boolean {
    return this.started?.lower_is_better ?? this.run?.lower_is_better ?? false;
  }

  /** The run has its answer: `best` is the winner then, and no longer the best so far. */
  get over(): boolean {
    return this.finished?.status === "finished";
  }

  /** What the score is called, from the first event on. */
  get unit(): string {
    return this.started?.unit || this.run?.unit || "score";
  }

  /** One status for every view and the list: while nobody works on it, what its store says. */
  get status(): string {
    if (this.live) return "running";
    const told = this.run?.status;
    return told && told !== "running" ? told : (this.finished?.status ?? (told ? "interrupted" : "loading"));
  }

  /** The winner, before the end who leads: in an arena who holds the title. */
  get bestId(): string | null {
    return this.over ? this.leads : (this.arena.champion ?? this.leads);
  }

  get best(): NodeFact | null {
    return this.bestId ? (this.fact(this.bestId) ?? null) : null;
  }

  /** A node, or a baseline beside the search. */
  fact(id: string): NodeFact | undefined {
    return this.byId.get(id) ?? this.beside.find((one) => one.node_id === id);
  }


  /** Baselines that have a score, the best first. */
  get references(): Reference[] {
    const beside = this.baselines.map((b) => ({ id: b.node_id, name: b.own ? "your program" : b.name, metric: this.arena.rated.get(b.node_id)?.elo ?? b.metric }));
    const told = new Set(beside.map((b) => b.id));
    const nodes = this.nodes.filter((n) => n.operator === "baseline" && !n.is_buggy && !told.has(n.node_id));
    const all = [...beside, ...nodes.map((n) => ({ id: n.node_id, name: this.name(n.node_id), metric: n.metric }))];
    const scored = all.filter((b): b is Reference => b.metric != null);
    return scored.sort((a, b) => (this.lowerIsBetter ? a.metric - b.metric : b.metric - a.metric));
  }

  /** Steps of the search: baselines, the user's own programs and the like are not counted; the server says which. */
  get steps(): number {
    return this.nodes.at(-1)?.step ?? 0;
  }

  /** Nobody works on the run and all of its events are in: only now does what the server says of it hold. A replay comes to it last. */
  get atEnd(): boolean {
    return !this.live && this.run !== null && this.seq >= (this.run.last_seq ?? 0);
  }

  /** Generations begun: told by the arena, known by their nodes on islands. */
  get generationsBegun(): number {
    const numbers = new Set(this.arena.begun);
    for (const node of this.nodes) if (node.generation != null) numbers.add(node.generation);
    return numbers.size;
  }

  /** Whether a node of the run, or a baseline beside it, has this id. */
  knows(id: string): boolean {
    return this.byId.has(id) || this.beside.some((one) => one.node_id === id);
  }

  /** Generations that are over: of an arena those rated, on islands all but the newest. */
  get generationsDone(): number {
    if (!this.hasArena) return Math.max(0, this.generationsBegun - 1);
    return this.arena.done;
  }

  get hasArena(): boolean {
    return this.arena.isThere;
  }

  get hasIslands(): boolean {
    return this.nodes.some((node) => node.island != null);
  }

  /** In a line of its own: an engine or a baseline by its name, else by the step that every surface counts. */
  called(id: string): string {
    const number = this.byId.get(id)?.number;
    return this.names.get(id) || (number == null ? id.slice(0, 8) : `step ${number}`);
  }

  name(id: string): string {
    const kind = id.indexOf(":"); // `gauntlet:NAME`, `sparring:NAME`: reference engines, which are no nodes
    return this.names.get(id) || (kind >= 0 ? id.slice(kind + 1) : id.slice(0, 8));
  }

  private count(event: EventOf<"llm.called">): void {
    if (NO_CALLS.has(event.role)) return;
    const add = (sum: number | null | undefined, value: number | null | undefined) =>
      value == null ? sum : (sum ?? 0) + value;
    const totals = this.totals;
    totals.calls += 1;
    totals.cached += event.cached ? 1 : 0;
    totals.prompt_tokens = add(totals.prompt_tokens, event.prompt_tokens);
    totals.completion_tokens = add(totals.completion_tokens, event.completion_tokens);
    totals.cost_usd = add(totals.cost_usd, event.cost_usd);
    totals.seconds += event.seconds;
  }

  private reduce(event: RunEvent): void {
    const at = Date.parse(event.at ?? "");
    if (event.type === "run.started") {
      if (this.started && !this.ended) this.feed.tell(this.died(event.seq - 1, this.started.by_hand === true));
      this.clock.begin(at);
    }
    this.clock.pass(at);
    switch (event.type) {
      case "run.started":
        this.started = event;
        this.finished = null;
        this.final = null;
        this.arena.finalPart = false;
        this.ended = false;
        this.open.clear();
        break;
      case "run.finished":
        this.finished = event;
        this.ended = true;
        if (this.over && event.best_node_id) this.leads = event.best_node_id;
        this.open.clear();
        break;
      case "node.proposed":
        // an engine plays its gate before it is told by its own name
        if (event.operator === "build" && event.generation != null && !this.names.has(event.node_id)) this.names.set(event.node_id, `g${event.generation}.${event.slot}`);
        this.open.set(event.node_id, {
          id: event.node_id,
          operator: event.operator,
          parents: event.parent_ids ?? [],
          island: event.island ?? null,
          stage: "select",
          since: Date.parse(event.at ?? ""),
        });
        break;
      case "node.stage": {
        const open = this.open.get(event.node_id);
        if (open) this.reach(open, event.stage, event.at);
        break;
      }
      case "llm.called": {
        const open = event.node_id ? this.open.get(event.node_id) : undefined;
        if (open && event.role !== "ideas") this.reach(open, event.role === "feedback" ? "review" : "reply", event.at);
        break;
      }
      case "ticket.leased": {
        const open = this.open.get(event.node_id);
        if (open) open.holder = event.holder || "a writer";
        break;
      }
      case "ticket.closed": // withdrawn: no node comes of it
        this.open.delete(event.node_id);
        break;
      case "node.committed":
        this.commit(event);
        break;
      case "baseline.scored":
        this.baselines.push(event);
        if (!this.byId.has(event.node_id)) this.beside.push(besideOf(event, this.beside.length));
        if (event.name) this.names.set(event.node_id, event.own ? "your program" : event.name);
        break;
      case "final.scored":
        this.final = event;
        break;
      case "island.migrated":
        this.migrations.push(event);
        break;
      case "node.marked":
        this.mark(event);
        break;
      case "note.added":
        this.notes.push(event);
        break;
      case "warning":
        this.warnings.push(event);
        if (this.warnings.length > WARNINGS) this.warnings.shift();
        break;
      case "builder.completed":
        if (event.name) this.names.set(event.node_id, event.name);
        break;
      default:
        this.reduceArena(event);
    }
    if (at && SEARCHING.test(event.type) && !this.arena.finalPart) this.clock.search(at);
    if (!(event.type === "baseline.scored" && this.byId.has(event.node_id))) this.feed.event(event);
  }

  /** The feed, and last how it broke off, by the same rule by which lists say `interrupted`. */
  get happened(): readonly Happened[] {
    const broke = this.atEnd && this.started && !this.ended && ["interrupted", "waiting"].includes(this.status);
    return broke ? [...this.feed.all, this.died(this.seq, this.status === "waiting")] : this.feed.all;
  }

  private died(after: number, waits: boolean): Died {
    return { type: "died", seq: after + 0.5, at: new Date(this.clock.newest).toISOString(), waits };
  }

  private commit(event: Committed): void {
    if (this.byId.has(event.node_id)) return;
    const step = (this.nodes.at(-1)?.step ?? 0) + (isStep(event.operator) ? 1 : 0);
    const node: NodeFact = { ...event, index: this.nodes.length, step, number: isStep(event.operator) ? step : null, improves: this.improvement(event) };
    const rating = this.arena.rated.get(event.node_id);
    if (rating && event.metric != null) Object.assign(node, { metric: rating.elo, first: event.metric });
    this.nodes.push(node);
    this.byId.set(node.node_id, node);
    this.open.delete(node.node_id);
    for (const parent of node.parent_ids ?? []) {
      const line = this.children.get(parent);
      if (line) line.push(node.node_id);
      else this.children.set(parent, [node.node_id]);
    }
    if (event.best_node_id) this.leads = event.best_node_id;
    if (isScored(event)) this.scored += 1;
    this.clock.tell(event.elapsed, Date.parse(event.at ?? ""));
  }

  /** By the same rule as `reports/improvements.py`; of an engine, that it took the title in its first tournament. */
  private improvement(event: Committed): Improvement | undefined {
    if (!isStep(event.operator) || !isScored(event)) return undefined;
    const tournament = this.arena.generations.get(event.generation ?? -1);
    const leads = tournament?.promoted.length ? tournament.promoted[0] === event.node_id : event.is_best;
    return !leads ? undefined : this.scored ? "better" : "first";
  }

  private mark(event: EventOf<"node.marked">): void {
    const node = this.byId.get(event.node_id);
    if (node) node.mark = event.mark === "none" ? undefined : event.mark;
  }

  private reduceArena(event: RunEvent): void {
    const ended = this.arena.reduce(event);
    if (ended) this.feed.game(ended, event.at);
    if (event.type === "generation.finished") for (const rating of (event.ratings ?? []) as unknown as Rating[]) this.rate(rating);
  }

  /** An engine's newest rating is its score; the one that it got first is kept beside it. */
  private rate(rating: Rating): void {
    if (rating.name) this.names.set(rating.node_id, rating.name);
    const node = this.byId.get(rating.node_id);
    if (node?.metric == null || !Number.isFinite(rating.elo)) return;
    node.first ??= node.metric;
    node.metric = rating.elo;
  }

  /** A stage is done: what follows it has begun. */
  private reach(node: OpenNode, stage: string, at: string | undefined): void {
    node.stage = stage;
    node.since = Date.parse(at ?? "");
  }
}

/** A baseline beside the search as a node of its own, without parents; its place stands before all nodes. */
function besideOf(event: EventOf<"baseline.scored">, place: number): NodeFact {
  const failed = event.failure != null;
  return {
    type: "node.committed", seq: event.seq, at: event.at, node_id: event.node_id, operator: "baseline", parent_ids: [], metric: event.metric ?? null,
    failure: event.failure ?? null, is_buggy: failed, is_valid: !failed, exec_time: 0, elapsed: 0, step: 0, number: null, index: -1 - place,
  } as unknown as NodeFact; // prettier-ignore
}
