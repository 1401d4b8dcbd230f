"""Folders in forms of Kaggle's competitions: what is read of them, and what is told where it is not."""

import gzip
import pickle
import re
import sqlite3
import zipfile
from contextlib import closing

import pandas as pd
import pytest
from test_own_tables import flats

from problems.competition.problem import build
from utils.config import load_config
from utils.errors import ConfigError

TABLE = pd.DataFrame({"town": ["Ulm", "Bonn"] * 30, "rooms": range(60), "rent": [float(n) for n in range(300, 360)]})


def made(tmp_path, *words: str):
    scored = ("data.target=rent", "data.metric=mae")
    problem = build(load_config(None, [f"data.dir={tmp_path / 'mine'}", *scored, *words]), tmp_path)
    problem.prepare()
    return problem


@pytest.fixture
def mine(tmp_path, inline):
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "train.csv").write_text(flats())
    return folder


def test_packed_json_beside_the_table_is_there_as_csv(tmp_path, mine):
    TABLE.to_csv(mine / "train.csv", index=False)
    towns = pd.DataFrame({"town": ["Ulm", "Bonn"], "height": [478.5, 60.25]})
    (mine / "towns.jsonl.gz").write_bytes(gzip.compress(towns.to_json(orient="records", lines=True).encode()))
    problem = made(tmp_path)
    assert "towns.jsonl.gz is read as towns.csv; further tables go along (towns.csv)" in problem.note
    assert "joins towns.csv by town" in problem.note and (problem.input_dir / "towns.jsonl.gz").is_file()
    assert pd.read_csv(problem.input_dir / "towns.csv").equals(towns)


def test_each_sheet_of_a_workbook_beside_the_table_is_a_table(tmp_path, mine):
    pytest.importorskip("openpyxl")
    TABLE.to_csv(mine / "train.csv", index=False)
    towns = pd.DataFrame({"town": ["Ulm", "Bonn"], "height": [478.5, 60.25]})
    with pd.ExcelWriter(mine / "more.xlsx") as book:
        pd.DataFrame({"A note": ["of last year"]}).to_excel(book, sheet_name="About", index=False)
        towns.to_excel(book, sheet_name="Towns - all", index=False)
        towns.assign(town=["x", "y"]).to_excel(book, sheet_name="others", index=False, startrow=3)
    problem = made(tmp_path)
    assert "more.xlsx is read as more_Towns_all.csv, more_others.csv" in problem.note
    assert "joins more_Towns_all.csv by town" in problem.note
    assert pd.read_csv(problem.input_dir / "more_others.csv")["height"].tolist() == [478.5, 60.25]


@pytest.mark.parametrize("name", ["test.pkl", "Test.pickle"])
def test_rows_to_predict_in_a_pickle_are_refused_with_words(tmp_path, mine, name):
    (mine / name).write_bytes(pickle.dumps(TABLE))
    told = f"{name} is a pickle, which may run anything when it is opened: save it as CSV or Parquet"
    assert f"{told}: there are no rows to predict" in made(tmp_path).note


@pytest.mark.parametrize("name", ["train.pkl", "train.pkl.gz"])
def test_a_training_table_in_a_pickle_is_refused_with_words(tmp_path, mine, name):
    (mine / "train.csv").unlink()
    (mine / name).write_bytes(pickle.dumps(TABLE))
    with pytest.raises(ConfigError, match=f"'{name}' is a pickle, which may run anything when it is opened"):
        made(tmp_path)


def test_a_test_in_the_same_database_is_told(tmp_path, mine):
    (mine / "train.csv").unlink()
    with closing(sqlite3.connect(mine / "data.sqlite")) as database:
        TABLE.to_sql("train", database, index=False)
        TABLE.drop(columns="rent").to_sql("Test", database, index=False)
    assert "its table 'Test' is not read: save it as a file" in made(tmp_path).note


def test_tables_that_are_packed_together_are_told(tmp_path, mine):
    with zipfile.ZipFile(mine / "more.zip", "w") as archive:
        archive.writestr("a.csv", "x,y\n1,2\n")
        archive.writestr("b.csv", "x,y\n1,2\n")
    assert "reads none of them" in (note := made(tmp_path).note) and "further tables go along (more.zip)" in note


def test_files_of_rows_are_predicted_whatever_else_the_training_table_says(tmp_path, mine):
    """Sounds, each with a label and whether somebody listened: the sample alone names those to predict."""
    names = [f"{place:08x}.wav" for place in range(70)]
    sounds = TABLE.assign(fname=names[:60], checked=1)[["fname", "rent", "checked"]]
    sounds.to_csv(mine / "train.csv", index=False)
    pd.DataFrame({"fname": names[60:], "rent": 0}).to_csv(mine / "sample_submission.csv", index=False)
    note = made(tmp_path).note
    assert "is not filled: there is no test table" in note  # no files lie there: what is said of rows may be elsewhere
    (mine / "sounds").mkdir()
    problem = made(tmp_path)
    assert "sample_submission.csv is read as test.csv" in problem.note
    assert "test.csv has no column checked: nor have the rows that scores are of" in problem.note
    assert set(names[60:]) < set(pd.read_csv(problem.input_dir / "test.csv")["fname"])


def test_a_sample_that_asks_for_a_list_of_recommendations_is_told(tmp_path, mine):
    buys = TABLE.assign(customer=[place % 20 for place in range(60)])
    buys.to_csv(mine / "train.csv", index=False)
    pd.DataFrame({"customer": range(20), "prediction": "1 2"}).to_csv(mine / "sample_submission.csv", index=False)
    told = "it asks for a row for each customer, of which train.csv has several: recommendations are no such task"
    assert told in made(tmp_path).note


@pytest.mark.parametrize(
    ("asked", "word"),
    [(["the rent"], "'--data.target=the rent'"), (["the rent", "rooms"], "'--data.target=the rent,rooms'"),
     (["price"], "--data.target=COLUMN")],
)  # fmt: skip
def test_without_a_target_the_one_that_the_sample_asks_for_is_told(tmp_path, mine, asked, word):
    table = TABLE.rename(columns={"rent": "the rent"}).assign(id=range(60))
    table.to_csv(mine / "train.csv", index=False)
    table[["id", "town"]].to_csv(mine / "test.csv", index=False)
    table[["id"]].assign(**dict.fromkeys(asked, 0)).to_csv(mine / "sample_submission.csv", index=False)
    told = f"give {word}{'' if 'COLUMN' in word else ' (as sample_submission.csv asks)'} and --data.metric=NAME"
    with pytest.raises(ConfigError, match=re.escape(told)):
        build(load_config(None, [f"data.dir={mine}"]), tmp_path)
