"""Which of several tables has the labels, and which column names its rows and those of the training table."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from problems.competition.grader.own_data.second_table import second_table, shared_key
from problems.competition.grader.tables.exact import Unusable


def chosen(folder: Path, *names: str) -> str:
    for name in ("X_train.csv", *names):
        (folder / name).write_text("id,y\n1,2\n" if name != "X_train.csv" else "id,a\n1,2\n")
    train = folder / "X_train.csv"
    return second_table(["y"], {"folder": folder, "train": train, "originals": [str(train)]}, ["id", "a"]).name


def test_labels_of_the_test_are_not_those_of_training(tmp_path):
    assert chosen(tmp_path, "y_test.csv", "y_train.csv") == "y_train.csv"


def test_the_only_table_with_the_target_is_taken_whatever_it_is_called(tmp_path):
    assert chosen(tmp_path, "contest.csv") == "contest.csv"


def test_of_two_the_user_says_which(tmp_path):
    with pytest.raises(Unusable, match=r"in one\.csv, two\.csv; say which: --data\.labels=FILE"):
        chosen(tmp_path, "two.csv", "one.csv")


@pytest.mark.parametrize("order", [["id", "number", "place"], ["place", "number", "id"]])
def test_rows_are_joined_by_the_column_that_finds_most_of_them(order):
    """A number of its own in each table looks like a name of rows, too, and finds some of them."""
    labels = pd.DataFrame({"id": range(100, 120), "number": range(20), "place": [1] * 20, "y": 0})[[*order, "y"]]
    train = pd.DataFrame({"id": range(100, 120), "number": range(15, 35), "place": [1] * 20})
    assert shared_key(train, labels, ["y"]) == "id"
    assert shared_key(train[["place"]], labels, ["y"]) is None
