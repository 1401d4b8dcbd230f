"""The ladder after the duplicate hashes: probe states → cheap look, broken off early → full score of the best.

Programs that decide alike on the probe states may differ beyond them: the later one has to wait for room among the full
scores of its round, but it is never taken for a duplicate.

One call sees a whole round, so that rungs are shared and the verdicts are the same for any number of workers.
"""

from __future__ import annotations

import bisect
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from core.contracts import Evaluation
from core.events import Event, LadderCounted
from core.state.findings import Rung
from core.state.journal import Journal
from core.state.node import Node
from utils.thread_pool import threads

P = TypeVar("P")
A = TypeVar("A")
B = TypeVar("B")

ALWAYS_FULL = frozenset({"baseline", "user", "tune"})
"""Operators whose nodes skip the cheap rung: founders, and what was scored in full while it was made."""


@dataclass(frozen=True, slots=True)
class Loaded(Generic[P]):
    """A candidate that could be loaded: `program` is whatever the stages need to score it."""

    program: P
    behaviour: str
    """Equal for programs that decide alike on the probe states, which says nothing of others; '' if it is not known."""


class Stages(Protocol[P]):
    """How one problem climbs the ladder. `cheap` and `full` are called from several threads at once."""

    def load(self, nodes: Sequence[Node]) -> list[Loaded[P] | Evaluation]:
        """Run the untrusted part in the sandbox; an Evaluation for what failed. In order."""

    def cheap(self, program: P, cut: float | None) -> float | None:
        """A quick score, lower is better; None as soon as it is sure to be above `cut`."""

    def full(self, program: P) -> Evaluation:
        """The whole score."""


class Cascade(Generic[P]):
    """Evaluates rounds of nodes by rungs. Built anew for a resumed run: it reads what it knows from the journal.

    Args:
        top_k: how many of a round get the full score.
        slack: the cheap look is broken off beyond the cheap score of rank `slack` × top_k among all seen so far.
        threads: cheap and full scores computed at once.
    """

    def __init__(
        self,
        stages: Stages[P],
        journal: Journal,
        append: Callable[[Sequence[Event]], None],
        *,
        top_k: int = 10,
        slack: int = 8,
        threads: int = 1,
    ) -> None:
        self._stages, self._journal, self._append = stages, journal, append
        self._top_k, self._slack, self._threads = top_k, slack, threads
        self._lock = threading.Lock()
        self._seen = 0
        self._by_behaviour: dict[str, str] = {}
        self._cheap_scores: list[float] = []

    def evaluate(self, nodes: Sequence[Node]) -> list[Evaluation]:
        """Verdicts in order. A node that was only looked at has neither metric nor failure; its `rung` is `cheap`."""
        self._catch_up()
        verdicts: list[Evaluation | None] = [None] * len(nodes)
        loaded: dict[int, Loaded[P]] = {}
        twins: dict[int, str] = {}
        here: dict[str, str] = {}
        for place, (node, got) in enumerate(zip(nodes, self._stages.load(nodes), strict=True)):
            if isinstance(got, Evaluation):
                verdicts[place] = got
                continue
            twin = self._by_behaviour.get(got.behaviour) or here.get(got.behaviour)
            if twin is not None and node.operator not in ALWAYS_FULL:
                twins[place] = twin
            elif got.behaviour:
                here.setdefault(got.behaviour, node.id)
            loaded[place] = got
        cheap = self._cheap(nodes, loaded)
        chosen = self._chosen(nodes, loaded, cheap, twins)
        for place, verdict in zip(
            chosen, self._map(self._stages.full, [loaded[p].program for p in chosen]), strict=True
        ):
            known = {"rung": "full", "behaviour": loaded[place].behaviour, "cheap_score": cheap.get(place)}
            verdicts[place] = verdict.model_copy(update=known)
        for place, one in loaded.items():
            if verdicts[place] is None:
                verdicts[place] = _looked_at(one.behaviour, cheap.get(place), twins.get(place))
        self._count(nodes, verdicts)
        return [verdict for verdict in verdicts if verdict is not None]

    # ------------------------------------------------------------ rungs

    def _cheap(self, nodes: Sequence[Node], loaded: dict[int, Loaded[P]]) -> dict[int, float | None]:
        rank = self._slack * self._top_k
        cut = self._cheap_scores[rank - 1] if len(self._cheap_scores) >= rank else None
        places = [place for place in loaded if nodes[place].operator not in ALWAYS_FULL]
        scores = self._map(lambda place: self._stages.cheap(loaded[place].program, cut), places)
        return dict(zip(places, scores, strict=True))

    def _chosen(
        self,
        nodes: Sequence[Node],
        loaded: dict[int, Loaded[P]],
        cheap: dict[int, float | None],
        twins: Mapping[int, str],
    ) -> list[int]:
        """Places of the round that get the full score: the best at the cheap look, twins after all others."""
        free = [place for place in loaded if nodes[place].operator in ALWAYS_FULL]
        ranked = sorted((place in twins, score, place) for place, score in cheap.items() if score is not None)
        return free + [place for _, _, place in ranked[: self._top_k]]

    def _map(self, function: Callable[[A], B], items: Sequence[A]) -> list[B]:
        if self._threads <= 1 or len(items) <= 1:
            return [function(item) for item in items]
        with threads(self._threads, "cascade") as pool:
            return list(pool.map(function, items))

    # ------------------------------------------------------------ what is known

    def _catch_up(self) -> None:
        """Read the nodes committed since the last round. Rounds of one node may be evaluated side by side."""
        with self._lock:
            for node in self._journal.from_place(self._seen):
                if node.behaviour:
                    self._by_behaviour.setdefault(node.behaviour, node.id)
                if node.cheap_score is not None:
                    bisect.insort(self._cheap_scores, node.cheap_score)
                    del self._cheap_scores[self._slack * self._top_k :]
                self._seen += 1

    def _count(self, nodes: Sequence[Node], verdicts: Sequence[Evaluation | None]) -> None:
        counts = {"behaviour": 0, "cheap": 0, "full": 0}
        for verdict in verdicts:
            if verdict is not None and verdict.failure is None and verdict.rung is not None:
                counts[verdict.rung] += 1
        self._append([LadderCounted(round=nodes[0].generation or 0, counts=counts)] if nodes else [])


def _looked_at(behaviour: str, cheap: float | None, twin: str | None) -> Evaluation:
    """Its message is for whoever reads of the node: the words of the ladder (`Rung`) say nothing to a stranger."""
    message = "left off after a small part of the cases: too far behind"
    if cheap is not None:
        message = "on a small part of the cases not among the best of its round"
    if twin is not None:
        message = f"{message}; in sample situations it decides as {twin} does"
    rung: Rung = "cheap" if twin is None else "behaviour"
    return Evaluation(message=message, rung=rung, behaviour=behaviour, cheap_score=cheap)
