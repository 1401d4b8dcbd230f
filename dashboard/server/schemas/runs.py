"""A run as a whole: its line in the list, its facts, its state at one moment, its cost."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, computed_field

from core.events import Event
from core.state.live_work import WorkState
from core.state.operators import Colour
from dashboard.server.schemas.base import Model
from reports.choice import Runner
from reports.control import Control
from reports.outside import Wrote
from reports.run_index import RunLine
from reports.verdict import Verdict
from reports.verdict_kind import IN_WORDS, Kind
from reports.winner import Winner


class ReplayAt(Model):
    run: str
    speed: float


class Health(Model):
    ok: bool
    runs: int
    page_built: bool
    replay: ReplayAt | None = None
    """Set when the server was started by `replay --serve`: the page opens it."""


class SolutionFile(Model):
    """A file of the winner as a standalone solution."""

    name: str
    bytes: int


class OperatorStyle(Model):
    """How an operator is shown."""

    meaning: str
    colour: Colour
    is_step: bool
    """False: its nodes are no steps of the search."""


class RunSummary(RunLine):
    """One line of the list of runs, with what the user wrote on it."""

    live: bool
    """A process holds the run right now."""
    verdict: Kind = "open"
    title: str = ""
    note: str = ""
    tags: list[str] = Field(default_factory=list)
    archived: bool = False

    @computed_field  # type: ignore[prop-decorator]
    @property
    def verdict_words(self) -> str:
        """The verdict as every list says it."""
        return IN_WORDS[self.verdict]


class RunDetail(RunSummary):
    """A run's facts; secrets in `config` were masked before they were stored."""

    winner: Winner | None = None
    best_on_validation: Runner | None = None
    best_of_search: Runner | None = None
    """Where that is not the winner."""
    effort: str = ""
    """What became of the steps, in words; '' while the run goes on."""
    unanswered: str = ""
    """What calls without an answer may cost beside the sums, in words; '' where there are none."""
    conclusion: Verdict | None = None
    """The verdict in whole sentences, as every surface says it."""
    control: Control | None = None
    """What the search added over independent draws by the same writer, with its interval."""
    problem_note: list[str] = Field(default_factory=list)
    """What the problem said of its scores before the search began, such as how tables were read. Untrusted texts."""
    sandbox: dict[str, Any] = Field(default_factory=dict)
    config: dict[str, Any] = Field(default_factory=dict)
    baselines: list[dict[str, Any]] = Field(default_factory=list)
    final: dict[str, Any] | None = None
    environment: dict[str, Any] = Field(default_factory=dict)
    budget: dict[str, float | int | None] = Field(default_factory=dict)
    max_steps: int | None = None
    max_generations: int | None = None
    limits: str = ""
    """Under which limits its newest process searched, in words."""
    reason: str = ""
    """Which limit ended it."""
    elapsed: float = 0.0
    last_seq: int = 0
    operators: dict[str, OperatorStyle] = Field(default_factory=dict)
    """How each operator is shown."""


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


class TicketRow(Model):
    """A proposal that was leased to a writer outside."""

    node_id: str
    state: Literal["open", "told", "given_up", "expired"]
    holder: str
    """Who asked, in its own words. Untrusted text."""
    expires_at: float
    """Seconds since the epoch."""
    checks: int
    characters: int
    """Of what was told; 0 before."""


class SessionRow(Model):
    """What a coding agent did for one proposal. Its exchanges are calls of the node, with the role `session`."""

    node_id: str
    writer: str
    turns: int
    """Replies of its models."""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost_usd: float | None = None
    seconds: float
    """From its start to the end of its process group."""
    model_seconds: float
    """Of these, while a model was asked."""
    files: list[str] = Field(default_factory=list)
    """What it changed, by path; `program` where a program is one text."""


class Outside(Model):
    """Who wrote what."""

    writers: list[Wrote]
    tickets: list[TicketRow]
    sessions: list[SessionRow]


LiveKind = Literal["output", "reply"]


class LiveTail(Model):
    """The end of what a running candidate printed, or of what a model has written so far. Untrusted text."""

    node_id: str
    kind: LiveKind
    text: str
    cut: bool
    """True if there was more before it."""
    bytes: int
    """Of the whole."""


class OpenWork(Model):
    """What an open program waits for or does; one that is not told waits for its turn."""

    node_id: str
    state: WorkState
    seconds: float
    """Since it waits for that or does it."""


class Live(Model):
    """What goes on in a run now."""

    tails: list[LiveTail]
    work: list[OpenWork] | None = None
    """None where its process tells nothing: an older one, or one that has only just begun."""
    running: int = 0
    """Jobs that hold a worker: programs, parts of them, games."""
    waiting: int = 0
    """Jobs that wait for one."""
    doing: str = ""
    """What goes on besides the programs, in words: a tournament, the choice of the winner. Engines' names are in it."""
