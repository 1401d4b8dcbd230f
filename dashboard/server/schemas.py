"""What the API answers and accepts. The page's TypeScript types are generated from these models."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from core.events import Event
from core.state.node import FREE_OPERATORS, MetricSource, Node, Operator


class Model(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Problem(Model):
    """Why a request was refused."""

    detail: str


class ReplayAt(Model):
    run: str
    speed: float


class Health(Model):
    ok: bool
    runs: int
    page_built: bool
    replay: ReplayAt | None = None
    """Set when the server was started by `replay --serve`: the page opens it."""


class RunSummary(Model):
    """One line of the list of runs."""

    run: str
    problem: str = ""
    status: Literal["running", "finished", "interrupted", "failed", "starting", "unreadable"]
    live: bool
    """A process holds the run right now."""
    started_at: str | None = None
    steps: int = 0
    best_metric: float | None = None
    best_node_id: str | None = None
    lower_is_better: bool = False
    unit: str = ""
    writer: str = ""
    cost_usd: float | None = None
    error: str = ""
    """Why the store cannot be read."""


class RunDetail(RunSummary):
    """A run's facts; secrets in `config` were masked before they were stored."""

    policy: str = ""
    sandbox: dict[str, Any] = Field(default_factory=dict)
    config: dict[str, Any] = Field(default_factory=dict)
    baselines: list[dict[str, Any]] = Field(default_factory=list)
    final: dict[str, Any] | None = None
    environment: dict[str, Any] = Field(default_factory=dict)
    budget: dict[str, float | int | None] = Field(default_factory=dict)
    max_steps: int | None = None
    max_generations: int | None = None
    reason: str = ""
    """Which limit ended it."""
    elapsed: float = 0.0
    last_seq: int = 0
    free_operators: list[str] = Field(default_factory=lambda: sorted(FREE_OPERATORS))
    """Nodes of these operators are no steps of the search."""


class Totals(Model):
    """Sums over the answered calls; null where nothing was counted (`rules`)."""

    calls: int = 0
    cached: int = 0
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost_usd: float | None = None
    seconds: float = 0.0


class Snapshot(Model):
    """The state at `as_of_seq`, as the few events that made it: the page reduces them like live ones."""

    as_of_seq: int
    run: RunDetail
    totals: Totals
    events: list[Event]


class EventPage(Model):
    events: list[Event]
    last_seq: int


class NodePage(Model):
    total: int
    nodes: list[NodeRow]


class NodeRow(Model):
    """A node in a list: no code, no output."""

    node_id: str
    step: int
    parent_ids: list[str]
    operator: Operator
    generation: int | None = None
    island: int | None = None
    metric: float | None = None
    metric_source: MetricSource | None = None
    claimed_metric: float | None = None
    is_buggy: bool = False
    is_valid: bool = True
    failure: str | None = None
    exec_time: float = 0.0
    writer: str = ""


class NodeDetail(Model):
    """A node, whole. All its texts are untrusted."""

    node: Node
    children_ids: list[str]
    why: dict[str, Any]
    stages: dict[str, float]
    """Seconds by stage."""
    mark: Literal["pinned", "banned", "none"]
    totals: Totals


class DiffLine(Model):
    kind: Literal["same", "add", "del", "skip"]
    old: int | None = None
    new: int | None = None
    text: str = ""


class Diff(Model):
    node_id: str
    against: str | None
    added: int
    removed: int
    lines: list[DiffLine]


class Call(Model):
    """A prompt and its reply. Untrusted texts."""

    role: str
    attempt: int
    provider: str
    model: str
    system: str
    user: str
    reply: str
    finish_reason: str
    prompt_tokens: int | None
    completion_tokens: int | None
    cost_usd: float | None
    seconds: float
    tries: int
    cached: bool


class LiveTail(Model):
    """The last output of a candidate that runs now. Untrusted text."""

    node_id: str
    text: str
    cut: bool
    """True if there was more before it."""


class Curve(Model):
    run: str
    problem: str
    lower_is_better: bool
    unit: str
    steps: list[int]
    best: list[float]


class FailureCount(Model):
    failure: str
    count: int
    advice: str
    operators: dict[str, int]
    example: str
    """Id of the newest node that failed so."""
    message: str
    """Its message. Untrusted text."""


class Island(Model):
    island: int
    nodes: int
    scored: int
    best_metric: float | None
    best_node_id: str | None
    mean_metric: float | None
    resets: int
    history: list[tuple[int, float]]
    """(generation or step, best so far)."""


class Islands(Model):
    islands: list[Island]
    migrations: list[dict[str, Any]]


class Generation(Model):
    generation: int
    nodes: int
    scored: int
    best_metric: float | None
    mean_metric: float | None
    champion: str | None = None
    promoted: list[str] = Field(default_factory=list)
    ratings: list[dict[str, Any]] = Field(default_factory=list)
    decision: dict[str, Any] = Field(default_factory=dict)


class Engine(Model):
    """An engine of the arena with its newest rating."""

    node_id: str
    name: str
    generation: int | None
    elo: float | None
    low: float | None
    high: float | None
    wins: int
    draws: int
    losses: int
    parent_id: str | None
    champion_in: list[int]


class GameRow(Model):
    game_id: str
    game: str
    white: str
    black: str
    result: str | None
    termination: str | None
    plies: int
    generation: int | None


class GamePage(Model):
    total: int
    games: list[GameRow]


class Move(Model):
    ply: int
    uci: str
    san: str
    fen: str
    clock: tuple[float | None, float | None]
    seconds: float


class GameDetail(GameRow):
    start: str
    opening: list[str]
    moves: list[Move]


class CostRow(Model):
    role: str
    provider: str
    model: str
    calls: int
    prompt_tokens: int | None
    completion_tokens: int | None
    cost_usd: float | None
    seconds: float | None


class Cost(Model):
    totals: Totals
    rows: list[CostRow]


class Presets(Model):
    problems: dict[str, list[str]]
    """Problem preset → names it knows."""
    llms: list[str]
    policies: list[str]


class StartRequest(Model):
    """A new run. Every value is a choice or a number: no path and no command comes from a client."""

    problem: str = Field(pattern=r"^[a-z][a-z0-9_]{0,40}$")
    name: str | None = Field(None, pattern=r"^[A-Za-z0-9_][A-Za-z0-9_-]{0,60}$")
    llm: str = Field("rules", pattern=r"^[a-z][a-z0-9_-]{0,40}$")
    policy: Literal["three_phase", "mcts", "islands", "generations"] | None = None
    max_steps: int | None = Field(None, ge=0, le=1_000_000)
    max_generations: int | None = Field(None, ge=0, le=100_000)
    seconds: float | None = Field(None, ge=0, le=10_000_000)
    usd: float | None = Field(None, ge=0, le=100_000)
    seed: int | None = Field(None, ge=0, le=2**53)
    workers: int | None = Field(None, ge=1, le=256)


class Launch(Model):
    """A child process that executes `main.py`."""

    launch: str
    state: Literal["starting", "running", "ended"]
    run: str | None
    exit_code: int | None
    output: str
    """The last lines it printed."""


class NoteRequest(Model):
    text: str = Field(min_length=1, max_length=4000)


class MarkRequest(Model):
    mark: Literal["pinned", "banned", "none"]


class Accepted(Model):
    accepted: bool
    detail: str


class EventsFrame(Model):
    """Server → client on `/ws`: at most 256 events, `seq` from…to."""

    kind: Literal["events"]
    from_: int = Field(alias="from")
    to: int
    events: list[Event]


class GapFrame(Model):
    """This client was too slow: it lost the events from…to (both included) and can fetch them by REST."""

    kind: Literal["gap"]
    from_: int = Field(alias="from")
    to: int


class StatusFrame(Model):
    """Told on connecting and when it changes."""

    kind: Literal["status"]
    live: bool
    last_seq: int


class EndFrame(Model):
    """A replay has shown everything."""

    kind: Literal["end"]
    last_seq: int


class ReplayCommand(Model):
    """Client → server during a replay."""

    speed: float | None = Field(None, ge=0.1, le=10_000)
    paused: bool | None = None


NodePage.model_rebuild()
FRAMES = (EventsFrame, GapFrame, StatusFrame, EndFrame, ReplayCommand)
