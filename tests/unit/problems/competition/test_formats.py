"""What a CSV cannot hold as it is: lists, sets, arrays, bytes."""

import json

import numpy as np
import pandas as pd

from problems.competition.grader.tables.nested_cells import flat


def test_lists_and_the_like_become_their_json_and_bytes_that_are_no_text_are_left_out():
    table = pd.DataFrame(
        {
            "list": [[1, "x"], None],
            "array": [np.array([1.5, 2.5]), np.array([])],
            "struct": [{"v": np.array([1]), "when": pd.Timestamp("2024-01-02")}, {"v": None, "when": None}],
            "text": [b"caf\xc3\xa9", b"tea"],
            "picture": [b"\x89PNG", b"\x89PNG"],
            "in_struct": [{"bytes": b"\x89PNG"}, {"bytes": b"\x89PNG"}],
            "plain": ["a", None],
            "number": [1, 2],
        }
    )
    plain, told = flat(table, "")
    assert list(plain) == ["list", "array", "struct", "text", "plain", "number"]
    assert told == "without picture, in_struct, which holds bytes that are no text"
    assert [json.loads(cell) for cell in plain["array"]] == [[1.5, 2.5], []]
    assert json.loads(plain["list"][0]) == [1, "x"] and plain["list"].isna()[1]
    assert json.loads(plain["struct"][0]) == {"v": [1], "when": "2024-01-02 00:00:00"}
    assert plain["text"].tolist() == ["café", "tea"] and plain["number"].tolist() == [1, 2]
