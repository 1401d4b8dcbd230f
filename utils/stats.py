"""Statistics of means and matches: Student's interval; Elo with intervals, pentanomial pairs, SPRT, Bradley-Terry.

A score is a share of points, 0..1. `z` is the half-width of an interval in standard deviations: 1.96 for 95 %.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist
from typing import Any, Literal

Z95 = 1.959963984540054
ELO_PER_NAT = 400 / math.log(10)
"""Elo points in one unit of natural log-odds."""

TRINOMIAL = (0.0, 0.5, 1.0)
PENTANOMIAL = (0.0, 0.25, 0.5, 0.75, 1.0)
"""Scores of one game (loss, draw, win), and of a pair of games with colours reversed, as shares of its points."""


FEWEST_CASES = 5
"""Below so many cases nothing is said of their mean."""
FEWEST_DRAWS = 50
"""Of fewer bootstrap samples the ends of an interval are too uncertain."""
NORMAL_975 = 1.959964
"""97.5 % quantile of the normal distribution."""
_T975 = (
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
    2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
)  # fmt: skip
"""97.5 % quantiles of Student's t for 1 to 30 degrees of freedom."""


def student_interval(values: Sequence[float], among: int = 1) -> tuple[float, float, float] | None:
    """(mean, low, high): Student's 95 % interval of the mean; None with too few values or one that is not finite.

    Args:
        among: how many such intervals there are of which the data chose this one: all of them hold together with 95 %
            (Bonferroni).
    """
    if len(values) < FEWEST_CASES or not all(map(math.isfinite, values)):
        return None
    mean, degrees = sum(values) / len(values), len(values) - 1
    half = student_quantile(degrees, among) * (standard_error(values) or 0.0)
    return mean, mean - half, mean + half


def standard_error(values: Sequence[float]) -> float | None:
    """Of the mean of `values`; None for fewer than two, or one that is not finite."""
    if len(values) < 2 or not all(map(math.isfinite, values)):
        return None
    mean = sum(values) / len(values)
    return math.sqrt(sum((value - mean) ** 2 for value in values) / (len(values) - 1) / len(values))


def paired_error(a: Sequence[float], b: Sequence[float]) -> float | None:
    """Standard error of the mean difference of two programs over the same cases; None where they cannot be paired."""
    return standard_error([y - x for x, y in zip(a, b, strict=True)]) if len(a) == len(b) else None


def student_quantile(degrees: int, among: int = 1) -> float:
    """Half of the width of a 95 % interval in standard errors; of so many intervals that hold together (Bonferroni)."""
    return student_975(degrees) if among <= 1 else student_within(1 - 0.05 / among, degrees)


def student_975(degrees: int) -> float:
    """97.5 % quantile of Student's t; from 31 degrees on by the first terms of its expansion (Fisher 1925)."""
    if degrees <= len(_T975):
        return _T975[degrees - 1]
    z = NORMAL_975
    return z + (z**3 + z) / (4 * degrees) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * degrees**2)


@lru_cache(maxsize=64)
def student_within(share: float, degrees: int) -> float:
    """The t within whose both sides that share of Student's distribution lies: `student_975` is that of 0.95.

    Source: the finite sums of Abramowitz & Stegun 1964, 26.7.3 and 26.7.4, turned round by halving.
    """
    low, high = 0.0, math.pi / 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _student_share(middle, degrees) < share else (low, middle)
    return math.sqrt(degrees) * math.tan(low)


def _student_share(angle: float, degrees: int) -> float:
    """P(|T| < √degrees · tan(angle))."""
    is_odd = degrees % 2
    cosine = math.cos(angle)
    term, total = (cosine if is_odd else 1.0), 0.0
    for place in range(1 + is_odd, degrees, 2):
        total += term
        term *= place * cosine**2 / (place + 1)
    share = math.sin(angle) * total
    return (angle + share) * 2 / math.pi if is_odd else share


def drawn_interval(drawn: Sequence[float], cases: int) -> tuple[float, float] | None:
    """95 % interval of a statistic of `cases` independent cases, from its values on bootstrap samples of them.

    The percentile interval, its ends as far out as Student's quantile and the bootstrap's too small variance ask: of
    few cases the plain one is too narrow. None where the statistic seldom has a value.

    Source: Hesterberg 2015, "What Teachers Should Know About the Bootstrap", section 4.3 (expanded percentiles).
    """
    values = sorted(filter(math.isfinite, drawn))
    if cases < 2 or len(values) < max(FEWEST_DRAWS, len(drawn) // 2):
        return None
    cut = round(NormalDist().cdf(-student_975(cases - 1) * math.sqrt(cases / (cases - 1))) * (len(values) - 1))
    return values[cut], values[-1 - cut]


def proper_interval(pair: Any) -> tuple[float, float] | None:
    """(low, high) where that is an interval: two finite numbers, the second greater. One case has no spread: None."""
    if not isinstance(pair, list | tuple) or len(pair) != 2 or any(isinstance(end, bool | str) for end in pair):
        return None
    if not all(isinstance(end, int | float) and math.isfinite(end) for end in pair) or pair[0] >= pair[1]:
        return None
    return float(pair[0]), float(pair[1])


@dataclass(frozen=True, slots=True)
class Estimate:
    """An Elo difference with its interval; infinite ends where the data set none."""

    elo: float
    low: float
    high: float


def expected_score(elo: float) -> float:
    """Share of points that a player `elo` stronger takes: 1 / (1 + 10^(−elo/400)). Source: Elo 1978."""
    return 1 / (1 + 10 ** (-elo / 400))


def elo_of(score: float) -> float:
    """Elo difference at which `score` is expected; ±inf at 1 and 0. Inverse of `expected_score`."""
    if score <= 0:
        return -math.inf
    return math.inf if score >= 1 else -400 * math.log10(1 / score - 1)


def elo_estimate(counts: Sequence[int], outcomes: Sequence[float] = TRINOMIAL, z: float = Z95) -> Estimate:
    """Elo difference from how often each outcome came, by the normal approximation of the mean score.

    Args:
        counts: (losses, draws, wins) of games, or with `PENTANOMIAL` the five pair results, worst first. Pairs are the
            better unit: the two games from one opening are not independent.
        outcomes: share of points of each count.
    Returns:
        The interval is that of cutechess (`elo.cpp`) and fishtest (`stat_util.get_elo`), clipped to scores 0..1. Where
        all outcomes are alike the variance says nothing, and Wilson's bound stands in.
    """
    total = sum(counts)
    if total == 0:
        return Estimate(0.0, -math.inf, math.inf)
    mean, variance = moments(counts, outcomes)
    if variance <= 0:
        low, high = _wilson(mean, total, z)
    else:
        half = z * math.sqrt(variance / total)
        low, high = mean - half, mean + half
    return Estimate(elo_of(mean), elo_of(low), elo_of(high))


def moments(counts: Sequence[float], outcomes: Sequence[float]) -> tuple[float, float]:
    """(mean, variance) of one outcome under the observed frequencies. At least one count is positive."""
    total = sum(counts)
    mean = sum(n * x for n, x in zip(counts, outcomes, strict=True)) / total
    variance = sum(n * (x - mean) ** 2 for n, x in zip(counts, outcomes, strict=True)) / total
    return mean, variance


def _wilson(share: float, total: int, z: float) -> tuple[float, float]:
    """Wilson's score interval of a share. Source: Wilson 1927."""
    spread = z * math.sqrt(share * (1 - share) / total + z * z / (4 * total * total))
    centre = share + z * z / (2 * total)
    return (centre - spread) / (1 + z * z / total), (centre + spread) / (1 + z * z / total)


def los(wins: int, losses: int) -> float:
    """Likelihood of superiority: P(p > ½) of the share p of decided games that are won, all shares alike likely before.

    Draws tell nothing; 0.5 without a decided game. The usual Φ((w − l) / √(w + l)) says more than few games can: 84 %
    after a single win, 96 % after three. Source: chessprogramming.org, Match Statistics, with the beta integral as a
    sum of binomial coefficients.
    """
    games, ways, likelier = wins + losses + 1, 1, 1
    for lost in range(1, wins + 1):
        ways = ways * (games - lost + 1) // lost
        likelier += ways
    return likelier / (1 << games)


def pair_counts(pairs: Sequence[tuple[float, float]]) -> tuple[int, int, int, int, int]:
    """Pentanomial counts, worst first, of pairs of game scores (0, ½ or 1 each)."""
    counts = [0] * 5
    for first, second in pairs:
        counts[round((first + second) * 2)] += 1
    return counts[0], counts[1], counts[2], counts[3], counts[4]


# ---------------------------------------------------------------- SPRT


@dataclass(frozen=True, slots=True)
class Sprt:
    """State of a sequential probability ratio test. `verdict` is None while it is undecided."""

    llr: float
    lower: float
    upper: float
    verdict: Literal["H0", "H1"] | None


def sprt(
    counts: Sequence[int],
    outcomes: Sequence[float] = PENTANOMIAL,
    *,
    elo0: float,
    elo1: float,
    alpha: float = 0.05,
    beta: float = 0.05,
) -> Sprt:
    """Wald's test of H1 (Elo difference `elo1`) against H0 (`elo0`), generalised to unknown outcome frequencies.

    Both hypotheses take the frequencies that are most likely under their mean score. Source: Van den Bergh, "A
    practical introduction to the GSPRT"; fishtest `LLRcalc.py` (logistic Elo), zero counts 0.001 as there.
    """
    lower, upper = math.log(beta / (1 - alpha)), math.log((1 - beta) / alpha)
    if sum(counts) == 0:
        return Sprt(0.0, lower, upper, None)
    weights = [count or 1e-3 for count in counts]
    total = sum(weights)
    null, other = (_most_likely(weights, outcomes, expected_score(elo)) for elo in (elo0, elo1))
    llr = total * sum(w / total * math.log(q / p) for w, p, q in zip(weights, null, other, strict=True))
    verdict: Literal["H0", "H1"] | None = "H0" if llr <= lower else "H1" if llr >= upper else None
    return Sprt(llr, lower, upper, verdict)


def _most_likely(weights: Sequence[float], outcomes: Sequence[float], mean: float) -> list[float]:
    """Frequencies of greatest likelihood among those with the given mean: p_i / (1 + x (a_i − mean)).

    x is the root of Σ p_i (a_i − mean) / (1 + x (a_i − mean)), which falls from +inf to −inf between its poles.
    """
    total = sum(weights)
    shares = [weight / total for weight in weights]
    gaps = [outcome - mean for outcome in outcomes]
    low, high = -1 / max(gaps), -1 / min(gaps)
    for _ in range(200):
        x = (low + high) / 2
        slope = sum(p * gap / (1 + x * gap) for p, gap in zip(shares, gaps, strict=True))
        low, high = (x, high) if slope > 0 else (low, x)
    return [p / (1 + x * gap) for p, gap in zip(shares, gaps, strict=True)]


# ---------------------------------------------------------------- Bradley-Terry


def bradley_terry(
    results: Mapping[tuple[str, str], tuple[int, int, int]], anchor: str, *, prior: float = 1.0, z: float = Z95
) -> dict[str, Estimate]:
    """Elo of all players from all their games at once, `anchor` at 0.

    Args:
        results: (player, opponent) → (wins, draws, losses) of the player; a pair stands once, in either order.
        anchor: the player whose rating is fixed.
        prior: virtual drawn games a player, spread over its opponents as its games are; so a player without
            a loss stays finite.
    Returns:
        Estimates by maximum likelihood, a draw half a win; intervals from the inverse Hessian, against the
        anchor. Players that no chain of games connects with the anchor are left out.
    Source: Bradley & Terry 1952; Hunter 2004; the prior as in BayesElo (Coulom 2008).
    """
    import numpy as np

    players = _connected(results, anchor)
    index = {name: i for i, name in enumerate(players)}
    pairs = sorted(pair for pair in results if pair[0] in index and sum(results[pair]) > 0)
    games, scores = _with_prior(results, pairs, prior)
    if not pairs:
        return {anchor: Estimate(0.0, 0.0, 0.0)}
    first = np.array([index[a] for a, _ in pairs])
    second = np.array([index[b] for _, b in pairs])
    strength, covariance = _fit(np, first, second, np.array(games), np.array(scores), len(players), index[anchor])
    ratings = {}
    for name, i in index.items():
        elo, half = float(strength[i]) * ELO_PER_NAT, z * math.sqrt(max(float(covariance[i, i]), 0.0)) * ELO_PER_NAT
        ratings[name] = Estimate(elo, elo - half, elo + half)
    return ratings


def _with_prior(
    results: Mapping[tuple[str, str], tuple[int, int, int]], pairs: Sequence[tuple[str, str]], prior: float
) -> tuple[list[float], list[float]]:
    """Games and first player's points of each pair, virtual draws included."""
    played: dict[str, int] = {}
    for pair in pairs:
        for name in pair:
            played[name] = played.get(name, 0) + sum(results[pair])
    games, scores = [], []
    for pair in pairs:
        wins, draws, losses = results[pair]
        count = wins + draws + losses
        virtual = prior * count * (1 / played[pair[0]] + 1 / played[pair[1]])
        games.append(count + virtual)
        scores.append(wins + draws / 2 + virtual / 2)
    return games, scores


def _connected(results: Mapping[tuple[str, str], tuple[int, int, int]], anchor: str) -> list[str]:
    """Players that games connect with the anchor, sorted."""
    neighbours: dict[str, set[str]] = {anchor: set()}
    for (a, b), counts in results.items():
        if sum(counts) > 0:
            neighbours.setdefault(a, set()).add(b)
            neighbours.setdefault(b, set()).add(a)
    found, open_ = {anchor}, [anchor]
    while open_:
        for name in neighbours[open_.pop()] - found:
            found.add(name)
            open_.append(name)
    return sorted(found)


def _fit(np: Any, first: Any, second: Any, games: Any, scores: Any, count: int, anchor: int) -> tuple[Any, Any]:
    """Newton's method on the concave log-likelihood; (log-strengths with the anchor at 0, covariance)."""
    theta = np.zeros(count)
    free = np.array([i for i in range(count) if i != anchor], dtype=int)
    for _ in range(100):
        share = 1 / (1 + np.exp(theta[second] - theta[first]))
        surplus = scores - games * share
        weight = games * share * (1 - share)
        gradient, hessian = np.zeros(count), np.zeros((count, count))
        np.add.at(gradient, first, surplus)
        np.add.at(gradient, second, -surplus)
        np.add.at(hessian, (first, first), weight)
        np.add.at(hessian, (second, second), weight)
        np.add.at(hessian, (first, second), -weight)
        np.add.at(hessian, (second, first), -weight)
        inner = hessian[np.ix_(free, free)]
        step = np.linalg.solve(inner, gradient[free])
        theta[free] += np.clip(step, -1.0, 1.0)  # far from the optimum a full step may overshoot
        if np.max(np.abs(step)) < 1e-10:
            break
    covariance = np.zeros((count, count))
    covariance[np.ix_(free, free)] = np.linalg.inv(inner)
    return theta, covariance
