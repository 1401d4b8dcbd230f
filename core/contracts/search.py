"""Search: a policy says what is written next. It knows scores, not models, files or problems."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from pydantic import BaseModel, ConfigDict, Field

from core.state.node import Node
from core.state.operators import Operator

if TYPE_CHECKING:
    from core.events import Event
    from core.state.journal import Journal


class Proposal(BaseModel):
    """What a policy wants written next."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    operator: Operator
    parents: tuple[str, ...] = ()
    """Node ids; the first is the parent to change, the second what `merge`/`crossover` takes from."""
    generation: int | None = None
    island: int | None = None
    slot: int = 0
    repairs: int = 0
    """How often a candidate that `Evaluator.check` refuses goes back to its writer, each attempt a node of its own."""
    why: dict[str, Any] = Field(default_factory=dict)
    """Plain JSON for `show --why`: rule, candidates with scores, the draw."""


class SearchPolicy(Protocol):
    """Decides what to write next from scores alone.

    1. `ask` may not change the policy's state; all state is learned in `tell`. So a run is resumed by telling the
       stored nodes again, in order.
    2. All randomness comes from `rng`, which is seeded from counters by the caller.
    """

    def ask(self, journal: Journal, rng: random.Random, k: int) -> list[Proposal]:
        """Return 1..k proposals for the next round, in slot order. An empty list ends the search."""

    def tell(self, journal: Journal, node: Node) -> None:
        """Learn from a committed node (failures and duplicates too). `journal` already holds it."""

    @property
    def finished_generations(self) -> int | None:
        """How many generations are over; None: it keeps none of its own, the newest node's number counts."""
        return None

    def drain_events(self) -> list[Event]:
        """What happened inside the policy since the last call, for the caller to store."""
        return []


class ParentSelector(Protocol):
    """Picks the parents of the next node: a pure function of its arguments."""

    def select(self, pool: Sequence[Node], k: int, rng: random.Random) -> list[Node]:
        """Return at most `k` distinct nodes of `pool`, best last. `pool` is never empty and holds only scored nodes."""


@dataclass(frozen=True, slots=True)
class PolicyDeps:
    """What a search policy is built from, beside its own options."""

    seed: int
    """The run's seed, for draws that are made in `tell`."""
    selector: Callable[[str], ParentSelector]
    """The parent selector of that name, with the options that the configuration gives it. Raises ConfigError."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the run is. All counts survive a resume."""

    steps: int = 0
    """Committed nodes that count."""
    generations: int = 0
    """Finished generations."""
    seconds: float = 0.0
    """Active seconds, resumes added up."""
    tokens: int = 0
    usd: float = 0.0
    best_metric: float | None = None
    steps_since_best: int = 0
    """Committed nodes that count since the best so far was found."""
    nothing_left: int = 0
    """Committed nodes that count whose writers said that nothing is left to gain, in a row up to now."""
    repeats: int = 0
    """Committed nodes that count and wrote programs that were known already, in a row up to now."""
