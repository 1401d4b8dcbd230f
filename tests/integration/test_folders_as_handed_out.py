"""Folders as recent competitions hand them out: which file holds the rows that are asked for, and what goes along."""

import csv
import itertools
import sqlite3
from contextlib import closing

import numpy as np
import pandas as pd
import pytest
from PIL import Image
from support.competition_stand import Stand, writes

from problems.competition.grader import prepare
from problems.competition.grader.tables import progress
from problems.competition.problem import build
from utils.config import load_config
from utils.errors import ConfigError

COUNT, TESTED = 160, 40
DRAW = np.random.default_rng(0)
FRAME = pd.DataFrame({"id": range(COUNT), "size": DRAW.gamma(3, 30, COUNT).round(1), "tag": DRAW.integers(0, 9, COUNT)})
FRAME["rent"] = (9 * FRAME["size"] + DRAW.normal(0, 5, COUNT)).round(2)
KNOWN, ASKED = FRAME[:-TESTED], FRAME[-TESTED:].drop(columns="rent")


def laid_out(tmp_path, **files):
    """A folder of these tables; `__` in a name is a folder below."""
    for name, table in files.items():
        path = tmp_path / "mine" / f"{name.replace('__', '/')}.csv"
        path.parent.mkdir(parents=True, exist_ok=True)
        table.to_csv(path, index=False)
    return tmp_path / "mine"


def handed_in(tmp_path, mine, change, *words):
    """What is told, what programs see and the lines of the submission of a program that predicts by `change`."""
    stand = Stand(tmp_path, f"data.dir={mine}", *words)
    try:
        node, verdict = stand.score(writes(f"for row in rows: {change}"))
        assert verdict.failure is None, verdict
        stand.problem.export(node, tmp_path / "best", stand.run_dir)
        seen = {path.name: path for path in stand.problem.input_dir.iterdir()}
        return stand.problem.note, seen, [*csv.reader((tmp_path / "best" / "submission.csv").read_text().splitlines())]
    finally:
        stand.close()


def test_labels_of_customers_beside_their_statements_are_what_is_learned_from(tmp_path, inline):
    """Amex: several statements of a customer, a label and a prediction for each customer."""
    names = [f"c{i:03d}" for i in range(COUNT)]
    told = pd.DataFrame({"customer": np.repeat(names, 3), "spent": DRAW.gamma(2, 10, 3 * COUNT).round(2)})
    known = told["customer"].isin(names[:-TESTED])
    labels = pd.DataFrame({"customer": names[:-TESTED], "target": DRAW.integers(0, 2, COUNT - TESTED)})
    sample = pd.DataFrame({"customer": names[-TESTED:], "prediction": 0})
    tables = {"train_data": told[known], "test_data": told[~known], "train_labels": labels, "sample_submission": sample}
    mine = laid_out(tmp_path, **tables)
    note, seen, lines = handed_in(tmp_path, mine, "row['target'] = 0.25", "data.target=target", "data.metric=auc")
    assert "train_labels.csv has a row for each customer, as sample_submission.csv asks" in note
    assert "joins data.csv by customer (summed up)" in note and len(pd.read_csv(seen["data.csv"])) == 3 * COUNT
    assert lines == [["customer", "prediction"], *([name, "0.25"] for name in names[-TESTED:])]


def test_a_training_table_that_is_named_is_taken_as_it_is(tmp_path, inline):
    names = np.repeat(np.arange(40), 3)
    told = pd.DataFrame({"customer": names, "spent": DRAW.gamma(2, 10, 120).round(2)})
    labels = pd.DataFrame({"customer": range(40), "target": np.arange(40) % 2})
    sample = pd.DataFrame({"customer": range(40), "target": 0})
    mine = laid_out(tmp_path, train_data=told, train_labels=labels, sample_submission=sample)
    words = f"data.dir={mine}", "data.train=train_data.csv", "data.target=target", "data.metric=auc"
    stand = Stand(tmp_path, *words)
    try:
        assert "120 of 120 rows" in stand.problem.note
    finally:
        stand.close()


def test_a_sample_that_names_rows_by_several_columns_is_the_test(tmp_path, inline):
    """A forecast: a row for each series and day, and no further table of the days to come."""
    days = pd.date_range("2022-01-01", periods=60).strftime("%Y-%m-%d")
    table = pd.DataFrame([(series, day) for day in days for series in "abc"], columns=["series", "day"])
    table["sold"] = DRAW.normal(10, 1, len(table)).round(3)
    mine = laid_out(tmp_path, train=table[:-30], sample_submission=table[-30:].assign(sold=0))
    asked = "data.target=sold", "data.metric=mae", "data.split=time:day"
    note, _, lines = handed_in(tmp_path, mine, "row['sold'] = 3", *asked)
    assert "sample_submission.csv is read as test.csv" in note
    assert lines == [["series", "day", "sold"], *([*pair, "3"] for pair in table[["series", "day"]][-30:].to_numpy())]


def test_a_table_that_says_more_of_the_days_to_come_keeps_the_sample_from_being_the_test(tmp_path, inline):
    days = pd.date_range("2022-01-01", periods=60).strftime("%Y-%m-%d")
    table = pd.DataFrame([(series, day) for day in days for series in "abc"], columns=["series", "day"])
    table = table.assign(price=1.5, sold=DRAW.normal(10, 1, len(table)).round(3))
    sample, coming = table[-30:][["series", "day"]].assign(sold=0), table[-30:].drop(columns="sold")
    mine = laid_out(tmp_path, train=table[:-30], sample_submission=sample, future=coming.assign(promo=1))
    stand = Stand(tmp_path, f"data.dir={mine}", "data.target=sold", "data.metric=mae")
    try:
        assert "sample_submission.csv is not filled: there is no test table" in stand.problem.note
    finally:
        stand.close()


def test_a_test_in_a_folder_of_examples_is_found_and_told(tmp_path, inline):
    sample = ASKED[["id"]].assign(rent=0)
    mine = laid_out(tmp_path, train=KNOWN, examples__test=ASKED, examples__sample_submission=sample)
    note, _, lines = handed_in(tmp_path, mine, "row['rent'] = 5", "data.target=rent", "data.metric=mae")
    assert "examples/test.csv is read as test.csv" in note
    assert lines == [["id", "rent"], *([str(name), "5"] for name in ASKED["id"])]


def test_another_table_called_test_below_is_no_test(tmp_path, inline):
    mine = laid_out(tmp_path, train=KNOWN, notes__test=pd.DataFrame({"word": ["a"], "mark": [1]}))
    stand = Stand(tmp_path, f"data.dir={mine}", "data.target=rent", "data.metric=mae")
    try:
        assert "is read as test.csv" not in stand.problem.note
    finally:
        stand.close()


def test_years_that_gained_a_column_are_one_table(tmp_path, inline):
    years = {"train_2021": KNOWN[:60].drop(columns="tag"), "train_2022": KNOWN[60:]}
    mine = laid_out(tmp_path, **years, test_2023=ASKED)
    note, seen, lines = handed_in(tmp_path, mine, "row['rent'] = 5", "data.target=rent", "data.metric=mae")
    assert "train_2021.csv has no tag: empty there; test_2023.csv is read as test.csv" in note
    table = pd.read_csv(seen["train.csv"])
    assert table["tag"].isna().equals(table["id"] < 60)
    assert [line[0] for line in lines[1:]] == [*map(str, ASKED["id"])]


def test_a_table_in_two_sides_whose_names_are_written_otherwise_is_one(tmp_path, inline):
    """IEEE-CIS: `id_01` to learn from, `id-01` to predict."""
    more = FRAME[["id"]].assign(id_01=FRAME["rent"].rank(), id_02=DRAW.normal(size=COUNT).round(3))
    theirs = more[-TESTED:].rename(columns={"id_01": "id-01", "id_02": "id-02"})
    sides = {"train_identity": more[:-TESTED].assign(id_01=0.5), "test_identity": theirs}
    mine = laid_out(tmp_path, train_transaction=KNOWN, test_transaction=ASKED, **sides)
    note, seen, _ = handed_in(tmp_path, mine, "row['rent'] = 5", "data.target=rent", "data.metric=mae")
    assert "of test_identity.csv id-01 is id_01, id-02 is id_02" in note
    assert "joins identity.csv by id" in note and list(pd.read_csv(seen["identity.csv"])) == ["id", "id_01", "id_02"]


def test_files_of_rows_are_found_whose_names_have_zeros_in_front(tmp_path, inline):
    files = {
        f"{'train' if i < COUNT - TESTED else 'test'}__{i:04d}": pd.DataFrame({"t": range(5), "x": DRAW.normal(size=5)})
        for i in range(COUNT)
    }
    mine = laid_out(
        tmp_path, train_labels=KNOWN[["id", "rent"]], sample_submission=ASKED[["id"]].assign(rent=0), **files
    )
    note, seen, _ = handed_in(tmp_path, mine, "row['rent'] = 5", "data.target=rent", "data.metric=mae")
    assert "with id by their names" in note and "joins id_files.csv by id" in note
    assert len(pd.read_csv(seen["id_files.csv"])) == 5 * COUNT


def test_a_sample_may_say_in_a_column_what_is_predicted(tmp_path, inline):
    known, asked = KNOWN.assign(age=KNOWN["rent"] / 2), ASKED
    sample = pd.DataFrame(
        [(i, 0, what) for what in ("age", "rent") for i in asked["id"]], columns=["id", "value", "what"]
    )
    mine = laid_out(tmp_path, train=known, test=asked, sample_submission=sample)
    change = "row.update(rent=row['id'] + '.5', age=3)"
    note, _, lines = handed_in(tmp_path, mine, change, "data.target=rent,age", "data.metric=mae")
    assert "each prediction: id names the row, what what is predicted" in note
    wanted = [(str(i), "3" if what == "age" else f"{i}.5", what) for i, _, what in sample.itertuples(index=False)]
    assert [tuple(line) for line in lines] == [("id", "value", "what"), *wanted]


def test_tables_of_a_database_beside_the_training_table_go_along_and_the_database_does_not(tmp_path, inline):
    """What was deleted of a database may still be in its file."""
    mine = laid_out(tmp_path, train=KNOWN.drop(columns="tag"), test=ASKED.drop(columns="tag"))
    with closing(sqlite3.connect(mine / "more.sqlite")) as base:
        FRAME[["id", "tag"]].assign(picture=[b"\x00\x01"] * COUNT).to_sql("tags of rows", base, index=False)
        FRAME[["id", "rent"]].rename(columns={"rent": "paid"}).to_sql("answers", base, index=False)
        base.commit()
    note, seen, _ = handed_in(tmp_path, mine, "row['rent'] = 5", "data.target=rent", "data.metric=mae")
    assert "more.sqlite is read as more_tags_of_rows.csv; " in note and "joins more_tags_of_rows.csv by id" in note
    assert "labels may be in it: more_answers.csv" in note
    assert not any(name.startswith(("more.", "more_answers")) for name in seen)
    assert list(pd.read_csv(seen["more_tags_of_rows.csv"])) == ["id", "tag"]


def test_a_database_that_cannot_be_read_stays_behind(tmp_path, inline):
    mine = laid_out(tmp_path, train=KNOWN, test=ASKED)
    (mine / "more.sqlite").write_bytes(b"SQLite format 3\0" + bytes(200))
    note, seen, _ = handed_in(tmp_path, mine, "row['rent'] = 5", "data.target=rent", "data.metric=mae")
    assert "left out, since labels may be in it: more.sqlite" in note and "more.sqlite" not in seen


def test_days_that_are_counted_are_times(tmp_path, inline):
    """M5: `d_1` … `d_1913`, of which `d_10` is not before `d_9`."""
    table = KNOWN.assign(day=[f"d_{number}" for number in range(1, COUNT - TESTED + 1)])
    mine = laid_out(tmp_path, train=table.sample(frac=1, random_state=0))
    asked = f"data.dir={mine}", "data.target=rent", "data.metric=mae", "data.split=time:day"
    stand = Stand(tmp_path, *asked)
    try:
        days = pd.read_csv(stand.problem.input_dir / "test.csv")["day"].str[2:].astype(int)
        assert sorted(days) == [*range(85, 121)]
    finally:
        stand.close()


def test_a_metric_of_two_columns_says_how_one_prediction_is_asked_for(tmp_path, inline):
    metric = "def score(solution, submission, row_id_column_name):\n"
    metric += "    return float((solution.rent * (1 + solution.event) * submission.risk).mean())\n"
    (tmp_path / "own.py").write_text(metric)
    table, sample = KNOWN.assign(event=KNOWN["tag"] % 2), ASKED[["id"]].assign(risk=0.5)
    mine = laid_out(tmp_path, train=table, test=ASKED, sample_submission=sample)
    own = f"data.metric={tmp_path}/own.py:score", "problem.direction=max"
    with pytest.raises(
        ConfigError, match=r"asks for one prediction \(risk\): give one target, --data.target=rent; where"
    ):
        Stand(tmp_path, f"data.dir={mine}", "data.target=rent,event", *own)
    _, _, lines = handed_in(tmp_path, mine, "row['rent'] = 2", "data.target=rent", *own)
    assert lines[:2] == [["id", "risk"], [str(ASKED["id"].iloc[0]), "2"]]
    against = f"data.metric={tmp_path}/own.py:score", "problem.direction=min"
    with pytest.raises(
        ConfigError, match="=max; where it is right as published, its predictions run against the target"
    ):
        Stand(tmp_path, f"data.dir={mine}", "data.target=rent", *against)


def pictures(folder, names):
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        Image.new("RGB", (8, 8), (120, 130, 140)).save(folder / f"{name}.png")


@pytest.mark.parametrize("place", ["test", "images/test"])
def test_pictures_in_a_folder_test_are_the_rows_to_predict(tmp_path, inline, place):
    """Where no table and no sample says which: their names, as the training table writes them."""
    names = [f"{number:04d}" for number in range(100)]
    mine = laid_out(tmp_path, train=pd.DataFrame({"picture": names[:80], "label": np.arange(80) % 2}))
    pictures(mine / place.replace("test", "train"), names[:80])
    pictures(mine / place, names[80:])
    note, _, lines = handed_in(tmp_path, mine, "row['label'] = 0.5", "data.target=label", "data.metric=auc")
    assert f"20 files of {place}/ are the rows to predict: test.csv is made of their names" in note
    assert lines == [["picture", "label"], *([name, "0.5"] for name in names[80:])]


def test_pictures_of_other_rows_in_a_folder_test_are_none(tmp_path, inline):
    """The training table names no files, or says more of a row than its name."""
    names = [f"{number:04d}" for number in range(100)]
    mine = laid_out(tmp_path, train=pd.DataFrame({"row": range(500, 580), "label": np.arange(80) % 2}))
    pictures(mine / "test", names[80:])
    stand = Stand(tmp_path, f"data.dir={mine}", "data.target=label", "data.metric=auc")
    try:
        assert "are the rows to predict" not in stand.problem.note
    finally:
        stand.close()


def test_lists_of_labels_are_told(tmp_path, inline):
    cells = ['["a", "b"]', '["a"]', "[]"]
    mine = laid_out(tmp_path, train=KNOWN.assign(kinds=np.array(cells)[np.arange(len(KNOWN)) % 3]))
    stand = Stand(tmp_path, f"data.dir={mine}", "data.target=kinds", "data.metric=accuracy")
    try:
        assert "kinds holds lists, and each different list is a class of its own" in stand.problem.note
    finally:
        stand.close()


def test_it_is_told_what_takes_long_while_data_are_made_ready(tmp_path, monkeypatch):
    mine = laid_out(tmp_path, train=KNOWN, test=ASKED, more=FRAME[["id"]].assign(x=DRAW.normal(size=COUNT).round(3)))
    told: list[str] = []

    def prepared(command, request, **_):
        return prepare.prepare({**request, "tell": told.append})

    monkeypatch.setattr("problems.competition.prepared.run_trusted", prepared)
    monkeypatch.setattr(progress.time, "monotonic", itertools.count(0, 60).__next__)
    words = f"data.dir={mine}", f"project.dir={tmp_path}", "data.target=rent", "data.metric=mae"
    build(load_config(None, [*words]), tmp_path).prepare()
    wanted = [
        "rows that are equal, and columns that tell the target, are looked for", "test.csv is written: 76 rows",
        "more.csv is looked at for what it says of your rows: 160 rows",
    ]  # fmt: skip
    assert [line for line in told if line in wanted] == wanted


def test_tests_of_the_same_columns_are_one(tmp_path, inline):
    mine = laid_out(tmp_path, train=KNOWN, test_public=ASKED[:20], test_private=ASKED[20:])
    note, _, lines = handed_in(tmp_path, mine, "row['rent'] = 5", "data.target=rent", "data.metric=mae")
    assert "2 files make test.csv, 40 rows: test_private.csv … test_public.csv" in note
    assert sorted(int(line[0]) for line in lines[1:]) == [*ASKED["id"]]


def test_a_training_table_that_lies_deeper_is_named(tmp_path):
    laid_out(tmp_path, data__raw__train=KNOWN, data__raw__test=ASKED)
    words = f"data.dir={tmp_path}/mine", "data.target=rent", "data.metric=mae"
    with pytest.raises(ConfigError, match=rf"needs a train.csv; one lies below: --data.dir={tmp_path}/mine/data/raw$"):
        build(load_config(None, [*words]), tmp_path)
    assert build(load_config(None, [f"{words[0]}/data/raw", *words[1:]]), tmp_path)


def test_a_target_in_minutes_is_told_to_be_handed_in_as_numbers(tmp_path, inline):
    minutes = [f"{number // 60:02d}:{number % 60:02d}" for number in range(1500, 1500 + 7 * len(KNOWN), 7)]
    table = KNOWN.drop(columns="rent").assign(finish=minutes)
    mine = laid_out(tmp_path, train=table, test=ASKED, sample_submission=ASKED[["id"]].assign(finish="25:00"))
    note, _, lines = handed_in(tmp_path, mine, "row['finish'] = 1600", "data.target=finish", "data.metric=mae")
    assert "submission.csv will hold finish as numbers, where sample_submission.csv has '25:00'" in note
    assert lines[1][1] == "1600"


def test_tables_of_one_name_in_several_folders_are_joined_by_the_pattern_that_is_told(tmp_path, inline):
    mine = laid_out(tmp_path, **{"2021__data": KNOWN[:60], "2022__data": KNOWN[60:], "test": ASKED})
    words = f"data.dir={mine}", "data.target=rent", "data.metric=mae"
    with pytest.raises(ConfigError, match=r"in several folders are joined by --data.train='\*/data.csv'$"):
        build(load_config(None, [*words]), tmp_path)
    note, _, lines = handed_in(tmp_path, mine, "row['rent'] = 5", "data.train=*/data.csv", *words[1:])
    assert "2 files make train.csv, 120 rows" in note and len(lines) == 1 + TESTED


def test_a_table_below_that_has_the_target_is_named_where_the_only_one_at_the_top_has_it_not(tmp_path, inline):
    """A list of what columns mean beside folders of tables was taken for the training table, and nothing more said."""
    words = pd.DataFrame({"Variable": ["size", "tag"], "Description": ["of a flat", "of its kind"]})
    mine = laid_out(tmp_path, feature_definitions=words, files__train__train_base=KNOWN, files__test__test_base=ASKED)
    said = f"data.dir={mine}", "data.target=rent", "data.metric=mae"
    base = "files/train/train_base.csv"
    with pytest.raises(ConfigError, match=rf"feature_definitions.csv'; {base} has it: --data.train={base}$"):
        build(load_config(None, [*said]), tmp_path).prepare()
    with pytest.raises(ConfigError, match=r"feature_definitions.csv'; columns are Variable, Description$"):
        build(load_config(None, [said[0], "data.target=price", said[2]]), tmp_path).prepare()
    named = f"data.train={base}", "data.test=files/test/test_base.csv"
    note, _, _ = handed_in(tmp_path, mine, "row['rent'] = 5", *said[1:], *named)
    assert f"{base} is read as train.csv" in note
