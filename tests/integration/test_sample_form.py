"""A submission has the form of the user's sample (ids, names and order of columns), or it is told."""

import json

import numpy as np
import pandas as pd
import pytest
from support.competition_stand import Stand, writes
from support.notebook_cells import run_cells

from problems.competition.grader.prepare import prepare
from problems.competition.problem import build
from utils.config import load_config

COUNT, TESTED = 160, 40


@pytest.fixture
def inline(monkeypatch):
    """Prepares in this process."""
    monkeypatch.setattr(
        "problems.competition.prepared.run_trusted",
        lambda command, request, *, timeout: json.loads(json.dumps(prepare(json.loads(json.dumps(request))))),
    )


def folder_of(tmp_path, target: str, sample: pd.DataFrame, *, ids: str | None = "id"):
    """A competition as Kaggle hands it out; `sample` is its sample submission."""
    draw = np.random.default_rng(0)
    frame = pd.DataFrame({"size": draw.gamma(3, 30, COUNT).round(1), "tag": draw.integers(0, 9, COUNT)})
    frame["rent"] = (9 * frame["size"] + draw.normal(0, 5, COUNT)).round(2)
    frame["kind"] = np.array(["low", "mid", "high"])[np.arange(COUNT) % 3]
    if ids:
        frame.insert(0, ids, np.arange(1000, 1000 + COUNT))
    mine = tmp_path / "mine"
    mine.mkdir()
    train, test = frame[:-TESTED], frame[-TESTED:].drop(columns=["rent", "kind"])
    train.drop(columns="kind" if target == "rent" else "rent").to_csv(mine / "train.csv", index=False)
    test.to_csv(mine / "test.csv", index=False)
    sample.to_csv(mine / "sample_submission.csv", index=False)
    return mine


NAMES = range(1000 + COUNT - TESTED, 1000 + COUNT)
SHUFFLED = np.random.default_rng(1).permutation(NAMES)
FORMS = {
    "another name of the id column": ("rent", "id", {"FlatNo": SHUFFLED, "rent": 0}, {"FlatNo": NAMES}),
    "no ids in the test": ("rent", None, {"ImageId": range(1, TESTED + 1), "Rent": 0}, {"ImageId": range(1, 41)}),
    "an id that differs by case": ("rent", "id", {"ID": SHUFFLED, "rent": 0}, {"ID": NAMES}),
    "predictions before ids": ("rent", "id", {"predicted": 0, "id": NAMES}, {"id": NAMES}),
    "classes after a word": ("kind", "id", {"id": NAMES, "Status_low": 0.3, "Status_mid": 0.3, "Status_high": 0.4},
                             {"id": NAMES}),
    "classes before a word": ("kind", "id", {"id": NAMES, "Mid_p": 0.3, "High_p": 0.3, "Low_p": 0.4}, {"id": NAMES}),
}  # fmt: skip


def words(mine, target):
    return [f"data.dir={mine}", f"data.target={target}", f"data.metric={'mae' if target == 'rent' else 'logloss'}"]


@pytest.mark.parametrize("form", FORMS)
def test_a_submission_and_the_notebooks_have_the_form_of_the_sample(tmp_path, inline, form):
    target, ids, sample, named = FORMS[form]
    mine = folder_of(tmp_path, target, pd.DataFrame(sample), ids=ids)
    change = "row['rent'] = 7" if target == "rent" else "row.update(low=0.2, mid=0.3, high=0.5)"
    stand = Stand(tmp_path, *words(mine, target))
    try:
        node, verdict = stand.score(writes(f"for row in rows: {change}"))
        assert verdict.failure is None, verdict
        stand.problem.export(node, tmp_path / "best", stand.run_dir)
        stand.problem.export_as("notebook", node, str(tmp_path / "solution.ipynb"), "")
    finally:
        stand.close()
    (tmp_path / "kaggle").mkdir()
    done = run_cells(tmp_path / "solution.ipynb", mine, tmp_path / "kaggle")
    assert done.returncode == 0, done.stderr
    for place in ("best", "kaggle"):
        made = pd.read_csv(tmp_path / place / "submission.csv")
        assert list(made) == list(sample)
        (column, wanted), *_ = named.items()
        assert list(made[column]) == list(wanted)
        other = {name.lower(): made[name].unique().tolist() for name in made if name != column}
        if target == "rent":
            assert list(other.values()) == [[7]]
        else:
            assert {key: found for key in ("low", "mid", "high") for name, found in other.items() if key in name} == {
                "low": [0.2], "mid": [0.3], "high": [0.5],
            }  # fmt: skip


UNLIKE = {
    "fewer ids": ("rent", {"id": NAMES[:-4], "rent": 0}, "lacks 4 ids of test.csv, such as 1156"),
    "other ids": ("rent", {"id": range(40), "rent": 0}, "lacks 40 ids of test.csv, such as 1120 and has 40"),
    "more columns": ("rent", {"id": NAMES, "low": 0, "high": 1}, "its columns are id, rent; those of sample"),
    "a column to predict from": ("rent", {"id": NAMES, "size": 0}, "those of sample_submission.csv are id, size"),
    "classes that it does not name": ("kind", {"id": NAMES, "c1": 0, "c2": 0, "c3": 0}, "its columns are id, high"),
}  # fmt: skip


@pytest.mark.parametrize("case", UNLIKE)
def test_what_is_not_in_the_form_of_the_sample_is_told_at_the_start_and_at_the_export(tmp_path, inline, capsys, case):
    target, sample, said = UNLIKE[case]
    mine = folder_of(tmp_path, target, pd.DataFrame(sample))
    stand = Stand(tmp_path, *words(mine, target))
    try:
        assert said in stand.problem.note
        node, _ = stand.score(writes(""))
        stand.problem.export(node, tmp_path / "best", stand.run_dir)
        stand.problem.export_as("notebook", node, str(tmp_path / "solution.ipynb"), "")
    finally:
        stand.close()
    assert "not in the form of the sample submission: " in capsys.readouterr().err
    (tmp_path / "kaggle").mkdir()
    done = run_cells(tmp_path / "solution.ipynb", mine, tmp_path / "kaggle")
    assert done.returncode == 0 and said in done.stdout, "what was known before training fails nobody after it"
    made = pd.read_csv(tmp_path / "kaggle" / "submission.csv")
    assert list(made) == list(pd.read_csv(tmp_path / "best" / "submission.csv")) and list(made["id"]) == list(NAMES)


def test_a_sample_that_fits_is_not_remarked_on(tmp_path, inline):
    mine = folder_of(tmp_path, "rent", pd.DataFrame({"id": SHUFFLED, "rent": 0}))
    problem = build(load_config(None, words(mine, "rent")), tmp_path)
    problem.prepare()
    assert problem.note == ""
