"""What a verdict may hold as a score, whoever gives it."""

from __future__ import annotations

import math
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.loop import open_loop
from support.plugins.toy import ToyEvaluator

from core.contracts import Evaluation, FinalEvaluation
from core.evaluation.base import signature_of
from core.state.failure import FailureKind
from core.storage.reader import RunReader
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


class _Odd(ToyEvaluator):
    """Of a plug-in: its score is sound, and what stands beside it is what NumPy makes of too few samples."""

    def __init__(self, told):
        super().__init__()
        self._told = told

    def evaluate(self, nodes):
        return [Evaluation(**{**found.model_dump(), **self._told}) for found in super().evaluate(nodes)]


@pytest.mark.parametrize(
    ("told", "kept"),
    [
        ({"seconds": math.nan}, {"exec_time": 0.0}),
        ({"interval": (math.nan, math.nan)}, {"interval": None}),
        ({"interval": (-math.inf, 1.0)}, {"interval": None}),
        ({"interval": (2.0, 1.0)}, {"interval": None}),
        ({"interval": (1.0, 1.0)}, {"interval": (1.0, 1.0)}),
        ({"cheap_score": math.nan}, {"cheap_score": None}),
        ({"signature": (1e200, 2.0)}, {"signature": ()}),
        ({"repeats": (1.0, math.nan)}, {"repeats": ()}),
        ({"features": {"depth": math.inf, "width": 2.0}}, {"features": {"width": 2.0}}),
    ],
)
def test_numbers_beside_a_score_that_are_none_are_left_out(tmp_path, told, kept):
    """They were kept: the run broke off, or nobody could list it any more."""
    loop = open_loop(tmp_path, steps=4, batch=1, evaluator=_Odd(told))
    assert loop.run().startswith("max_steps")
    loop.store.close()
    with RunReader(tmp_path) as reader:
        scored = [node for node in reader.nodes() if node.failure is None]
        assert len(reader.outline()) == 4 and reader.failures().keys() <= {"runtime"} and scored
        assert all({name: getattr(node, name) for name in kept} == kept for node in scored)


def test_of_the_final_part_too():
    odd = {"validation_interval": (math.nan, 1.0), "head_to_head": {"low": -math.inf, "elo": 3.0}}
    found = FinalEvaluation(metric=1.0, **odd)
    assert found.validation_interval is None and found.head_to_head == {"low": "-inf", "elo": 3.0}
