"""Which two engines seed the next generation. Selection may be loose: no claim rests on it."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from core.arena.standings import Crosstable
from utils.stats import PENTANOMIAL, sprt

LOS_NEEDED = 0.95
SPRT_ELO = (0.0, 60.0)
"""H0 and H1 of the promotion's test: a generation has few games, so only a clear gain is asked for."""
SPRT_PAIRS = 48
"""Pairs after which an undecided test leaves the champion in place."""
SPRT_BATCH = 8
"""Pairs played at a time while the test is undecided."""


@dataclass(frozen=True, slots=True)
class Decision:
    """Champion and runner-up of the next generation, and the numbers behind the choice (plain JSON)."""

    promoted: tuple[str, ...]
    numbers: dict[str, Any] = field(default_factory=dict)


class Promotion(Protocol):
    """Picks the top two of a tournament."""

    def decide(
        self,
        table: Crosstable,
        rated: Sequence[str],
        champion: str | None,
        rng: random.Random,
        more: Callable[[str, str, int], Crosstable],
    ) -> Decision:
        """Decide.

        Args:
            rated: those of the table who may be promoted: the others have no score.
            champion: the reigning one, or None before the first.
            rng: breaks ties.
            more: plays so many more pairs of two engines from fresh openings and returns the table with them.
        """


def by_score(table: Crosstable, rated: Sequence[str], rng: random.Random) -> list[str]:
    """Those of the players, best share of points first, ties by lot."""
    lots = {player: rng.random() for player in table.players}
    return sorted(rated, key=lambda player: (-table.score(player), lots[player]))


class Argmax:
    """The top two by score."""

    def decide(
        self,
        table: Crosstable,
        rated: Sequence[str],
        champion: str | None,
        rng: random.Random,
        more: Callable[[str, str, int], Crosstable],
    ) -> Decision:
        order = by_score(table, rated, rng)
        return Decision(tuple(order[:2]), {"rule": "argmax", "scores": _scores(table)})


class Los:
    """A challenger replaces the champion only if their games make it the stronger with a likelihood of 95 %."""

    def decide(
        self,
        table: Crosstable,
        rated: Sequence[str],
        champion: str | None,
        rng: random.Random,
        more: Callable[[str, str, int], Crosstable],
    ) -> Decision:
        order = by_score(table, rated, rng)
        numbers: dict[str, Any] = {"rule": "los", "needed": LOS_NEEDED, "scores": _scores(table)}
        if champion not in order or len(order) < 2:
            return Decision(tuple(order[:2]), numbers)
        rivals = [player for player in order if player != champion]
        numbers["los"] = {player: round(table.los(player, champion), 4) for player in rivals}
        crowned = next((player for player in rivals if table.los(player, champion) >= LOS_NEEDED), champion)
        return Decision(_with_runner_up(crowned, order), numbers)


class SprtRule:
    """The best challenger replaces the champion only if a sequential test of their pairs accepts it."""

    def decide(
        self,
        table: Crosstable,
        rated: Sequence[str],
        champion: str | None,
        rng: random.Random,
        more: Callable[[str, str, int], Crosstable],
    ) -> Decision:
        order = by_score(table, rated, rng)
        numbers: dict[str, Any] = {"rule": "sprt", "elo": list(SPRT_ELO), "scores": _scores(table)}
        if champion not in order or len(order) < 2:
            return Decision(tuple(order[:2]), numbers)
        challenger = next(player for player in order if player != champion)
        pairs = table.pentanomial(challenger, champion)
        test = sprt(pairs, PENTANOMIAL, elo0=SPRT_ELO[0], elo1=SPRT_ELO[1])
        while test.verdict is None and sum(pairs) < SPRT_PAIRS:
            before = sum(pairs)
            pairs = more(challenger, champion, min(SPRT_BATCH, SPRT_PAIRS - before)).pentanomial(challenger, champion)
            test = sprt(pairs, PENTANOMIAL, elo0=SPRT_ELO[0], elo1=SPRT_ELO[1])
            if sum(pairs) == before:
                break  # only copies of games already played: there is nothing more to learn
        numbers |= {
            "challenger": challenger,
            "pentanomial": list(pairs),
            "llr": round(test.llr, 4),
            "bounds": [round(test.lower, 4), round(test.upper, 4)],
            "verdict": test.verdict,
        }
        return Decision(_with_runner_up(challenger if test.verdict == "H1" else champion, order), numbers)


RULES: Mapping[str, Callable[[], Promotion]] = {"argmax": Argmax, "los": Los, "sprt": SprtRule}
"""`arena.promotion` → its rule."""


def _scores(table: Crosstable) -> dict[str, float]:
    return {player: round(table.score(player), 4) for player in table.players}


def _with_runner_up(champion: str, order: list[str]) -> tuple[str, ...]:
    return (champion, *[player for player in order if player != champion][:1])
