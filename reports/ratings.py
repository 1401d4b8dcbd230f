"""Ratings of an arena as they are now: each engine's Elo over all rated games so far, and who holds the title."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from core.events import GenerationFinished
from core.state.node import Node
from core.storage.reader import RunReader
from utils.direction import finite
from utils.stats import proper_interval

CHAMPIONS = "champion at the end of each generation"
"""What the curve of an arena shows on every surface: the champion's rating as its tournament ended."""
WHERE = "over all its rated games"
"""Where an engine's score comes from, on every surface that does not say otherwise."""


@dataclass(frozen=True, slots=True)
class Rating:
    """The starting champion is 0."""

    elo: float
    interval: tuple[float, float] | None
    """95 %."""


@dataclass(frozen=True, slots=True)
class Ratings:
    """Empty outside of an arena, and before its first tournament."""

    of: Mapping[str, Rating] = field(default_factory=dict)
    """By node id."""
    champion: str | None = None
    """Who won the last tournament."""
    title: str = ""
    """The same in words: `champion g1.0, 138 Elo`; '' before the first tournament."""

    def now(self, node: Node) -> Node:
        """The node with its newest rating in place of its first one, which the search went by."""
        found = self.of.get(node.id)
        return (
            node.model_copy(update={"metric_value": found.elo, "interval": found.interval})
            if found is not None
            else node
        )

    def rank(self, node: Node) -> float:
        """What the best are sorted by, higher is better: an engine's newest rating, elsewhere the turned score."""
        return self.of[node.id].elo if node.id in self.of else node.fitness or 0.0

    def elo(self, node_id: str, first: float | None) -> float | None:
        """An engine's newest rating; what it was given first, where it is not rated."""
        return self.of[node_id].elo if node_id in self.of else first

    def strongest(self, among: Iterable[str]) -> str | None:
        """The id with the highest rating of those that have one."""
        rated = [node_id for node_id in among if node_id in self.of]
        return max(rated, key=lambda node_id: self.of[node_id].elo, default=None)


NONE = Ratings()


def ratings_of(reader: RunReader) -> Ratings:
    """From the tournaments that the run has finished, the newest last."""
    told = _tournaments(reader)
    if not told:
        return NONE
    found = {
        row["node_id"]: Rating(elo, proper_interval((row.get("low"), row.get("high"))))
        for event in told
        for row in event.ratings
        if isinstance(row.get("node_id"), str) and (elo := finite(row.get("elo"))) is not None
    }
    last = next((event for event in reversed(told) if event.promoted), None)
    return Ratings(found, last.promoted[0] if last else None, title_in(last) if last else "")


def champions(reader: RunReader) -> dict[int, float]:
    """Of each generation the rating of its champion when its tournament ended; empty outside of an arena."""
    rows = {event.generation: champion_row(event) or {} for event in _tournaments(reader)}
    return {generation: elo for generation, row in rows.items() if (elo := finite(row.get("elo"))) is not None}


def champion_row(event: GenerationFinished) -> dict[str, Any] | None:
    """The line of whoever won this tournament; None where nobody did."""
    return next((row for row in event.ratings if row.get("node_id") in event.promoted[:1]), None)


def _tournaments(reader: RunReader) -> list[GenerationFinished]:
    return [event for event in reader.events(types=["generation.finished"]) if isinstance(event, GenerationFinished)]


def title_in(event: GenerationFinished) -> str:
    """Who won this tournament, in words; '' where nobody did."""
    row = champion_row(event)
    if row is None:
        return ""
    elo = finite(row.get("elo"))
    return f"champion {row.get('name') or row['node_id']}" + (f", {elo:.6g} Elo" if elo is not None else "")
