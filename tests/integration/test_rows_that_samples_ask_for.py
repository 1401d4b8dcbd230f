"""Competitions without a table of rows to predict: the sample submission alone says which these are."""

import csv
from contextlib import nullcontext

import numpy as np
import pandas as pd
import pytest
from support.competition_stand import Stand, writes
from support.notebook_cells import run_cells

from core.contracts import Limits
from utils.errors import ConfigError

DRAW = np.random.default_rng(3)


def laid_out(folder, **tables):
    """A folder of these tables."""
    folder.mkdir()
    for name, table in tables.items():
        table.to_csv(folder / f"{name}.csv", index=False)
    return folder


def handed_in(tmp_path, change, *words, notebook=False):
    """What is told, what programs see as the training table and as the rows to predict, and the lines of the submission
    of a program that predicts by `change`: as it was scored, trained on all labels, and in a notebook, if there is one.
    """
    stand = Stand(tmp_path, f"data.dir={tmp_path / 'mine'}", *words)
    try:
        node, verdict = stand.score(writes(f"for row in rows: {change}"))
        assert verdict.failure is None, verdict
        stand.problem.export(node, tmp_path / "best", stand.run_dir)
        stand.problem.refit(node, tmp_path / "refit", stand.jobs, Limits())
        refused = pytest.raises(ConfigError, match="the notebook reads the rows to predict in a table: save them as")
        with nullcontext() if notebook else refused:
            stand.problem.export_as("notebook", node, str(tmp_path / "solution.ipynb"), "")
        seen = [pd.read_csv(stand.problem.input_dir / name) for name in ("train.csv", "test.csv")]
        lines = [[*csv.reader((tmp_path / place / "submission.csv").read_text().splitlines())]
                 for place in ("best", "refit")]  # fmt: skip
        assert lines[0] == lines[1]
        if notebook:
            (tmp_path / "kaggle").mkdir()
            done = run_cells(tmp_path / "solution.ipynb", tmp_path / "mine", tmp_path / "kaggle")
            assert done.returncode == 0, done.stderr
            assert [*csv.reader((tmp_path / "kaggle" / "submission.csv").read_text().splitlines())] == lines[0]
        return stand.problem.note, *seen, lines[0]
    finally:
        stand.close()


def test_rows_without_a_label_that_the_sample_names_are_predicted(tmp_path, inline):
    """All shots of a player in one table: of some nobody has told whether they hit."""
    count = 200
    shots = pd.DataFrame({"distance": DRAW.integers(0, 30, count), "seconds": [f"{i % 60:02d}" for i in range(count)]})
    shots["hit"] = pd.Series(DRAW.integers(0, 2, count)).astype(float).where(np.arange(count) % 5 != 2)
    shots["shot"] = range(1, count + 1)
    asked = shots["shot"][shots["hit"].isna()][::-1]
    laid_out(tmp_path / "mine", data=shots, sample_submission=pd.DataFrame({"shot": asked, "hit": 0.5}))
    words = "data.target=hit", "data.metric=logloss"
    note, train, test, lines = handed_in(tmp_path, "row['hit'] = 0.25", *words, notebook=True)
    learned, asked_for = (pd.read_csv(tmp_path / "kaggle" / "input" / f"{name}.csv") for name in ("train", "test"))
    assert learned["hit"].notna().all() and len(learned) == 160 and {*asked_for["shot"]} == {*asked}
    assert "the 40 rows of data.csv without a label that sample_submission.csv names are read as test.csv" in note
    assert "is not filled" not in note and "left out" not in note
    assert {*asked} < {*test["shot"]} and not {*asked} & {*train["shot"]}
    assert lines == [["shot", "hit"], *([str(name), "0.25"] for name in asked)]


def test_rows_without_a_label_in_the_second_table_are_predicted(tmp_path, inline):
    """Two targets, and a row of the sample for each."""
    people = pd.DataFrame({"Id": range(1000, 1200), "volume": DRAW.normal(size=200).round(3)})
    scores = pd.DataFrame(
        {"Id": people["Id"][:150], "age": DRAW.normal(50, 9, 150), "part1_score": DRAW.normal(5, 1, 150)}
    )
    asked = [f"{name}_{aim}" for name in people["Id"][150:] for aim in ("age", "part1_score")]
    sample = pd.DataFrame({"Id": asked, "Predicted": 0})
    laid_out(tmp_path / "mine", loading=people, train_scores=scores, sample_submission=sample)
    words = "data.target=age,part1_score", "data.metric=mae", "data.train=loading.csv", "data.labels=train_scores.csv"
    note, _, test, lines = handed_in(tmp_path, "row.update(age=3, part1_score=4)", *words)
    assert "the 50 rows of loading.csv without a label" in note and {*people["Id"][150:]} < {*test["Id"]}
    assert lines == [["Id", "Predicted"], *([name, "3" if "age" in name else "4"] for name in asked)]


def test_labels_that_are_missing_beside_other_rows_to_predict_ask_for_nothing(tmp_path, inline):
    table = pd.DataFrame({"id": range(200), "size": DRAW.normal(size=200).round(3), "rent": DRAW.normal(9, 1, 200)})
    table.loc[:9, "rent"] = np.nan
    laid_out(tmp_path / "mine", train=table, sample_submission=pd.DataFrame({"id": range(5, 300), "rent": 0}))
    stand = Stand(tmp_path, f"data.dir={tmp_path / 'mine'}", "data.target=rent", "data.metric=mae")
    try:
        assert "without a label that" not in stand.problem.note and "is not filled" in stand.problem.note
    finally:
        stand.close()


def games():
    """Games of pairs of teams, some of a season to come."""
    table = pd.DataFrame({"Season": np.repeat(np.arange(2010, 2016), 40), "day": np.tile(np.arange(40), 6)})
    first = DRAW.integers(1101, 1140, len(table))
    table["Team1"], table["Team2"] = first, first + DRAW.integers(1, 20, len(table))
    table["won"] = DRAW.integers(0, 2, len(table))
    pairs = table[["Team1", "Team2"]].drop_duplicates()[:25]
    ids = [f"2016_{one}_{two}" for one, two in pairs.to_numpy()]
    return table, ids, pairs


def test_pairs_that_ids_name_are_predicted(tmp_path, inline):
    table, ids, pairs = games()
    laid_out(tmp_path / "mine", train=table, SampleSubmissionStage1=pd.DataFrame({"ID": ids, "Pred": 0.5}))
    note, _, test, lines = handed_in(tmp_path, "row['won'] = 0.75", "data.target=won", "data.metric=brier")
    told = "25 rows to predict are read from ID of SampleSubmissionStage1.csv: Season, Team1, Team2 with '_' between"
    assert told in note and "test.csv has no column day: nor have the rows that scores are of" in note
    mine = test[test["Season"] == 2016]
    assert {*map(tuple, mine[["Team1", "Team2"]].to_numpy())} == {*map(tuple, pairs.to_numpy())}
    assert lines == [["ID", "Pred"], *([name, "0.75"] for name in ids)]


def test_days_to_come_that_ids_name_are_predicted(tmp_path, inline):
    """Visitors of restaurants, whose names have the mark of the ids in them."""
    days = pd.date_range("2017-01-01", periods=60).strftime("%Y-%m-%d")
    stores = [f"air_{number:04x}" for number in (7, 4000, 171, 90)]
    table = pd.DataFrame([(store, day) for day in days for store in stores], columns=["store", "visit_date"])
    table["visitors"] = DRAW.poisson(20, len(table))
    ids = [f"{store}_{day}" for store in stores for day in ("2017-03-02", "2017-03-03")]
    sample = pd.DataFrame({"id": ids, "visitors": 0})
    laid_out(tmp_path / "mine", air_visits=table, sample_submission=sample)
    words = "data.train=air_visits.csv", "data.target=visitors", "data.metric=rmsle", "data.split=time:visit_date"
    note, _, test, lines = handed_in(tmp_path, "row['visitors'] = 12", *words)
    assert "8 rows to predict are read from id of sample_submission.csv: store, visit_date with '_' between" in note
    assert test["visit_date"].max() == "2017-03-03" and lines == [["id", "visitors"], *([name, "12"] for name in ids)]


def test_persons_of_whom_several_things_are_asked_are_predicted(tmp_path, inline):
    """A table of labels alone; what else is known of the persons lies in a further table."""
    people = pd.DataFrame({"Id": range(1000, 1200), "volume": DRAW.normal(size=200).round(3)})
    scores = pd.DataFrame(
        {"Id": people["Id"][:150], "age": DRAW.normal(50, 9, 150), "part1_score": DRAW.normal(5, 1, 150)}
    )
    asked = [f"{name}_{aim}" for name in people["Id"][150:] for aim in ("age", "part1_score")]
    sample = pd.DataFrame({"Id": asked, "Predicted": 0})
    laid_out(tmp_path / "mine", train_scores=scores, loading=people, sample_submission=sample)
    note, _, test, lines = handed_in(
        tmp_path, "row.update(age=3, part1_score=4)", "data.target=age,part1_score", "data.metric=mae"
    )
    assert (
        "50 rows to predict are read from Id of sample_submission.csv: Id, what is predicted with '_' between" in note
    )
    assert "joins loading.csv by Id" in note and {*people["Id"][150:]} < {*test["Id"]}
    assert lines == [["Id", "Predicted"], *([name, "3" if "age" in name else "4"] for name in asked)]


@pytest.mark.parametrize("name", ["r-{}", "2010-{}"])
def test_ids_that_are_no_values_of_columns_name_nothing(tmp_path, inline, name):
    """Of a season and a number that is no team: a team that is not known is none."""
    table, *_ = games()
    sample = pd.DataFrame({"row": [name.format(number) for number in range(5000, 5030)], "won": 0})
    laid_out(tmp_path / "mine", train=table.drop(columns="day"), sample_submission=sample)
    stand = Stand(tmp_path, f"data.dir={tmp_path / 'mine'}", "data.target=won", "data.metric=auc")
    try:
        assert "are read from" not in stand.problem.note
    finally:
        stand.close()
