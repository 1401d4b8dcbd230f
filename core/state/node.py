"""Node: a proposed program and what running it taught."""

from __future__ import annotations

import time
from typing import Literal
from uuid import uuid4

from pydantic import Field

from core.state.failed_attempt import FailedAttempt
from core.state.failure import FailureKind
from core.state.findings import Findings
from core.state.identity import PlainId
from core.state.operators import Operator
from core.state.review import Review

MetricSource = Literal["verified", "unisolated", "claimed"]
"""Who vouches for the metric: our evaluator out of the candidate's reach, ours within its reach, the candidate."""


class Node(Findings):
    """One program in the search. Frozen: a change is a copy (`model_copy(update=…)`)."""

    code: str
    """The whole program (or the one function that is searched)."""
    plan: str = ""
    """The writer's plan in its own words. Untrusted text."""
    genes: dict[str, str] = Field(default_factory=dict)
    """Named sections of the code (DATA, FEATURES, MODEL, TRAIN, PREDICT), for `merge`."""
    fingerprint: str = ""
    """Beginning of the code's text hash, a colon, and its syntax tree's hash; set by the Journal."""

    step: int = 0
    """Serial number in the journal, from 0."""
    id: PlainId = Field(default_factory=lambda: uuid4().hex)
    """A search draws it from counters (run seed, round, slot, attempt), so that equal runs have equal ids."""
    ctime: float = Field(default_factory=time.time)
    """Seconds since the epoch. Volatile: not part of the journal's hash."""
    parent_id: str | None = None
    """The first of `parent_ids`."""
    parent_ids: tuple[str, ...] = ()
    children_ids: tuple[str, ...] = ()
    """Kept by the Journal's index; current in a node read from it."""
    task_type: str = "explore"
    operator: Operator = "draft"
    attempts: tuple[FailedAttempt, ...] = ()
    """What the writer wrote first, where it crashed and was repaired in the same step; `code` is the last program."""
    refusal: str = ""
    """In a repair: why the check refused the previous attempt."""

    exec_time: float = 0.0
    """Seconds of the program's run. Volatile."""
    stages: dict[str, float] = Field(default_factory=dict)
    """Stage of the node's life → its seconds. Volatile."""

    analysis: str = ""
    """The reviewer's summary. Untrusted text."""
    review: Review | None = None
    """All that the reviewer said."""
    review_error: str = ""
    """Why a review that was wanted is missing."""
    metric_value: float | None = None
    """The score in the problem's own unit, never negated; finite or None."""
    metric_source: MetricSource | None = None
    claimed_metric: float | None = None
    """The program's own estimate, as it or a reviewer tells it. It steers only where scores cannot be told apart."""
    is_buggy: bool = False
    is_valid: bool = True
    """False for a duplicate and for what no policy may use as a parent."""
    lower_is_better: bool = False
    failure: FailureKind | None = None

    visits: int = 0
    total_reward: float = 0.0
    """MCTS statistics; kept by the Journal's index."""

    generation: int | None = None
    island: int | None = None
    round: int = 0
    """Number of the round that proposed it."""
    slot: int = 0
    fitness: float | None = None
    """`metric_value` turned so that higher is better; None without a metric."""

    writer: str = ""
    """provider/model, `rules`, `user` (also of a baseline that is the user's own), `tune`, `ensemble` or `baseline`."""
    prompt_tokens: int | None = None
    """Of all calls for this node; None where there is no model (`rules`)."""
    completion_tokens: int | None = None
    cost_usd: float | None = None
    """Dollars of all calls for this node; 0.0 for cached replies, None where there is no model or no price."""

    @property
    def is_own(self) -> bool:
        """True for the user's own program, which the search is to improve."""
        return self.operator == "baseline" and self.writer == "user"

    @property
    def is_scored(self) -> bool:
        """True if the node may steer the search: valid, not buggy, with a finite metric."""
        return self.is_valid and not self.is_buggy and self.metric_value is not None
