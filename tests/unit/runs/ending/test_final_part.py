"""What the final part says of the winner: the claim against the baselines, where one can be made."""

from __future__ import annotations

import pytest

from core.contracts import Evaluation, FinalEvaluation
from runs.ending.final_part import claim_of

CASES = tuple(0.1 * n for n in range(40))
MEAN = sum(CASES) / len(CASES)


def scored(offset):
    return Evaluation(metric=MEAN + offset, signature=tuple(case + offset for case in CASES))


def rows(*names):
    return [{"name": name} for name in names]


def test_a_claim_is_made_against_the_baseline_that_is_hardest_to_beat():
    claim = claim_of(scored(0.0), rows("weak", "strong"), [scored(3.0), scored(0.5)], lower_is_better=True)
    assert claim["baseline"] == "strong" and claim["holds"] and claim["gain"] == pytest.approx(0.5)
    assert claim["interval"][0] > 0


def test_a_claim_that_does_not_hold_says_so():
    claim = claim_of(scored(1.0), rows("better"), [scored(0.0)], lower_is_better=True)
    assert not claim["holds"]


@pytest.mark.parametrize(
    ("winner", "finals"),
    [(None, [scored(1.0)]), (Evaluation(), [scored(1.0)]), (scored(0.0), [None]), (scored(0.0), [Evaluation()])],
)
def test_without_two_scores_nothing_is_claimed(winner, finals):
    assert claim_of(winner, rows("only"), finals, lower_is_better=True) is None


def test_the_same_score_but_for_rounding_is_the_same():
    """Sums in another order were told as worse by 1e-16, with an interval: do not use it."""
    claim = claim_of(scored(0.0), rows("only"), [scored(1e-15)], lower_is_better=True)
    assert claim["gain"] == 0.0 and claim["interval"][0] <= 0 <= claim["interval"][1]
    drawn = [FinalEvaluation(metric=1 + e, draws=tuple(1 + e + n / 9 for n in range(99)), cases=99) for e in (0, 1e-15)]
    assert claim_of(drawn[0], rows("only"), drawn[1:], lower_is_better=True)["interval"] == [0.0, 0.0]


def test_what_a_claim_is_made_from_is_not_told_beside_it():
    """The report of a competition showed a thousand scores of resampled rows."""
    mine, other = (
        FinalEvaluation(metric=m, draws=(m, m + 0.1) * 50, drawn="whole groups", cases=30) for m in (1.0, 2.0)
    )
    assert claim_of(mine, rows("only"), [other], lower_is_better=True)["gain"] == 1.0
    assert mine.detail == {"drawn": "whole groups", "cases": 30}


def test_cases_in_another_unit_than_the_score_claim_nothing():
    """Bins used on each instance are no shares of the excess: their interval is one of other figures."""
    bins = [Evaluation(metric=0.04 + 0.01 * n, signature=tuple(400.0 + n + i for i in range(9))) for n in range(2)]
    assert claim_of(bins[0], rows("only"), bins[1:], lower_is_better=True) is None
    shared = [FinalEvaluation(metric=b.metric, shares=tuple(b.metric + 0.001 * i for i in range(9))) for b in bins]
    assert claim_of(shared[0], rows("only"), shared[1:], lower_is_better=True)["gain"] == pytest.approx(0.01)
