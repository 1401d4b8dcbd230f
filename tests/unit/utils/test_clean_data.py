"""What an evaluator returned becomes plain data that everything downstream can hold."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.contracts import Evaluation
from core.evaluation.isolation.evaluator import EvaluatorRun
from core.state.text import MEASURED, RETURNED
from problems.script.reading import verdict_of
from utils.clean_data import Bounds, clean_data

ODD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(codec=None)) | st.just("\ud800"),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text() | st.just("\udfff"), inner, max_size=4),
    max_leaves=12,
)


@given(ODD)
def test_whatever_it_is_it_can_be_stored_and_read_again(value):
    kept = clean_data(value)
    text = json.dumps(kept, ensure_ascii=False, allow_nan=False)
    assert json.loads(text.encode()) == kept and clean_data(kept) == kept


def test_plain_data_stay_as_they_are():
    plain = {"a": [1, 2.5, None, True, "text\nof two lines"], "b": {"c": "\N{SNOWMAN}"}, "": 2**53}
    assert clean_data(plain) == plain


@pytest.mark.parametrize("number", [math.nan, math.inf, 10**400, -(10**400)])
def test_a_number_that_json_has_no_word_for_becomes_its_text(number):
    assert clean_data([number]) == [repr(number)]


def test_what_is_too_deep_or_too_much_is_left_out():
    deep = []
    for _ in range(1000):
        deep = [deep]
    json.dumps(clean_data(deep))
    most = Bounds(values=100, text=10, characters=300)
    assert len(clean_data({f"m{i}": i for i in range(1000)}, most)) < 100
    texts = clean_data({f"m{i}": "x" * 1000 for i in range(1000)}, most)
    assert max(map(len, texts.values())) == 10 and sum(map(len, (*texts, *texts.values()))) <= 310


def test_a_score_counts_every_number_and_a_node_keeps_some():
    returned = {"metrics": {f"m{i}": float(i % 2) for i in range(50_000)}, "artifacts": {"note": "x" * 50_000}}
    verdict = verdict_of(EvaluatorRun(value=returned), metric=None, timeout=1.0, unisolated="")
    assert verdict.metric == 0.5 and MEASURED.values - 5 < len(verdict.metrics) <= MEASURED.values
    assert RETURNED.values >= 1_000_000
    long = Evaluation(metrics={"text": "y" * 5000, "more": ["z" * 4000] * 100})
    assert len(long.metrics["text"]) == 4000 and len(json.dumps(long.metrics)) < 220_000


def test_a_number_that_python_does_not_write_is_a_text_too():
    assert clean_data(10**5000).startswith("0x") and clean_data(10**400) == str(10**400)
