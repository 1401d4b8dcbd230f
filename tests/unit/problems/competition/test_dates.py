"""Columns of dates that are written in several ways: read where they can mean one thing."""

from __future__ import annotations

import re
from datetime import datetime

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from problems.competition.grader.tables.date_shapes import possible
from problems.competition.grader.tables.dates import dates_in
from problems.competition.grader.tables.times import FORMS, as_time, date_formats, read

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


NOISE = st.text("0123456789 aMJ./-:,TZ+年\t", max_size=4)


@given(st.sampled_from(FORMS), st.sampled_from(FORMS), st.datetimes(datetime(1970, 1, 1), datetime(2060, 1, 1)), NOISE)
def test_no_format_that_reads_a_text_is_passed_over_for_its_shape(form, written_in, when, noise):
    pattern = "%Y-%m-%dT%H:%M:%S" if written_in == "ISO8601" else written_in
    for text in (when.strftime(pattern), when.strftime(form.replace("ISO8601", "%Y-%m")) + noise, noise):
        texts = [text, re.sub(r"\b0(?=\d)", "", text)]
        known = [one for one in texts if read(pd.Series([one.strip()]), form).notna().all()]
        assert not [one for one in known if form not in possible([one.strip()], FORMS)]


def test_a_share_of_the_cells_is_enough_where_a_few_are_words():
    cells = ["1 March 2021", "2 Apr 2021 3:04 PM"] * 9 + ["unknown"] * 2
    assert possible(cells, ("%d %B %Y", "%d %b %Y %I:%M %p", "%Y%m%d"), 0.45) == ["%d %B %Y", "%d %b %Y %I:%M %p"]
    assert possible(cells, FORMS) == possible([], FORMS) == possible(["good", "bad"], FORMS) == []


def test_words_for_now_are_no_dates():
    """Pandas reads them by the clock: another number each time that a table is made ready."""
    assert date_formats(pd.Series(["today", "now"])) == []


def test_times_with_a_zone_in_letters_are_ordered():
    """As BigQuery writes them: a column of taxi rides was neither numbers nor dates of one format."""
    column = pd.Series(["2014-11-02 08:00:00 UTC", "2009-06-15 17:26:21 UTC", "2014-11-02 07:59:59 UTC"], name="when")
    assert as_time(column).argsort().tolist() == [1, 2, 0]
