"""Submissions in the form that a sample asks for, where it is not what training tells: classes, spelling, names."""

import csv

import numpy as np
import pandas as pd
import pytest
from support.competition_stand import Stand, writes
from support.notebook_cells import run_cells

COUNT, TESTED = 160, 40
DRAW = np.random.default_rng(5)
FRAME = pd.DataFrame({"id": range(COUNT), "size": DRAW.gamma(3, 30, COUNT).round(1), "tag": DRAW.integers(0, 9, COUNT)})


def laid_out(tmp_path, **tables):
    """A folder of these tables."""
    (tmp_path / "mine").mkdir()
    for name, table in tables.items():
        table.to_csv(tmp_path / "mine" / f"{name}.csv", index=False)
    return tmp_path / "mine"


def of(tmp_path, labels, name="y", sample=None):
    """A training table with these labels, a test, and the sample if there is one."""
    known, asked = FRAME[:-TESTED].assign(**{name: labels[:-TESTED]}), FRAME[-TESTED:]
    more = {} if sample is None else {"sample_submission": asked[["id"]].assign(**sample)}
    return laid_out(tmp_path, train=known, test=asked, **more)


def handed_in(tmp_path, change, *words):
    """What is told, the score, and the lines of the submission as it is exported and as the notebook writes it."""
    stand = Stand(tmp_path, f"data.dir={tmp_path / 'mine'}", *words)
    try:
        node, verdict = stand.score(writes(f"for row in rows: {change}"))
        assert verdict.failure is None, verdict
        stand.problem.export(node, tmp_path / "best", stand.run_dir)
        stand.problem.export_as("notebook", node, str(tmp_path / "solution.ipynb"), "")
        note = stand.problem.note
    finally:
        stand.close()
    (tmp_path / "kaggle").mkdir()
    done = run_cells(tmp_path / "solution.ipynb", tmp_path / "mine", tmp_path / "kaggle")
    assert done.returncode == 0, done.stderr
    lines = [[*csv.reader((tmp_path / place / "submission.csv").read_text().splitlines())]
             for place in ("best", "kaggle")]  # fmt: skip
    return note, verdict.metric, *lines


@pytest.mark.parametrize("head", ["class_{}", "{}"])
def test_a_sample_may_ask_for_a_class_that_training_lacks(tmp_path, inline, head):
    """Its column is handed in as it stands there; the whole form was given up."""
    words = ["red", "green", "blue"]
    columns = {head.format(word): 0.2 for word in [*words, "unknown"]}
    of(tmp_path, np.array(words)[np.arange(COUNT) % 3], "kind", columns)
    change = "row.update(red=0.5, green=0.25, blue=0.25)"
    note, _, *found = handed_in(tmp_path, change, "data.target=kind", "data.metric=logloss")
    assert f"{head.format('unknown')} is kept as it stands there" in note
    wanted = [["id", *columns], *([str(name), "0.5", "0.25", "0.25", "0.2"] for name in FRAME["id"][-TESTED:])]
    assert all(lines == wanted for lines in found)


SPELLED = {
    "whole numbers beside a missing label": ([0.0, 1.0, 2.0], 0, "2.0", "2", ""),
    "whole numbers with a point": ([0, 1, 2], 1.0, "2", "2.0", ""),
    "truths as digits": ([True, False], 0, "True", "1", ""),
    "truths as words": ([True, False], False, "True", "True", ""),
    "a word that is no class": (["yes", "no"], 0, "yes", "yes", "has y 0, which is no class: no, yes are handed in"),
}


@pytest.mark.parametrize("case", SPELLED)
def test_classes_are_handed_in_as_the_sample_spells_them(tmp_path, inline, case):
    labels, cell, given, wanted, told = SPELLED[case]
    values = pd.Series([labels[place % len(labels)] for place in range(COUNT)])
    of(tmp_path, values.where(np.arange(COUNT) != 3) if labels[0] == 0.0 else values, sample={"y": cell})
    change = f"row['y'] = {given!r}"
    note, _, *found = handed_in(tmp_path, change, "data.target=y", "data.metric=accuracy")
    assert all(lines == [["id", "y"], *([str(name), wanted] for name in FRAME["id"][-TESTED:])] for lines in found)
    assert told in note and ("no class" in note) == bool(told)


def test_a_form_whose_ids_are_put_together_is_the_sample_whatever_it_is_called(tmp_path, inline):
    days = pd.date_range("2024-01-01", periods=COUNT // 4).strftime("%Y-%m-%d")
    table = pd.DataFrame([(shop, day) for day in days for shop in range(840, 844)], columns=["shop", "day"])
    table = table.assign(orders=DRAW.integers(9, 99, COUNT), sales=DRAW.gamma(3, 20, COUNT).round(2))
    asked = table[-TESTED:].drop(columns="sales")
    ids = [f"{shop}_{day}" for shop, day in asked[["shop", "day"]].to_numpy()][::-1]
    weights = pd.DataFrame({"shop": range(840, 844), "weight": 1})
    forms = {"solution": pd.DataFrame({"id": ids, "sales_hat": 0}), "test_weights": weights}
    laid_out(tmp_path, sales_train=table[:-TESTED], sales_test=asked, **forms)
    note, _, *found = handed_in(tmp_path, "row['sales'] = 12", "data.target=sales", "data.metric=mae")
    assert "solution.csv is taken for the sample submission" in note
    assert all(lines == [["id", "sales_hat"], *([name, "12"] for name in ids)] for lines in found)


def test_a_column_without_a_name_in_the_sample_has_none_in_the_submission(tmp_path, inline):
    """A table that was written with its index: the head was handed in as `Unnamed: 0`, which nobody asked for."""
    mine = laid_out(tmp_path, train=FRAME[:-TESTED].assign(rent=2.5), test=FRAME[-TESTED:])
    pd.DataFrame({"rent": 0}, index=FRAME["id"][-TESTED:].rename(None)).to_csv(mine / "sample_submission.csv")
    table = pd.read_csv(mine / "train.csv").assign(rent=DRAW.normal(9, 1, COUNT - TESTED).round(3))
    table.to_csv(mine / "train.csv", index=False)
    _, _, *found = handed_in(tmp_path, "row['rent'] = 7", "data.target=rent", "data.metric=mae")
    wanted = [["", "rent"], *([str(name), "7"] for name in FRAME["id"][-TESTED:])]
    assert all(lines == wanted for lines in found)


def test_several_rows_for_each_that_is_asked_for_are_told(tmp_path, inline):
    """Readings of an hour, of which the sample wants one number."""
    table = FRAME.assign(Id=np.arange(COUNT) // 4, rent=FRAME["size"] * 2).drop(columns="id")
    asked = pd.DataFrame({"Id": table["Id"][-TESTED:].unique(), "rent": 0})
    mine = laid_out(tmp_path, train=table[:-TESTED], test=table[-TESTED:].drop(columns="rent"), sample_submission=asked)
    stand = Stand(tmp_path, f"data.dir={mine}", "data.target=rent", "data.metric=mae")
    try:
        told = "test.csv has several rows for each Id, of which sample_submission.csv asks for one: bring what they say"
        assert told in stand.problem.note and "submission.csv will not be in the form" in stand.problem.note
    finally:
        stand.close()
