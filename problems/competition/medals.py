"""Medals by Kaggle's progression, as MLE-bench computes them from a leaderboard."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import Any

from utils.direction import Direction


def thresholds(leaderboard: Sequence[float]) -> dict[str, float]:
    """Scores needed for gold, silver and bronze, and the median; {} without a leaderboard.

    Args:
        leaderboard: scores, best first.
    Source: kaggle.com/progression; MLE-bench (Chan et al. 2024), `rank_score`.
    """
    teams = len(leaderboard)
    if not teams:
        return {}
    if teams < 100:
        places = int(teams * 0.1), int(teams * 0.2), int(teams * 0.4)
    elif teams < 250:
        places = 10, int(teams * 0.2), int(teams * 0.4)
    elif teams < 1000:
        places = 10 + int(teams * 0.002), 50, 100
    else:
        places = 10 + int(teams * 0.002), int(teams * 0.05), int(teams * 0.1)
    names = ("gold", "silver", "bronze")
    found = {name: leaderboard[max(1, place) - 1] for name, place in zip(names, places, strict=True)}
    return {**found, "median": float(median(leaderboard))}


def medal(score: float, leaderboard: Sequence[float], lower_is_better: bool) -> dict[str, Any]:
    """`{medal, above_median, thresholds}`; {} without a leaderboard. `medal` is gold, silver, bronze or None."""
    needed = thresholds(leaderboard)
    if not needed:
        return {}
    better = Direction(lower_is_better).better
    won = next((name for name in ("gold", "silver", "bronze") if not better(needed[name], score)), None)
    return {"medal": won, "above_median": better(score, needed["median"]), "thresholds": needed}
