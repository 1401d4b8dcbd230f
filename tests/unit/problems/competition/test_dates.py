"""Columns of dates that are written in several ways: read where they can mean one thing."""

from __future__ import annotations

import pandas as pd
import pytest

from problems.competition.grader.tables.dates import dates_in

READ = {
    "another way tells the order": (["13/04/2021 10:00", "05/06/2021"], ["2021-04-13 10:00:00", "2021-06-05 00:00:00"]),
    "days alone": (["13/04/2021", "5. April 2021", "n/a"], ["2021-04-13", "2021-04-05", None]),
}  # fmt: skip


@pytest.mark.parametrize("case", READ)
def test_dates_in_several_ways_are_written_in_one(case):
    cells, written = READ[case]
    values = pd.Series(cells, dtype=object)
    found = dates_in(lambda: [values])
    assert found is not None
    assert [None if pd.isna(cell) else cell for cell in found.read(values)] == written


@pytest.mark.parametrize(
    "cells",
    [
        ["03/04/2021 10:00", "05/06/2021"],
        ["13/04/2021 10:00", "04/13/2021 10:00:00", "05/06/2021"],
        ["13.04.2021", "05/06/2021"],
    ],
    ids=["nothing tells", "others contradict each other", "other marks tell nothing"],
)
def test_a_date_that_may_mean_two_days_leaves_the_column_as_text(cells):
    assert dates_in(lambda: [pd.Series(cells, dtype=object)]) is None
