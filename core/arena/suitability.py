"""Whether a limit suits the engines that are to play under it: what is told to a user before and after the games."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean

from core.arena.limit import MoveLimit
from core.arena.match import Engine

UNEQUAL = 5.0
"""Engines that need so many times as long as others for a move are not compared by equal effort."""
CLOCK = "--arena.limit=clock:10000+100"


def unsuited(engines: Sequence[Engine], limit: MoveLimit) -> Iterator[str]:
    """Why what a user asks of an engine has no meaning under `limit`, in one line each."""
    for engine in engines:
        options = {name.lower(): value for name, value in engine.options}
        if "uci_elo" in options and limit.kind in ("nodes", "depth"):
            yield f"{engine.name}: UCI_Elo is calibrated for games on the clock, not for {limit}; use {CLOCK}"
        if "uci_elo" in options and options.get("uci_limitstrength") != "true":
            yield f"{engine.name}: UCI_Elo does nothing without option.UCI_LimitStrength=true"


def unequal(seconds: Mapping[str, Sequence[float]], limit: MoveLimit) -> Iterator[str]:
    """That engines took very different times a move under a limit that is no time.

    Args:
        seconds: name → seconds of each move, or a mean of them for each game.
    """
    means = {name: fmean(each) for name, each in seconds.items() if each}
    if limit.kind not in ("nodes", "depth") or len(means) < 2:
        return
    slow, quick = max(means, key=lambda name: means[name]), min(means, key=lambda name: means[name])
    if means[slow] > UNEQUAL * means[quick]:
        times = f"{slow} took {1000 * means[slow]:.3g} ms a move, {quick} {1000 * means[quick]:.3g} ms"
        yield f"{times}: {limit} is not the same effort for both; {CLOCK} compares them by time"
