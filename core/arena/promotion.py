"""Which two engines seed the next generation. Selection may be loose: no claim rests on it."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

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


@dataclass(frozen=True, slots=True)
class Contest:
    """What a rule crowns from.

    Args:
        order: who may be promoted, at least two, the best share of points first.
        champion: the reigning one, who is among them.
        more: plays so many more pairs of two engines from fresh openings and returns the table with them.
    """

    table: Crosstable
    order: Sequence[str]
    champion: str
    more: Callable[[str, str, int], Crosstable]

    @property
    def rivals(self) -> list[str]:
        return [player for player in self.order if player != self.champion]


def decide(
    rule: str,
    table: Crosstable,
    rated: Sequence[str],
    champion: str | None,
    rng: random.Random,
    more: Callable[[str, str, int], Crosstable],
) -> Decision:
    """The top two of a tournament by the rule of that name; by score where no champion plays, or nobody else.

    Args:
        rated: those of the table who may be promoted: the others have no score.
        champion: the reigning one, or None before the first.
        rng: breaks ties.
        more: see `Contest`.
    """
    told, crown = RULES[rule]
    lots = {player: rng.random() for player in table.players}
    order = sorted(rated, key=lambda player: (-table.score(player), lots[player]))
    numbers = {"rule": rule, **told, "scores": {player: round(table.score(player), 4) for player in table.players}}
    if champion not in order or len(order) < 2:
        return Decision(tuple(order[:2]), numbers)
    crowned, found = crown(Contest(table, order, champion, more))
    return Decision((crowned, *[player for player in order if player != crowned][:1]), numbers | found)


Crown = Callable[[Contest], tuple[str, dict[str, Any]]]
"""The next champion, and the numbers behind the choice."""


def _first(contest: Contest) -> tuple[str, dict[str, Any]]:
    """The top by score."""
    return contest.order[0], {}


def _likelier(contest: Contest) -> tuple[str, dict[str, Any]]:
    """A challenger replaces the champion only if their games make it the stronger with a likelihood of 95 %."""
    los = {player: contest.table.los(player, contest.champion) for player in contest.rivals}
    crowned = next((player for player, likelihood in los.items() if likelihood >= LOS_NEEDED), contest.champion)
    return crowned, {"los": {player: round(likelihood, 4) for player, likelihood in los.items()}}


def _tested(contest: Contest) -> tuple[str, dict[str, Any]]:
    """The best challenger replaces the champion only if a sequential test of their pairs accepts it."""
    champion, challenger = contest.champion, contest.rivals[0]
    pairs = contest.table.pentanomial(challenger, champion)
    test = sprt(pairs, PENTANOMIAL, elo0=SPRT_ELO[0], elo1=SPRT_ELO[1])
    while test.verdict is None and sum(pairs) < SPRT_PAIRS:
        before = sum(pairs)
        table = contest.more(challenger, champion, min(SPRT_BATCH, SPRT_PAIRS - before))
        pairs = table.pentanomial(challenger, champion)
        test = sprt(pairs, PENTANOMIAL, elo0=SPRT_ELO[0], elo1=SPRT_ELO[1])
        if sum(pairs) == before:
            break  # only copies of games already played: there is nothing more to learn
    return challenger if test.verdict == "H1" else champion, {
        "challenger": challenger,
        "pentanomial": list(pairs),
        "llr": round(test.llr, 4),
        "bounds": [round(test.lower, 4), round(test.upper, 4)],
        "verdict": test.verdict,
    }


RULES: Mapping[str, tuple[dict[str, Any], Crown]] = {
    "argmax": ({}, _first),
    "los": ({"needed": LOS_NEEDED}, _likelier),
    "sprt": ({"elo": list(SPRT_ELO)}, _tested),
}
"""`arena.promotion` → what is told of the rule, and whom it crowns."""
