"""The best so far in words: programs of the search and the baselines beside it, by the rule that holds at the end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from core.events import BaselineScored, Event, GenerationFinished, NodeCommitted
from core.state.change import is_rounding
from core.state.operators import FREE_OPERATORS
from reports.ratings import title_in
from reports.winner import Standing, called, leading
from runs.facts import NOBODY
from utils.direction import Direction
from utils.number_text import told_apart

BEST = "*best candidate*"
"""Marks the best of the search so far; a baseline beside it may be better."""


class BestSoFar:
    """Learns from the events; says who leads.

    Args:
        standing: who led before the first event.
        family: of the problem. In the arena nobody leads by a score: the title is taken in a tournament.
    """

    def __init__(self, lower_is_better: bool, standing: Standing = NOBODY, family: str = "") -> None:
        self._direction = Direction(lower_is_better)
        self._rates = family == "arena"
        self._best, self._best_id, self._of_search = standing.best, standing.best_id, standing.of_search
        self._rows = list(standing.baselines)
        self._title = standing.title

    def learn(self, event: Event) -> None:
        """Take in what happened."""
        if isinstance(event, NodeCommitted):
            self._best, self._best_id = event.best_metric, event.best_node_id
            counts = event.operator not in FREE_OPERATORS and event.is_valid and not event.is_buggy
            if counts and event.metric is not None and self._direction.better(event.metric, self._of_search):
                self._of_search = event.metric
        elif isinstance(event, BaselineScored):
            self._rows.append(event.model_dump())
        elif isinstance(event, GenerationFinished):
            self._title = title_in(event) or self._title

    def moves(self, event: NodeCommitted) -> bool:
        """True if the event brings a best program of the search whose score is another than before, up to rounding.

        Asked before `learn`.
        """
        if not event.is_best or self._rates or event.metric is None:
            return False
        return self._best is None or not is_rounding(event.metric, self._best)

    def told(self, event: NodeCommitted) -> str:
        """Its score with so many digits that it is not read as the best before it. Asked before `learn`."""
        return shown(event.metric, self._best)

    @property
    def text(self) -> str:
        """`best 0.12`, `best 0.11 by the baseline ridge, 0.12 by the search`, `champion g1.0, 138 Elo`; '' before the
        first score."""
        if self._rates:
            return self._title
        row = self._leads()
        if row is None:
            return "" if self._best is None else f"best {shown(self._best)}"
        found = "" if self._of_search is None else f", {shown(self._of_search)} by the search"
        return f"best {shown(row['metric'])} by {called(row)}{found}"

    def _leads(self) -> Mapping[str, Any] | None:
        """The baseline that leads: one of the journal, or one beside the search that is better than all of it."""
        seeded = (row for row in self._rows if self._best_id is not None and row.get("node_id") == self._best_id)
        return leading(self._rows, self._best, self._direction) or next(seeded, None)


def shown(score: float | None, *others: float | None) -> str:
    """A score as the terminal shows it, told apart from `others` where it is another one."""
    return "–" if score is None else told_apart(score, *others, digits=6)
