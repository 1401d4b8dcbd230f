"""Tables that are written in the letters of `DataFrame.to_csv`, whatever they hold."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from problems.competition.grader.tables import csv_text
from problems.competition.grader.tables.csv_text import csv_lines, write_csv

WORDS = st.one_of(st.none(), st.sampled_from(["", " lead", 'a "b"', "a,b", "two\nlines", "cr\rlf", "nan", "é", "07"]))
CELLS = {
    "float64": st.one_of(st.none(), st.floats(), st.sampled_from([-0.0, 0.0, 1e16, 1e-5, 5e-324, 0.1])),
    "float32": st.one_of(st.none(), st.floats(width=32)),
    "int64": st.integers(-(2**63), 2**63 - 1),
    "uint64": st.integers(0, 2**64 - 1),
    "int8": st.integers(-128, 127),
    "bool": st.booleans(),
    "boolean": st.one_of(st.none(), st.booleans()),
    "Int64": st.one_of(st.none(), st.integers(-(2**53), 2**53)),
    "str": WORDS,
    "object": st.one_of(WORDS, st.booleans(), st.integers(), st.floats(), st.lists(st.integers(), max_size=2)),
    "category": WORDS,
    "datetime64[ns]": st.one_of(st.none(), st.datetimes(pd.Timestamp("1800-01-01"), pd.Timestamp("2200-01-01"))),
}


@st.composite
def tables(draw):
    rows, kinds = draw(st.integers(0, 12)), draw(st.lists(st.sampled_from(sorted(CELLS)), min_size=1, max_size=6))
    names = draw(st.lists(st.sampled_from(["a", "b,c", 'd"', "é", "7"]), min_size=len(kinds), max_size=len(kinds)))
    cells = [draw(st.lists(CELLS[kind], min_size=rows, max_size=rows)) for kind in kinds]
    table = pd.concat([pd.Series(each, dtype=kind) for each, kind in zip(cells, kinds, strict=True)], axis=1)
    return table.set_axis(names, axis=1)


@given(tables(), st.integers(1, 40))
def test_the_letters_are_those_of_pandas(table, cells):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_text, "CELLS", cells)  # lines of one table come in several parts
        assert "".join(csv_lines(table)) == table.to_csv(index=False)


def test_pieces_of_a_table_become_one_file(tmp_path):
    table = pd.DataFrame({"x": np.arange(9) / 7, "name": list("abcdefghi")})
    path = tmp_path / "train.csv"
    for start in range(0, 9, 4):
        write_csv(table.iloc[start : start + 4], path, more=True)
    assert path.read_text() == table.to_csv(index=False)
    write_csv(table, path)
    assert path.read_text() == table.to_csv(index=False), "what was there is gone"
