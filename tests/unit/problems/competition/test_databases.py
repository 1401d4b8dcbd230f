"""A database of a stranger's: what one line of its schema can make of it."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from problems.competition.grader.tables.contents import read_any
from problems.competition.grader.tables.databases import MOST_CELL
from problems.competition.grader.tables.exact import Unusable


@pytest.mark.parametrize(("size", "fits"), [(1000, True), (MOST_CELL + 1, False)])
def test_a_computed_column_has_an_end(tmp_path, size, fits):
    path = tmp_path / "train.db"
    with closing(sqlite3.connect(path)) as database:
        database.execute(f"CREATE TABLE train (id, y, z GENERATED ALWAYS AS (hex(zeroblob({size // 2}))) VIRTUAL)")
        database.executemany("INSERT INTO train VALUES (?, ?)", [(n, n) for n in range(50)])
        database.commit()
    if fits:
        assert len(read_any(path)[0]) == 50
    else:
        with pytest.raises(Unusable, match="too big"):
            read_any(path)
