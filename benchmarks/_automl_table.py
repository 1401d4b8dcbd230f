"""The table of `benchmarks.automl`: gains by set, their intervals, and how often `rules` is better, level or worse."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

from benchmarks._automl_sets import HELD_OUT, TABLES
from utils.stats import student_975


def summary(rows: Sequence[dict[str, Any]]) -> str:
    """A table for each time and rival, and how often `rules` is better, level or worse.

    `load` is that of the whole machine meanwhile, also where the processors of this were kept free of it. `took` is
    seconds of `rules`, with start and refit, and of the rival, with its imports.
    """
    parts = []
    rivals = sorted({name for row in rows for name in row["gain"]})
    kinds = sorted({(row["seconds"], row["boosters"], TABLES[row["set"]].later) for row in rows})
    for (seconds, boosters, later), rival in itertools.product(kinds, rivals):
        kind = [r for r in rows if (r["seconds"], r["boosters"], TABLES[r["set"]].later) == (seconds, boosters, later)]
        if chosen := [row for row in kind if rival in row["gain"]]:
            beside = " (with the rival's libraries)" if boosters else ""
            of = ", tables that nobody looked at before" if later else ""
            parts.append(f"rules{beside} against {rival}, {seconds:g} s{of}, {_where(chosen)}\n{_table(chosen, rival)}")
    return "\n\n".join(parts) or "nothing is measured yet"


def _where(rows: Sequence[dict[str, Any]]) -> str:
    """Processors that the systems had, and the days."""
    cores, days = sorted({row["cores"] for row in rows}), sorted({row["day"] for row in rows})
    return f"processors: {' or '.join(map(str, cores))}; {' to '.join(dict.fromkeys((days[0], days[-1])))}"


def _table(rows: Sequence[dict[str, Any]], rival: str) -> str:
    lines = [
        f"{'set':<15}{'rows':>7}{'metric':>8}{'splits':>7}{'load':>6}{'took':>9}{'rules':>11}{rival:>11}"
        f"{'gain':>9}{'95 % of it':>19}"
    ]
    counts, plain = ({"better": 0, "level": 0, "worse": 0} for _ in range(2))
    for name in dict.fromkeys(row["set"] for row in rows):
        mine = [row for row in rows if row["set"] == name]
        gains = [row["gain"][rival] for row in mine]
        middle, low, high = interval(gains)
        verdict = _verdict(low, high)
        counts[verdict] += 1
        plain[_verdict(*interval(gains, shared=0)[1:])] += 1
        load = sum(row["load"] for row in mine) / len(mine)
        scores, took = (
            [sum(row[what][system] for row in mine) / len(mine) for system in ("rules", rival)]
            for what in ("score", "took")
        )
        seconds = "/".join(f"{one:.0f}" for one in took)
        lines.append(
            f"{name:<15}{mine[0]['rows']:>7}{mine[0]['metric']:>8}{len(mine):>7}{load:>6.1f}{seconds:>9}"
            f"{scores[0]:>11.5g}{scores[1]:>11.5g}"
            f"{middle:>9.1%}{f'{low:+.1%} … {high:+.1%}':>19} {verdict}"
        )
    ended, by_plain = (", ".join(f"{verdict} on {count}" for verdict, count in one.items()) for one in (counts, plain))
    return "\n".join([*lines, ended + (f"; by the plain paired t-test {by_plain}" if plain != counts else "")])


def _verdict(low: float, high: float) -> str:
    return "better" if low > 0 else "worse" if high < 0 else "level"


def interval(
    gains: Sequence[dict[str, float]], shared: float = HELD_OUT / (1 - HELD_OUT)
) -> tuple[float, float, float]:
    """Mean gain and its 95 % interval: Student's t over three splits or more, else from the rows of the test parts
    (without an end where a gain has no error over rows).

    Splits of one table share rows, so that their gains are alike: each tells less than a table of its own would.
    Source: Nadeau & Bengio 2003, the corrected resampled t-test.

    Args:
        shared: the test part over the rest; 0 as if splits shared none, which is the plain paired t-test.
    """
    means = [one["mean"] for one in gains]
    middle = sum(means) / len(means)
    if len(means) > 2:
        variance = sum((one - middle) ** 2 for one in means) / (len(means) - 1)
        wide = student_975(len(means) - 1) * math.sqrt(variance * (1 / len(means) + shared))
    else:
        wide = 1.96 * math.sqrt(sum(one.get("error", math.inf) ** 2 for one in gains)) / len(gains)
    return middle, middle - wide, middle + wide
