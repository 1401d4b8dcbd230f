"""Everything that happens in a run, as one union of events told in one sequence.

Terminal, metrics files, dashboard, plots, report, replay and resume read these and nothing else. The dashboard's
TypeScript types are generated from this file.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from core.state.failure import FailureKind
from core.state.node import MetricSource
from core.state.operators import Operator
from core.state.task import Task


def _now() -> datetime:
    return datetime.now(UTC)


class EventBase(BaseModel):
    """What every event has."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    seq: int = 0
    """Place in the run's one sequence, from 1; given by the store's writer."""
    at: datetime = Field(default_factory=_now)
    """UTC. Volatile."""


class RunStarted(EventBase):
    """A process took up the run: its start, or a resume."""

    type: Literal["run.started"] = "run.started"
    run: str
    problem: str
    lower_is_better: bool
    unit: str = ""
    writer: str = ""
    policy: str = ""
    sandbox: str = ""
    max_steps: int | None = None
    max_generations: int | None = None
    budget: dict[str, float | int | None] = Field(default_factory=dict)
    resumed: bool = False
    by_hand: bool = False
    """It takes single steps, and ends without an event of its own: the run waits for the next."""


class RunFinished(EventBase):
    """The search ended in good order; `reason` says by which limit."""

    type: Literal["run.finished"] = "run.finished"
    status: Literal["finished", "interrupted", "failed"]
    reason: str
    best_node_id: str | None = None
    best_metric: float | None = None
    steps: int = 0


class RoundOpened(EventBase):
    """A round's proposals are fixed."""

    type: Literal["round.opened"] = "round.opened"
    round: int
    node_ids: list[str]


class NodeProposed(EventBase):
    """The policy chose parents and operator (stage `select`), or the program was given: a baseline, the user's own."""

    type: Literal["node.proposed"] = "node.proposed"
    node_id: str
    round: int
    slot: int
    operator: Operator
    parent_ids: list[str] = Field(default_factory=list)
    generation: int | None = None
    island: int | None = None

    @classmethod
    def of(cls, task: Task) -> NodeProposed:
        """The event of a task that begins."""
        return cls(
            node_id=task.node_id,
            round=task.round,
            slot=task.slot,
            operator=task.operator,
            parent_ids=list(task.parent_ids),
            generation=task.generation,
            island=task.island,
        )


class StageDone(EventBase):
    """What a stage of an open node came to is stored: the verdict (`execute`), by hand each of `step`'s stages too.

    That a reply has come is told by `llm.called`.
    """

    type: Literal["node.stage"] = "node.stage"
    node_id: str
    stage: str
    seconds: float = 0.0


class NodeCommitted(EventBase):
    """A node has its verdict and its place in the journal."""

    type: Literal["node.committed"] = "node.committed"
    node_id: str
    step: int
    """Its place in the journal, from 0, as it is stored. People are told `number`."""
    number: int | None = None
    """Which step of the search it is, from 1; None for what is no step, and in runs of older versions."""
    parent_ids: list[str] = Field(default_factory=list)
    operator: Operator
    generation: int | None = None
    island: int | None = None
    metric: float | None = None
    metric_source: MetricSource | None = None
    claimed_metric: float | None = None
    is_buggy: bool = False
    is_valid: bool = True
    nothing_left: bool = False
    """Its writer gave no program: it says that nothing is left to gain."""
    failure: FailureKind | None = None
    message: str = ""
    exec_time: float = 0.0
    writer: str = ""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost_usd: float | None = None
    is_best: bool = False
    best_metric: float | None = None
    best_node_id: str | None = None
    elapsed: float = 0.0
    """Active seconds of the run, resumes added up."""


class LLMCalled(EventBase):
    """A model (or `rules`) answered; the reply is stored."""

    type: Literal["llm.called"] = "llm.called"
    call_id: int
    node_id: str | None = None
    role: str
    provider: str
    model: str
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost_usd: float | None = None
    seconds: float = 0.0
    tries: int = 1
    cached: bool = False


class BaselineScored(EventBase):
    """A reference program has its verdict."""

    type: Literal["baseline.scored"] = "baseline.scored"
    name: str
    own: bool = False
    """True: it is the user's own program, which the search is to improve."""
    node_id: str
    metric: float | None = None
    failure: FailureKind | None = None


class FinalScored(EventBase):
    """The final part was opened for the chosen node."""

    type: Literal["final.scored"] = "final.scored"
    node_id: str
    metric: float | None = None
    interval: tuple[float, float] | None = None
    detail: dict[str, Any] = Field(default_factory=dict)


class LadderCounted(EventBase):
    """How many candidates each rung of the duplicate ladder stopped in a round."""

    type: Literal["ladder.counted"] = "ladder.counted"
    round: int
    """The generation, where an evaluator judges whole generations."""
    counts: dict[str, int]
    """Rung (text, ast, behaviour, cheap, full) → candidates that ended there."""


class IslandMigrated(EventBase):
    """Nodes were copied between islands."""

    type: Literal["island.migrated"] = "island.migrated"
    generation: int
    """The one that has just ended, counted from 0 as its nodes are."""
    moves: list[tuple[str, int, int]]
    """(node id, from island, to island)."""


class IslandReset(EventBase):
    """An island started again from a founder."""

    type: Literal["island.reset"] = "island.reset"
    island: int
    founder: str | None = None


class GenerationStarted(EventBase):
    """A generation of the arena (or of the islands) begins."""

    type: Literal["generation.started"] = "generation.started"
    generation: int
    champion: str | None = None
    runner_up: str | None = None


class StrategistQuestion(EventBase):
    """What a builder is asked to try. Untrusted text."""

    type: Literal["strategist.question"] = "strategist.question"
    generation: int
    index: int
    category: str
    question: str


class BuilderCompleted(EventBase):
    """A builder handed in a candidate engine."""

    type: Literal["builder.completed"] = "builder.completed"
    generation: int
    node_id: str
    name: str = ""


class CandidateRejected(EventBase):
    """A check refused a candidate before it was evaluated."""

    type: Literal["candidate.rejected"] = "candidate.rejected"
    generation: int | None = None
    node_id: str
    refused_by: str
    """`check`, or what the problem calls its check (`static`, `smoke`)."""
    failure: FailureKind
    reason: str


class GameStarted(EventBase):
    """Two engines sit down."""

    type: Literal["game.started"] = "game.started"
    game_id: str
    game: str
    white: str
    black: str
    opening: list[str] = Field(default_factory=list)
    """Moves that were given; before them `fen …` where they are made from another position than the game's first."""
    start: str
    """The position after the opening, as `Game.text`."""


class GameMove(EventBase):
    """One move of a game."""

    type: Literal["game.move"] = "game.move"
    game_id: str
    ply: int
    uci: str
    san: str
    fen: str
    """The position after the move."""
    clock: tuple[float | None, float | None] = (None, None)
    """Seconds left: white, black; None without clocks."""
    seconds: float = 0.0
    """Seconds this move took."""
    score: float | None = None
    """What the engine says of the position it moved from: white's view, hundredths of a pawn or stone."""
    depth: int | None = None
    """Plies that it says it looked ahead."""


class GameFinished(EventBase):
    """One game ended."""

    type: Literal["game.finished"] = "game.finished"
    game_id: str
    game: str
    white: str
    black: str
    result: Literal["1-0", "0-1", "1/2-1/2"]
    termination: str
    """checkmate, four_in_a_row, stalemate, repetition, illegal_move, time_forfeit, crash, adjudication, …"""
    plies: int = Field(ge=0)
    pgn: str = ""


class GenerationFinished(EventBase):
    """A generation has its ratings."""

    type: Literal["generation.finished"] = "generation.finished"
    generation: int
    ratings: list[dict[str, Any]] = Field(default_factory=list)
    """One object an engine: node_id, name, elo, low, high, wins, draws, losses, score."""
    promoted: list[str] = Field(default_factory=list)
    decision: dict[str, Any] = Field(default_factory=dict)
    """The numbers behind the promotion."""


class NoteAdded(EventBase):
    """The user left a note for the next prompt."""

    type: Literal["note.added"] = "note.added"
    text: str


class NodeMarked(EventBase):
    """The user pinned, banned or freed a node."""

    type: Literal["node.marked"] = "node.marked"
    node_id: str
    mark: Literal["pinned", "banned", "none"]


class NodeStopped(EventBase):
    """The user stopped the program of a node while it ran; its verdict is `stopped`, also in a replay."""

    type: Literal["node.stopped"] = "node.stopped"
    node_id: str


class TicketLeased(EventBase):
    """A proposal was handed to a writer outside of the run's process."""

    type: Literal["ticket.leased"] = "ticket.leased"
    node_id: str
    holder: str = ""
    """Who asked, in its own words. Untrusted text."""
    expires_at: float
    """Seconds since the epoch."""


class TicketClosed(EventBase):
    """A ticket was given up, or it expired: the proposal is withdrawn, and no node comes of it."""

    type: Literal["ticket.closed"] = "ticket.closed"
    node_id: str
    state: Literal["given_up", "expired"]


class Warned(EventBase):
    """Something the user should know: a disagreement between claim and score, a fall-back, a retry."""

    type: Literal["warning"] = "warning"
    text: str
    node_id: str | None = None


Event = Annotated[
    RunStarted | RunFinished | RoundOpened | NodeProposed | StageDone | NodeCommitted | LLMCalled | BaselineScored
    | FinalScored | LadderCounted | IslandMigrated | IslandReset | GenerationStarted | StrategistQuestion
    | BuilderCompleted | CandidateRejected | GameStarted | GameMove | GameFinished | GenerationFinished | NoteAdded
    | NodeMarked | NodeStopped | TicketLeased | TicketClosed | Warned,
    Field(discriminator="type"),
]  # fmt: skip

EVENT_ADAPTER: TypeAdapter[Event] = TypeAdapter(Event, config=ConfigDict(defer_build=True))
"""Reads an event back from JSON: `EVENT_ADAPTER.validate_json(text)`."""
