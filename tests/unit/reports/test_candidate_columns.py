"""Columns of `export --format parquet`, which has one type for each."""

import json
import math

import pytest

from reports.candidate_columns import of_one_kind


@pytest.mark.parametrize("values", [[1, None, 2], [1.5, 2], ["a", None], [True, False], [["a"], []], [None], []])
def test_what_isof_one_kind_stays(values):
    assert of_one_kind(values) == values


@pytest.mark.parametrize("values", [[1, "x"], [True, 2.0], [1, True, None], [2**63, 1], [-(2**70)], [{"a": 1}, 1]])
def test_what_is_not_becomes_texts_that_say_the_same(values):
    told = of_one_kind(values)
    assert all(text is None or isinstance(text, str) for text in told)
    assert [text if text in (None, "x") else json.loads(text) for text in told] == values


def test_words_for_what_is_no_finite_number_are_numbers_among_numbers():
    told = of_one_kind([1, "nan", "-inf", None])
    assert told[0] == 1 and math.isnan(told[1]) and told[2] == -math.inf and told[3] is None
    assert of_one_kind(["nan", "inf"]) == ["nan", "inf"]


def test_half_a_character_is_replaced():
    assert of_one_kind(["a\ud800"])[0].encode()
