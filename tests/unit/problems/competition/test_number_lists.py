"""Cells that are lists of numbers, such as the pixels of a picture, become columns of numbers."""

import numpy as np
import pandas as pd
import pytest

from problems.competition.rules import script
from problems.competition.rules.facts import read_facts
from problems.competition.rules.number_lists import lines, width
from problems.competition.rules.recipe import Member, Recipe
from utils.data_preview import profile

DRAW = np.random.default_rng(0)


def cells(table, mark=" "):
    return [mark.join(map(str, row)) for row in table]


@pytest.mark.parametrize(
    ("written", "count"),
    [
        (cells(DRAW.integers(0, 256, (40, 9))), 9),
        ([f"[{cell}]" for cell in cells(DRAW.normal(size=(40, 8)).round(3), ", ")], 8),
        (cells(DRAW.integers(0, 256, (40, 7))), None),
        ([*cells(DRAW.integers(0, 9, (39, 9))), "1 2 3 4 5 6 7 8"], None),
        ([f"the {row} first of all these words here" for row in range(40)], None),
    ],
)
def test_lists_of_one_length_are_told_from_texts(written, count):
    (column,) = profile(pd.DataFrame({"cell": written}))
    assert column.get("listed") == count and (count is None or column["kind"] == "text")


def expanded(rows, test_rows, lists):
    names = {"np": np, "pd": pd, "rows": rows, "test_rows": test_rows}
    exec("\n".join(lines(lists, rows.columns)), names)
    return names["rows"], names["test_rows"]


def test_each_number_is_a_column_and_cells_that_are_no_such_list_are_missing():
    points = DRAW.integers(0, 256, (5, 9))
    rows = pd.DataFrame({"x": range(5), "pixels_0": 1, "pixels": cells(points)}, index=range(10, 15))
    odd = rows.assign(pixels=[None, "a b", "1 2 3", rows["pixels"].iloc[3], ""])
    mine, theirs = expanded(rows, odd, {"pixels": 9})
    assert list(mine) == ["x", "pixels_0", *(f"pixels__{place}" for place in range(9))]
    assert (mine.iloc[:, 2:].to_numpy() == points).all() and list(mine.index) == list(rows.index)
    assert theirs.iloc[:, 2:].notna().any(axis=1).tolist() == [False, False, False, True, False]


def test_large_pictures_become_a_grid_and_other_long_lists_means_of_stretches():
    picture = np.kron(np.arange(256).reshape(16, 16), np.ones((3, 3), int)).ravel()
    rows = pd.DataFrame({"pixels": cells([picture]), "sound": cells([np.repeat(np.arange(400), 3)], ",")})
    mine, _ = expanded(rows, rows.copy(), {"pixels": 2304, "sound": 1200})
    assert mine.filter(like="pixels").iloc[0].tolist() == list(range(256))
    assert mine.filter(like="sound").iloc[0].tolist() == list(range(400))
    assert width({"pixels": 2304, "sound": 1200, "short": 9}) == 809


def test_programs_learn_from_the_numbers_and_no_words_of_them():
    table = pd.DataFrame({"id": range(40), "pixels": cells(DRAW.integers(0, 256, (40, 9))), "kind": range(40)})
    table["kind"] %= 2
    data = {
        "columns": profile(table), "id": "id", "targets": ["kind"], "label": "kind", "task": "labels",
        "metric": "accuracy", "rows": {"train": 40, "test": 9},
    }  # fmt: skip
    facts = read_facts({"data": data})
    assert facts.lists == {"pixels": 9} and not facts.texts and facts.is_table
    program = script.render(Recipe(members=(Member("hgb"),)), facts)
    assert "{'pixels': (9, 'pixels__')}" not in program and "{'pixels': (9, 'pixels_')}" in program
    assert "texts = []" in program
