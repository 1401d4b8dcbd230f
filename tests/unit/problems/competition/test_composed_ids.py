"""Ids that are put together of others: what is predicted is taken off their end."""

import pandas as pd
import pytest

from problems.competition.grader.own_data.composed_ids import without_words


@pytest.mark.parametrize(
    ("ids", "found"),
    [
        (["1_age", "1_grand_age", "2_age"], (["1", "1_grand", "2"], "_")),
        (["1_age", "1_income"], None),
        (["1_age", "1-age"], None),
        (["1age"], None),
        (["_age"], None),
        ([], None),
    ],
)
def test_what_is_predicted_is_taken_off_ids(ids: list[str], found: tuple[list[str], str] | None):
    told = without_words(pd.Series(ids, dtype=object), ["age", "height"])
    assert (told and ([*told[0]], told[1])) == found
