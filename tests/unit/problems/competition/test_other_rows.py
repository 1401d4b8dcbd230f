"""Another table for a winner to predict has to look as the run's programs expect."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from problems.competition.other_rows import check_alike, with_rows
from problems.competition.source import Source
from utils.errors import ConfigError

ROWS = Path("new.csv")


def prepared(*columns):
    meta = {"id": "id", "targets": ["y"], "columns": [{"name": name, "kind": kind} for name, kind in columns]}
    return SimpleNamespace(meta=meta)


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ([("area", "number"), ("new", "text"), ("y", "category")], None),
        ([("y", "number")], "data.test=new.csv: the column 'area' is missing"),
        ([("area", "text")], "'area' is a number for the run's programs, and with this table a text"),
    ],
)
def test_columns_that_programs_would_not_find_are_told(columns, said):
    run = prepared(("area", "number"), ("y", "number"))
    if said is None:
        check_alike(run, prepared(*columns), ROWS)
    else:
        with pytest.raises(ConfigError, match=said):
            check_alike(run, prepared(*columns), ROWS)


def test_what_belongs_to_the_runs_own_test_is_left_out():
    request = {"kind": "own", "train": "a.csv", "test": "b.csv", "sample": "c.csv", "parts": {"test": ["b1", "b2"]}}
    made = with_rows(Source("n", "RMSE", True, request, ""), prepared(), ROWS)
    assert made.request == {"kind": "own", "train": "a.csv", "test": "new.csv", "key": "id"} and ROWS in made.stamped
    with pytest.raises(ConfigError, match="only a run on data of your own"):
        with_rows(Source("n", "RMSE", True, {"kind": "folder"}, ""), prepared(), ROWS)
