"""Rows below a key of a JSON object."""

import io
import json

import pytest

from problems.competition.grader.tables.json_records import read_records

ROWS = [{"a": i, "b": "x"} for i in range(5)]


@pytest.mark.parametrize(("value", "shape", "key"), [
    (ROWS, (5, 2), ""),
    ({"data": ROWS, "count": 5, "tags": ["a"]}, (5, 2), "data"),
    ({"answer": {"page": {"rows": ROWS}}}, (5, 2), "answer.page.rows"),
    ({"a": [1, 2, 3], "b": ["x", "y", "z"]}, (3, 2), ""),
    ({"a": {"0": 1, "1": 2}, "b": {"0": 3, "1": 4}}, (2, 2), ""),
    ({"may": ROWS, "june": ROWS}, (5, 2), ""),
])  # fmt: skip
def test_the_only_list_of_records_is_the_table(value, shape, key):
    table, found = read_records(io.BytesIO(json.dumps(value).encode()))
    assert table.shape == shape and found == key


def test_what_is_no_json_is_refused_by_pandas():
    with pytest.raises(ValueError, match="Unexpected character"):
        read_records(io.BytesIO(b"{nothing"))
