// The state of one run: a reduction of its events. A snapshot is a shorter list of the same events, so there is one way
// in, live, reloaded and replayed.
import type { Committed, EventOf, RunDetail, RunEvent, Snapshot, Totals } from "../api/types";
import { isScored } from "./scored";
import { isStep, learn } from "./operators";

/** `metric`: of an engine its newest rating, `first` the one that it got first.
 * `step`: steps up to it, where it stands on an axis; `number`: which step it is, as every surface says, null for what is none. */
export type NodeFact = Committed & { index: number; number: number | null; mark?: "pinned" | "banned"; improves?: Improvement; first?: number | null };

/** What a score was beside all before it: the first one, or an improvement, as `reports/improvements.py` counts them. */
export type Improvement = "first" | "better";

export interface OpenNode {
  id: string;
  operator: string;
  parents: string[];
  island: number | null;
  stage: string;
  /** When its last stage was done, in milliseconds. */
  since: number;
  /** Who holds its ticket, in its own words; absent where nobody outside writes. */
  holder?: string;
}

export interface GameState {
  id: string;
  game: string;
  white: string;
  black: string;
  fen: string;
  last: string;
  san: string;
  ply: number;
  clock: readonly (number | null)[];
  result: string | null;
  termination: string | null;
  /** Of the round robin that it belongs to; null: a game of the final part. */
  generation: number | null;
  seq: number;
}

export interface Rating {
  node_id: string;
  name: string;
  elo: number;
  low: number;
  high: number;
  wins: number;
  draws: number;
  losses: number;
  score: number;
}

/** Games that were played for one thing: the round robin or the gate of a generation, or the final part. */
export interface Played {
  type: "games";
  /** `gate 2`, `round robin 2`, `final`. */
  of: string;
  games: GameState[];
  /** Of the newest of them. */
  seq: number;
  at?: string;
}

/** A process of the run was gone after this event: no `run.finished` came of it. No event says so, it stands between two. */
export interface Died {
  type: "died";
  seq: number;
  at: string;
}

export type Happened = RunEvent | Played | Died;

export interface GenerationState {
  generation: number;
  champion: string | null;
  ratings: Rating[];
  promoted: string[];
  decision: Record<string, unknown>;
  questions: EventOf<"strategist.question">[];
  done: boolean;
}

/** A baseline with its score: run beside the search, or a first node of it. */
export interface Reference {
  id: string;
  name: string;
  metric: number;
}

/** Engines that only the final part is played against, and the one of the gate. */
const GAUNTLET = "gauntlet:";
const SPARRING = "sparring";
/** True for a game of the gate, which an engine has to pass before its tournament. */
export const isGate = ({ white, black }: { white: string; black: string }): boolean => white === SPARRING || black === SPARRING;
/** What only a search that goes on brings, and of games those outside of the final part. */
const SEARCHING = /^(node\.(proposed|stage|committed)|llm\.called|ticket\.|candidate\.|generation\.|builder\.|strategist\.|island\.|game\.)/;
const FEED = 300;
/** Warnings kept, newest last. */
export const WARNINGS = 200;
const FEED_TYPES = new Set([
  "run.started", "run.finished", "node.committed", "baseline.scored", "final.scored", "island.migrated", "island.reset",
  "generation.started", "generation.finished", "strategist.question", "candidate.rejected",
  "note.added", "node.marked", "ticket.closed", "warning",
]); // prettier-ignore

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
  games = new Map<string, GameState>();
  generations = new Map<number, GenerationState>();
  /** Generations that the search began; generation 0 may be rated without that. */
  begun = new Set<number>();
  names = new Map<string, string>();
  /** What happened, oldest first; games are one thing that goes on while more of them are played. */
  feed: Happened[] = [];
  notes: EventOf<"note.added">[] = [];
  warnings: EventOf<"warning">[] = [];
  baselines: EventOf<"baseline.scored">[] = [];
  migrations: EventOf<"island.migrated">[] = [];
  started: EventOf<"run.started"> | null = null;
  finished: EventOf<"run.finished"> | null = null;
  final: EventOf<"final.scored"> | null = null;
  /** Baselines that were scored beside the search: they are none of its nodes, and may win. */
  beside: NodeFact[] = [];
  /** Who holds the title: the newest tournament's first, else who the newest generation began with. */
  champion: string | null = null;
  /** Of each engine its newest rating, over all rated games up to then: the one Elo that every view shows. */
  rated = new Map<string, Rating>();
  elapsed = 0;
  /** Events that arrived out of order or twice: must stay 0. */
  faults = 0;

  /** Milliseconds: those of earlier processes, when this one began, its newest event. */
  private before = 0;
  private began = 0;
  private newest = 0;
  /** When the seconds of the search were last told, or this process began, and its newest event since: milliseconds. */
  private toldAt = 0;
  private searchedAt = 0;

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
    return this.over ? this.leads : (this.champion ?? this.leads);
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
    const beside = this.baselines.map((b) => ({ id: b.node_id, name: b.own ? "your program" : b.name, metric: this.rated.get(b.node_id)?.elo ?? b.metric }));
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

  /** Seconds of the search up to its newest event, resumes added up: what is being worked on counts too. */
  get worked(): number {
    return this.elapsed + Math.max(0, this.searchedAt - this.toldAt) / 1000;
  }

  /** Generations begun: told by the arena, known by their nodes on islands. */
  get generationsBegun(): number {
    const numbers = new Set(this.begun);
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
    return [...this.begun].filter((number) => this.generations.get(number)?.done).length;
  }

  /** Seconds from the begin of each process to its last event, all added up: the search and its final part. */
  get whole(): number {
    return (this.before + this.newest - this.began) / 1000;
  }

  get hasArena(): boolean {
    return this.games.size > 0 || [...this.generations.values()].some((g) => g.ratings.length > 0 || g.questions.length > 0);
  }

  get hasIslands(): boolean {
    return this.nodes.some((node) => node.island != null);
  }

  name(id: string): string {
    const kind = id.indexOf(":"); // `gauntlet:NAME`, `sparring:NAME`: reference engines, which are no nodes
    return this.names.get(id) || (kind >= 0 ? id.slice(kind + 1) : id.slice(0, 8));
  }

  private count(event: EventOf<"llm.called">): void {
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
      if (this.started && !this.ended) this.tellFeed(this.died(event.seq - 1));
      this.before += this.newest - this.began;
      this.began = at;
      this.toldAt = this.searchedAt = at;
    }
    if (this.began && at) this.newest = at;
    switch (event.type) {
      case "run.started":
        this.started = event;
        this.finished = null;
        this.final = null;
        this.finalPart = false;
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
      default:
        this.reduceArena(event);
    }
    if (at && SEARCHING.test(event.type) && !this.finalPart) this.searchedAt = at;
    if (FEED_TYPES.has(event.type) && !(event.type === "baseline.scored" && this.byId.has(event.node_id))) {
      this.tellFeed(event);
    }
  }

  /** The feed, and last how it broke off, by the same rule by which lists say `interrupted`. */
  get happened(): readonly Happened[] {
    const broke = this.atEnd && this.started && !this.ended && this.status === "interrupted";
    return broke ? [...this.feed, this.died(this.seq)] : this.feed;
  }

  private died(after: number): Died {
    return { type: "died", seq: after + 0.5, at: new Date(this.newest).toISOString() };
  }

  private tellFeed(what: Happened): void {
    this.feed.push(what);
    if (this.feed.length > FEED * 2) this.feed = this.feed.slice(-FEED);
  }

  /** A game joins those that are played for the same thing, and they are the newest thing that happened. */
  private tellGame(game: GameState, at: string | undefined): void {
    const of = game.generation === null ? "final" : `${isGate(game) ? "gate" : "round robin"} ${game.generation}`;
    const place = this.feed.findLastIndex((what) => what.type === "games" && what.of === of);
    const known = place < 0 ? undefined : (this.feed.splice(place, 1)[0] as Played);
    const games = known?.games ?? [];
    games.push(game);
    this.tellFeed({ type: "games", of, games, seq: game.seq, at });
  }

  private commit(event: Committed): void {
    if (this.byId.has(event.node_id)) return;
    const step = (this.nodes.at(-1)?.step ?? 0) + (isStep(event.operator) ? 1 : 0);
    const node: NodeFact = { ...event, index: this.nodes.length, step, number: isStep(event.operator) ? step : null, improves: this.improvement(event) };
    const rating = this.rated.get(event.node_id);
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
    this.elapsed = Math.max(this.elapsed, event.elapsed);
    this.toldAt = Date.parse(event.at ?? "") || this.toldAt;
  }

  /** By the same rule as `reports/improvements.py`; of an engine, that it took the title in its first tournament. */
  private improvement(event: Committed): Improvement | undefined {
    if (!isStep(event.operator) || !isScored(event)) return undefined;
    const tournament = this.generations.get(event.generation ?? -1);
    const leads = tournament?.promoted.length ? tournament.promoted[0] === event.node_id : event.is_best;
    return !leads ? undefined : this.scored ? "better" : "first";
  }

  private mark(event: EventOf<"node.marked">): void {
    const node = this.byId.get(event.node_id);
    if (node) node.mark = event.mark === "none" ? undefined : event.mark;
  }

  private reduceArena(event: RunEvent): void {
    switch (event.type) {
      case "generation.started":
        this.generation(event.generation).champion = event.champion ?? null;
        this.champion = event.champion || this.champion;
        this.begun.add(event.generation);
        this.finalPart = false;
        break;
      case "strategist.question":
        this.generation(event.generation).questions.push(event);
        break;
      case "builder.completed":
        if (event.name) this.names.set(event.node_id, event.name);
        break;
      case "generation.finished": {
        const generation = this.generation(event.generation);
        generation.ratings = (event.ratings ?? []) as unknown as Rating[];
        generation.promoted = event.promoted ?? [];
        this.champion = generation.promoted[0] || this.champion;
        generation.decision = (event.decision ?? {}) as Record<string, unknown>;
        generation.done = true;
        for (const rating of generation.ratings) this.rate(rating);
        break;
      }
      case "game.started":
        this.games.set(event.game_id, {
          id: event.game_id, game: event.game, white: event.white, black: event.black, fen: event.start, last: "",
          san: "", ply: 0, clock: [null, null], result: null, termination: null, seq: event.seq,
          generation: this.generationOf(event),
        }); // prettier-ignore
        break;
      case "game.move": {
        const game = this.games.get(event.game_id);
        if (!game) break;
        game.fen = event.fen;
        game.last = event.uci;
        game.san = event.san;
        game.ply = event.ply;
        game.clock = event.clock ?? [null, null];
        game.seq = event.seq;
        break;
      }
      case "game.finished": {
        const game = this.games.get(event.game_id);
        if (!game) break;
        game.result = event.result;
        game.termination = event.termination;
        game.seq = event.seq;
        this.tellGame(game, event.at);
        break;
      }
    }
  }

  private rate(rating: Rating): void {
    if (rating.name) this.names.set(rating.node_id, rating.name);
    if (!Number.isFinite(rating.elo)) return;
    this.rated.set(rating.node_id, rating);
    const node = this.byId.get(rating.node_id);
    if (node?.metric == null) return;
    node.first ??= node.metric;
    node.metric = rating.elo;
  }

  /** A stage is done: what follows it has begun. */
  private reach(node: OpenNode, stage: string, at: string | undefined): void {
    node.stage = stage;
    node.since = Date.parse(at ?? "");
  }

  private finalPart = false;

  private generation(number: number): GenerationState {
    let found = this.generations.get(number);
    if (!found) {
      found = { generation: number, champion: null, ratings: [], promoted: [], decision: {}, questions: [], done: false };
      this.generations.set(number, found);
    }
    return found;
  }

  /** The newest one; null once it is rated, or the gauntlet has sat down, and no further one began: the final part is played. */
  private generationOf({ white, black }: { white: string; black: string }): number | null {
    const newest = Math.max(0, ...this.generations.keys());
    this.finalPart ||= white.startsWith(GAUNTLET) || black.startsWith(GAUNTLET) || (this.generations.get(newest)?.done ?? false);
    return this.finalPart ? null : newest;
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
