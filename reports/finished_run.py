"""A finished run as its verdict reads it: the winner, what it was chosen among, what it is compared with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reports.counts import Counts
from reports.spread import spread_of
from reports.winner import Winner, rows_of
from utils.counts import counted
from utils.direction import Direction, finite

ALIKE = 3
"""From so many programs on, one score for all of them says something of the evaluator."""
UNSEEN = {"competition": "rows", "heuristic": "cases", "arena": "games"}


class FinishedRun:
    """What the facts of one run hold of its end.

    Args:
        facts: `final` holds the claim and the number of cases.
    """

    def __init__(self, winner: Winner, facts: Mapping[str, Any], counts: Counts) -> None:
        self.winner, self.facts, self.counts = winner, facts, counts
        final = facts.get("final")
        self.final: dict[str, Any] = final if isinstance(final, dict) else {}
        self.spread = spread_of(self.final, counts.repeated)
        self.direction = Direction(bool(facts.get("lower_is_better")))
        self.unit = str(facts.get("unit") or "score")
        self.goal = f"{self.direction.word} is better"
        self.family = str(facts.get("family") or "heuristic")
        drawn = (self.final.get("detail") or {}).get("drawn") or "the rows"
        is_drawn = self.family == "competition"  # what is compared in pairs, and how
        self.case, self.how = (f"draw of {drawn}", f"over draws of {drawn}") if is_drawn else ("case", "case by case")
        self.unseen = f"unseen {UNSEEN.get(self.family, 'cases')}"
        self.references = [
            row for row in rows_of(facts) if row.get("node_id") != winner.node_id and row.get("failure") is None
        ]

    @property
    def chosen(self) -> Mapping[str, Any]:
        """The winner among those that it was chosen among; {} where it was not."""
        return next((row for row in self.choice() if row.get("node_id") == self.winner.node_id), {})

    @property
    def ahead(self) -> float | None:
        """The score of the first of them, where the winner was kept although it is not the first; else None."""
        first = next(iter(self.choice()), {})
        tied = first is not self.chosen and self.chosen.get("tie") and self.family != "arena"
        return finite(first.get("metric")) if tied else None

    @property
    def something_was_better(self) -> bool:
        """True where a program scored better than the one that was kept."""
        return self.ahead is not None and self.ahead != finite(self.chosen.get("metric"))

    @property
    def look(self) -> str:
        """What the last choice went by, where that is not the score on validation."""
        return "by the mean of several scores" if self.spread is not None else "on the second look, at fresh cases too,"

    def both(self, again: float | None) -> str:
        """The winner's score on validation, which every surface shows, and the one that the choice went by."""
        score = self.score(self.winner.metric)
        if again is None or again == self.winner.metric:
            return score
        return f"{score} on validation and {number(again)} {self.look.rstrip(',')}"

    def choice(self) -> list[Mapping[str, Any]]:
        """Those that the winner was chosen among, the best first."""
        rows = self.final.get("choice")
        return [row for row in rows if isinstance(row, Mapping)] if isinstance(rows, list) else []

    @property
    def is_at_optimum(self) -> bool:
        """True where the winner's score cannot be beaten; that all score alike then blames no evaluator."""
        best, score = next(iter(self.facts.get("optimum") or ()), None), finite(self.winner.metric)
        return best is not None and score is not None and not self.direction.better(float(best), score)

    @property
    def is_own(self) -> bool:
        """True where the evaluator is the user's."""
        return any(row.get("own") for row in rows_of(self.facts))

    def alike(self) -> str:
        """What an evaluator shows that tells no programs apart; '' where it tells some apart."""
        if self.is_at_optimum or not self.counts.all_alike or self.counts.scored < ALIKE or self.family == "arena":
            return ""
        whose = "Your" if self.is_own else "The"
        return (
            f"{whose} evaluator gave the same score, {self.score(self.winner.metric)}, to all "
            f"{counted(self.counts.scored, 'program')} that have one, so the search had nothing to go by"
        )

    def scored(self, key: str) -> list[dict[str, Any]]:
        """The references that have such a score."""
        return [row for row in self.references if finite(row.get(key)) is not None]

    def score(self, score: float | None) -> str:
        """A score with its unit."""
        return f"{number(score)} {self.unit} ({self.goal})"

    def pair(self, mine: float | None, other: Any) -> str:
        """The winner's score beside another's."""
        against = "" if finite(other) is None else f" against {number(other)}"
        return f"{number(mine)}{against} {self.unit} ({self.goal})"


def number(value: Any) -> str:
    """As sentences have it; a dash for what is no number."""
    found = finite(value)
    return "–" if found is None else f"{found:.6g}"
