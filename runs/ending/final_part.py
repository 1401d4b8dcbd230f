"""What the final part says of the winner and the baselines: how much was gained, on which cases, how surely."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import islice, zip_longest
from statistics import fmean
from typing import Any

from core.contracts import Evaluation, FinalEvaluation
from core.search.claim import Claim, drawn_claim, hardest, paired_claim
from core.state.node import Node
from reports.winner import named
from utils.direction import Direction
from utils.stats import proper_interval

MOST_CASES = 1000
"""Rows of the table of cases that are kept."""


def final_of(best: Node, score: Evaluation | None) -> dict[str, Any]:
    known = score if isinstance(score, FinalEvaluation) else FinalEvaluation()
    return {
        "node_id": best.id,
        "metric": score.metric if score else None,
        "interval": as_list(score.interval) if score else None,
        "cases": known.cases or (len(score.signature) or None if score else None),
        "validation_cases": known.validation_cases or len(best.signature) or None,
        "message": score.message if score else "",
        "detail": score.detail if score else {},
    }


def as_list(interval: Any) -> list[float] | None:
    proper = proper_interval(interval)
    return list(proper) if proper else None


def claim_of(
    winner: Evaluation | None,
    rows: Sequence[dict[str, Any]],
    finals: Sequence[Evaluation | None],
    lower_is_better: bool,
) -> dict[str, Any] | None:
    """The winner against the baseline that is hardest to beat, as plain JSON; None where nothing can be said."""
    if winner is None or winner.metric is None:
        return None
    found = [
        _claim(row["name"], winner, final, lower_is_better)
        for row, final in zip(rows, finals, strict=True)
        if final and final.metric is not None
    ]
    claim = hardest([claim for claim in found if claim is not None])
    if claim is None:
        return None
    return {
        "baseline": claim.baseline,
        "gain": claim.gain,
        "interval": list(claim.interval),
        "holds": claim.holds,
    }


def _claim(name: str, winner: Evaluation, final: Evaluation, lower_is_better: bool) -> Claim | None:
    assert winner.metric is not None and final.metric is not None
    gain = Direction(lower_is_better).real_gain(winner.metric, final.metric)
    found = None
    if isinstance(winner, FinalEvaluation) and isinstance(final, FinalEvaluation) and winner.draws and final.draws:
        found = drawn_claim(name, gain, winner.draws, final.draws, winner.cases or 0, lower_is_better)
    return found or paired_claim(name, gain, _shares(winner), _shares(final), lower_is_better)


def _shares(final: Evaluation) -> Sequence[float]:
    """What each case adds to the score, in its unit; () where nobody knows."""
    if isinstance(final, FinalEvaluation) and final.shares:
        return final.shares
    cases, score = final.signature, final.metric
    adds_up = bool(cases) and score is not None and math.isclose(fmean(cases), score, rel_tol=1e-9, abs_tol=1e-12)
    return cases if adds_up else ()


def table_of(
    winner: Evaluation | None,
    rows: Sequence[dict[str, Any]],
    finals: Sequence[Evaluation | None],
    lower_is_better: bool,
) -> dict[str, Any] | None:
    """The final part case by case: the winner beside the baseline that is best there and is not it; None without cases.

    `{baseline, rows: [{case, value, bound, gap, seconds, baseline}]}`.
    """
    if not isinstance(winner, FinalEvaluation) or not winner.table:
        return None
    known = [(row, f) for row, f in zip(rows, finals, strict=True) if isinstance(f, FinalEvaluation) and f.table]
    scored = [(row, f) for row, f in known if f.metric is not None]
    best = Direction(lower_is_better).best(scored, lambda pair: pair[1].metric or 0.0)
    beside = [case.value for case in best[1].table] if best else []
    pairs = islice(zip_longest(winner.table, beside[: len(winner.table)]), MOST_CASES)
    shown = [{**case.model_dump(mode="json"), "baseline": value} for case, value in pairs]
    return {"baseline": named(best[0]) if best else None, "rows": shown}
