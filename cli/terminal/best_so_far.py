"""The best so far in words: programs of the search and the baselines beside it, by the rule that holds at the end."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from core.events import BaselineScored, Event, NodeCommitted
from reports.winner import called, leading
from utils.direction import Direction

BEST = "*best candidate*"
"""Marks the best of the search so far; a baseline beside it may be better."""


class BestSoFar:
    """Learns from the events; says who leads.

    Args:
        best: the best score of the search before the first event.
        baselines: rows of those that were scored before it.
        family: of the problem. In the arena nobody leads by a score: ratings of different rounds do not compare, and
            the champion of the last tournament is the answer.
    """

    def __init__(
        self,
        lower_is_better: bool,
        best: float | None = None,
        baselines: Iterable[Mapping[str, Any]] = (),
        family: str = "",
    ) -> None:
        self._direction = Direction(lower_is_better)
        self._rates = family == "arena"
        self._best = best
        self._rows = list(baselines)

    def learn(self, event: Event) -> None:
        """Take in what happened."""
        if isinstance(event, NodeCommitted):
            self._best = event.best_metric
        elif isinstance(event, BaselineScored):
            self._rows.append({"name": event.name, "metric": event.metric, "failure": event.failure})

    def moves(self, event: NodeCommitted) -> bool:
        """True if the event brings a best program of the search whose figure, as it is shown, is another than before.

        Asked before `learn`.
        """
        return event.is_best and not self._rates and shown(event.metric) != shown(self._best)

    @property
    def text(self) -> str:
        """`best 0.12`, `best 0.11 by the baseline ridge, 0.12 by the search`; '' before the first score."""
        if self._rates:
            return "" if self._best is None else f"highest first rating {shown(self._best)}"
        row = leading(self._rows, self._best, self._direction)
        if row is None:
            return "" if self._best is None else f"best {shown(self._best)}"
        own = "" if self._best is None else f", {shown(self._best)} by the search"
        return f"best {shown(row['metric'])} by {called(row)}{own}"


def shown(score: float | None) -> str:
    """A score as the terminal shows it."""
    return "–" if score is None else f"{score:.6g}"
