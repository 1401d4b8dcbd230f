"""Node: a proposed program and what running it taught."""

from __future__ import annotations

import time
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from core.state.failure import FailureKind

Operator = Literal[
    "draft", "debug", "improve", "merge", "generate", "mutate", "crossover", "refine",
    "tune", "ensemble", "build", "baseline", "user",
]  # fmt: skip
"""How a program came to be. `user`: by `initial` or `fork --edit`."""

MetricSource = Literal["verified", "unisolated", "claimed"]
"""Who vouches for the metric: our evaluator out of the candidate's reach, ours within its reach, the candidate."""

FREE_OPERATORS: frozenset[str] = frozenset({"baseline", "user", "ensemble"})
"""Nodes of these operators do not count as steps of the search."""


class Node(BaseModel):
    """One program in the search. Frozen: a change is a copy (`model_copy(update=…)`)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    code: str
    """The whole program (or the one function that is searched)."""
    plan: str = ""
    """The writer's plan in its own words. Untrusted text."""
    genes: dict[str, str] = Field(default_factory=dict)
    """Named sections of the code (DATA, FEATURES, MODEL, TRAIN, PREDICT), for `merge`."""

    step: int = 0
    """Serial number in the journal, from 0."""
    id: str
    """Drawn from counters (run seed, round, slot, attempt): equal in equal runs."""
    ctime: float = Field(default_factory=time.time)
    """Seconds since the epoch. Volatile: not part of the journal's hash."""
    parent_id: str | None = None
    """The first of `parent_ids`."""
    parent_ids: tuple[str, ...] = ()
    children_ids: tuple[str, ...] = ()
    """Kept by the Journal's index; current in a node read from it."""
    task_type: str = "explore"
    operator: Operator = "draft"
    metadata: dict[str, Any] = Field(default_factory=dict)
    """Plain JSON: `duplicate_of`, `message`, `gate`, `category`, `fingerprint`, `stages` (their seconds), tokens, …"""

    logs: str = ""
    """Evaluator's own log lines, where it has any."""
    term_out: str = ""
    """What the program printed, capped. Untrusted text."""
    exec_time: float = 0.0
    """Seconds of the program's run. Volatile."""
    exc_type: str | None = None
    exc_info: dict[str, Any] | None = None

    analysis: str = ""
    """The reviewer's summary. Untrusted text."""
    metric_value: float | None = None
    """The score in the problem's own unit, never negated; finite or None."""
    metric_source: MetricSource | None = None
    claimed_metric: float | None = None
    """What the candidate printed, as a reviewer read it. Never steers where there is an evaluator."""
    is_buggy: bool = False
    is_valid: bool = True
    """False for a duplicate and for what no policy may use as a parent."""
    lower_is_better: bool = False
    failure: FailureKind | None = None
    signature: tuple[float, ...] = ()
    """Per-case scores, one an instance, rounded to 12 digits by the evaluator; () where there are no cases."""

    visits: int = 0
    total_reward: float = 0.0
    """MCTS statistics; kept by the Journal's index."""

    generation: int | None = None
    island: int | None = None
    slot: int = 0
    fitness: float | None = None
    """`metric_value` turned so that higher is better; None without a metric."""
    writer: str = ""
    """provider/model, `rules`, `user`, `tune`, `ensemble` or `baseline`."""

    @property
    def is_scored(self) -> bool:
        """True if the node may steer the search: valid, not buggy, with a finite metric."""
        return self.is_valid and not self.is_buggy and self.metric_value is not None

    @property
    def duplicate_of(self) -> str | None:
        """Id of the earlier node with the same program, or None."""
        return self.metadata.get("duplicate_of")
