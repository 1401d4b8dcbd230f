"""What a verdict may hold as a score, whoever gives it."""

from __future__ import annotations

import math
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.contracts import Evaluation, FinalEvaluation
from core.evaluation.base import signature_of
from core.state.failure import FailureKind
from utils.best_of import expected_best
from utils.direction import LARGEST, as_score
from utils.stats import student_interval


@pytest.mark.parametrize("value", [math.nan, math.inf, -sys.float_info.max, 1e151, 10**400])
@pytest.mark.parametrize("kind", [Evaluation, FinalEvaluation])
def test_what_is_no_score_is_a_failure_of_the_program(kind, value):
    verdict = kind(metric=value, failure=None, source="verified")
    assert (verdict.metric, verdict.failure) == (None, FailureKind.NON_FINITE) and "the score is " in verdict.message
    told = kind(metric=value, failure=FailureKind.TAMPERED, message="it was changed")
    assert (told.metric, told.failure, told.message) == (None, FailureKind.TAMPERED, "it was changed")
    assert signature_of([1.0, value]) == ()


def test_a_verdict_that_comes_back_as_text_is_looked_at_too():
    assert Evaluation.model_validate_json('{"metric": 1e200}').failure is FailureKind.NON_FINITE
    assert Evaluation.model_validate_json('{"metric": 3}').metric == 3.0


SCORES = st.floats(-LARGEST, LARGEST) | st.sampled_from([-LARGEST, LARGEST, 0.0, 1.0])


@given(st.lists(SCORES, min_size=5, max_size=8))
def test_of_scores_every_statistic_is_a_number(values):
    assert all(as_score(value) is not None for value in values)
    found = student_interval(values)
    assert found is not None and all(map(math.isfinite, (*found, *expected_best(values, 50))))
