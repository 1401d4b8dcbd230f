"""Tables in JSON, in the forms that web services and pandas write."""

import io
import json

import pandas as pd
import pytest

from problems.competition.grader.tables import json_records
from problems.competition.grader.tables.json_records import read_lines, read_records

ROWS = [{"a": i, "b": "x"} for i in range(5)]
FRAME = pd.DataFrame(ROWS)


@pytest.mark.parametrize(("value", "shape", "form"), [
    (ROWS, (5, 2), ""),
    ({"data": ROWS, "count": 5, "tags": ["a"]}, (5, 2), "rows below the key 'data'"),
    ({"answer": {"page": {"rows": ROWS}}}, (5, 2), "rows below the key 'answer.page.rows'"),
    ({"a": [1, 2, 3], "b": ["x", "y", "z"]}, (3, 2), ""),
    ({"a": {"0": 1, "1": 2}, "b": {"0": 3, "1": 4}}, (2, 2), ""),
    ({"0": {"0": 1, "1": 2}, "1": {"0": 3, "1": 4}}, (2, 2), ""),
    ({"may": ROWS, "june": ROWS}, (5, 2), ""),
    ({"Train": ROWS, "test": ROWS[:3]}, (5, 2), "rows below the key 'Train'"),
    ([["a", "b"], *([row["a"], row["b"]] for row in ROWS)], (5, 2), "its first row names the columns"),
    ([["a", "b"], ["c", "d"]], (2, 2), ""),
    *((json.loads(FRAME.to_json(orient=orient)), (5, 2), form) for orient, form in {
        "split": "rows and names of columns apart", "index": "a key for each row", "records": "", "columns": "",
        "values": "",
    }.items()),
    (json.loads(FRAME.to_json(orient="table")), (5, 3), "rows below the key 'data'"),
])  # fmt: skip
def test_rows_are_found_in_every_form(value, shape, form):
    table, found = read_records(io.StringIO(json.dumps(value)))
    assert table.shape == shape and found == form
    assert set(table) >= {"a", "b"} or found == ""


@pytest.mark.parametrize(("text", "told"), [
    ("{nothing", "Expecting property name"),
    ('"a text"', "it holds a single value, no rows"),
    ('{"a": 1}', "no list of rows is in it"),
    ("[1, 2]", "a list of single values, not of rows"),
    ('[{"a": 1}, [2]]', "its rows are dict and list: write them alike"),
    ('[["a"], [1, 2]]', "a row is longer than the first, which names the columns"),
    ('[["a", "a"], [1, 2]]', "several columns are called 'a': rename all but one"),
    ('{"columns": ["a", "a"], "data": [[1, 2]]}', "several columns are called 'a': rename all but one"),
    (json.dumps({"may": ROWS, "june": ROWS[:3]}), "rows below the keys may, june: call one of them train"),
])  # fmt: skip
def test_what_has_no_rows_is_refused_with_the_reason(text, told):
    with pytest.raises(ValueError, match=told):
        read_records(io.StringIO(text))


def test_a_line_that_is_none_is_told():
    with pytest.raises(ValueError, match="line 3 is no JSON: Unterminated string"):
        read_lines(io.StringIO('{"a": 1}\n\n{"a": "b'))


def test_numbers_are_read_to_the_last_digit_and_are_no_dates():
    """As `pandas.read_json` reads them 0.3 is 0.30000000000000004, and a target called `date` was a thousand times what
    it is."""
    row = {"a": 0.3, "date": 1_600_000_000, "wait_time": 40_000_000, "big": 2**70, "small": 5e-324, "of": "2021-03"}
    for read in (lambda text: read_records(text)[0], read_lines):
        text = json.dumps(row) if read is read_lines else json.dumps([row])
        assert read(io.StringIO(text)).iloc[0].to_dict() == row


def test_texts_of_digits_are_numbers_unless_they_are_asked_for_as_they_stand():
    text = json.dumps([{"id": "007", "n": "1.5", "w": "x"}, {"id": "008", "n": None, "w": "2"}])
    table = read_records(io.StringIO(text))[0]
    assert table["id"].tolist() == [7, 8] and table["n"][0] == 1.5 and table["w"].tolist() == ["x", "2"]
    assert read_records(io.StringIO(text), as_written=True)[0]["id"].tolist() == ["007", "008"]


def test_no_cell_is_looked_at_in_vain(monkeypatch):
    """Of records every key of every row was tried as a number, twice, and every word: most of the time that it took."""
    tried: list[int] = []
    in_earnest = pd.to_numeric
    monkeypatch.setattr(json_records, "_is_number", lambda text: tried.append(1))
    monkeypatch.setattr(pd, "to_numeric", lambda cells, **how: tried.append(len(cells)) or in_earnest(cells, **how))
    rows = [{"word": f"x{i}", "number": str(i), "late": str(i) if i < 900 else "x"} for i in range(1000)]
    table, _ = read_records(io.StringIO(json.dumps(rows)))
    assert table["number"].tolist() == list(range(1000)) and table["late"].tolist() == [row["late"] for row in rows]
    assert sorted(tried) == [json_records.SHOWN] * 3 + [1000] * 2


def test_half_a_character_is_read_as_none():
    """Of texts that were cut amid an emoji JSON may hold a half, and no file can: preparing ended in a traceback."""
    rows = [{"a\ud83d": "cut \ud83d", "b": ["\ude00", 1]}, {"a\ud83d": "whole \U0001f600", "b": []}]
    for table in (
        read_records(io.StringIO(json.dumps(rows)))[0],
        read_lines(io.StringIO("\n".join(map(json.dumps, rows)))),
    ):
        assert list(table) == ["a\ufffd", "b"] and list(table["a\ufffd"]) == ["cut \ufffd", "whole \U0001f600"]
        assert table["b"][0] == ["\ufffd", 1]
