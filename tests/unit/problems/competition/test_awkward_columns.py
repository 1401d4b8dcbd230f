"""Columns that models do not take as they are: what `rules` writes for them runs all the same, baselines too."""

import contextlib
import io
import json
import random
import sys
import warnings
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from threadpoolctl import threadpool_limits

from problems.competition.baselines import baselines
from problems.competition.rules import features, recipe, script
from problems.competition.rules.facts import FEWEST, read_facts
from problems.competition.rules.families import FAMILIES, suited
from utils.data_preview import profile

ROWS, HIDDEN = 90, 30
pytestmark = pytest.mark.usefixtures("few_rounds")
DRAW = random.Random(2)


def awkward() -> pd.DataFrame:
    count = ROWS + HIDDEN
    kind = ["rare"] * 2 + [DRAW.choice(["cat", "dog"]) for _ in range(count - 2)]
    return pd.DataFrame(
        {
            "Id": range(count),
            "size": [DRAW.gauss(0, 1) for _ in range(count)],
            "stray": [i if i < ROWS or i % 2 else "n/a?" for i in range(count)],
            "endless": [DRAW.choice([np.inf, -np.inf, 1e308, 3.0]) for _ in range(count)],
            "json": [f'{{"a": {i % 5}, "b": [1, 2], "c": {i}}}' for i in range(count)],
            "unlike": [f"w{i}a w{i}b w{i}c w{i}d w{i}e" for i in range(count)],
            "day": [f"2024-01-{1 + i % 28:02}" if i < ROWS else None for i in range(count)],
            "scarce": [1.5 * i if i in (3, 40) else None for i in range(count)],
            "kind": kind,
            "price": [DRAW.gauss(0, 1) for _ in range(count)],
        }
    )


@pytest.fixture(scope="module", params=[("kind", "accuracy", "labels"), ("price", "mae", "regression")])
def case(request, tmp_path_factory):
    """(folder with input/, extras, target)."""
    target, metric, task = request.param
    folder, frame = tmp_path_factory.mktemp(target), awkward()
    frame = frame.drop(columns={"kind", "price"} - {target})
    for name in ("input", "submission"):
        (folder / name).mkdir()
    frame[:ROWS].to_csv(folder / "input" / "train.csv", index=False)
    frame[ROWS:].drop(columns=target).to_csv(folder / "input" / "test.csv", index=False)
    columns = profile(pd.read_csv(folder / "input" / "train.csv"))
    next(column for column in columns if column["name"] == "stray")["strays"] = True
    data = {
        "id": "Id",
        "targets": [target],
        "rows": {"train": ROWS},
        "columns": columns,
        "metric": metric,
        "task": task,
    }
    return folder, json.loads(json.dumps({"data": data})), target


def hands_in(code: str, folder, target: str, monkeypatch) -> dict:
    """Returns what the program's names stand for at its end."""
    submission = folder / "submission" / "submission.csv"
    submission.unlink(missing_ok=True)
    monkeypatch.chdir(folder)
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()), threadpool_limits(1):
        exec(compile(code, "solution.py", "exec"), names := {"__name__": "__main__"})
    found = pd.read_csv(submission)
    assert list(found.columns) == ["Id", target] and len(found) == HIDDEN and found.notna().all().all()
    return names


def test_what_is_awkward_is_known(case):
    _, extras, target = case
    facts = read_facts(extras)
    assert facts.strays == ("stray",)
    assert facts.extreme == ("endless",) and facts.scarce == ("scarce",) and set(facts.texts) == {"json", "unlike"}
    if target == "kind":
        assert facts.rarest == 2 < FEWEST and "svm" not in [family.name for family in suited(facts)]


def test_baselines_take_awkward_columns(case, monkeypatch):
    folder, extras, target = case
    found = baselines(extras)
    assert len(found) == 3
    for baseline in found:
        hands_in(baseline.code, folder, target, monkeypatch)


def test_numbers_among_which_hidden_rows_have_words_stay_numbers_when_these_are_learned_too(case, monkeypatch):
    """A refit: what `strays` was read of the rows to predict stands in the training table, too."""
    folder, extras, target = case
    table = folder / "input" / "train.csv"
    before = table.read_bytes()
    learned, hidden = pd.read_csv(table), pd.read_csv(folder / "input" / "test.csv")
    pd.concat([learned, hidden.assign(**{target: learned[target].iloc[0]})]).to_csv(table, index=False)
    try:
        for baseline in baselines(extras)[1:]:
            assert "stray" in hands_in(baseline.code, folder, target, monkeypatch)["numbers"]
    finally:
        table.write_bytes(before)


@pytest.mark.long
def test_every_family_takes_awkward_columns(case, monkeypatch):
    folder, extras, target = case
    facts = read_facts(extras)
    steps = tuple(features.available(facts))
    assert "holidays" in steps
    for family in suited(facts):
        member = family.default(facts)
        for name in ("max_iter", "n_estimators"):
            if name in family.grid:
                member = member.with_param(name, min(family.grid[name]))
        for chosen in (steps, ()):
            made = script.render(recipe.Recipe("none", chosen, "native", (member,)), facts)
            hands_in(made, folder, target, monkeypatch)


# ------------------------------------------------------------ what a part of the rows lacks, and other holes


def laid_out(folder, frame: pd.DataFrame, target: str, task: str, *, rows: int = 0, tested=None, **data) -> dict:
    """Write `input/`, with the last rows to predict; the extras, of a table that is said to have so many rows."""
    for name in ("input", "submission"):
        (folder / name).mkdir()
    shown, test = frame[:-HIDDEN], frame[-HIDDEN:].drop(columns=target)
    shown.to_csv(folder / "input" / "train.csv", index=False)
    (test if tested is None else tested(test)).to_csv(folder / "input" / "test.csv", index=False)
    test[["Id"]].assign(**{target: 0}).to_csv(folder / "input" / "sample_submission.csv", index=False)
    columns = profile(pd.read_csv(folder / "input" / "train.csv"))
    found = {"id": "Id", "targets": [target], "rows": {"train": rows or len(shown)}, "columns": columns, "task": task,
             "metric": "logloss" if task == "probability" else "score", **data}  # fmt: skip
    return json.loads(json.dumps({"data": found}))


def seldom(count: int = 1230) -> pd.DataFrame:
    """A column with ten values and a class with six rows."""
    return pd.DataFrame(
        {
            "Id": range(count),
            "size": [DRAW.gauss(0, 1) for _ in range(count)],
            "gap": [1.0 * i if i % 120 == 3 else None for i in range(count)],
            "town": [f"t{i % 7}" if i % 120 == 4 else None for i in range(count)],
            "kind": [int(i % 200 == 7) for i in range(count)],
        }
    )


@pytest.mark.parametrize("family", ["hgb", "logistic"])
@pytest.mark.parametrize("large", [False, True])
def test_a_few_drawn_rows_lack_neither_a_class_nor_a_column_that_is_used(tmp_path, monkeypatch, family, large):
    extras = laid_out(tmp_path, seldom(), "kind", "probability", rows=600_000 if large else 0)
    for column in extras["data"]["columns"] if large else ():
        column["missing"] = 1 - 10 / 600_000 if column["missing"] else 0.0
    facts = read_facts(extras)
    assert {"gap", "town"} <= {*facts.columns}
    part = 20 * facts.rows // 1200
    member = FAMILIES[family].default(facts)
    steps = ("missing", "frequency")
    names = hands_in(
        script.render(recipe.Recipe("none", steps, "native", (member,), rows=part), facts), tmp_path, "kind",
        monkeypatch,
    )  # fmt: skip
    assert len(names["classes"]) == 2 and 20 <= len(names["y"]) < 60 and "gap" not in names["X"]
    whole = script.render(recipe.Recipe("none", steps, "native", (member,)), facts)
    assert "groupby" not in whole and ("'gap'" in whole or not large)


def test_a_class_that_no_drawn_row_has_is_a_column_all_the_same(tmp_path, monkeypatch):
    frame = seldom().assign(kind=lambda t: np.where(t["kind"] == 1, "rare", np.where(t["Id"] % 2, "cat", "dog")))
    extras = laid_out(tmp_path, frame, "kind", "classes", label="kind")
    extras["data"]["targets"] = ["cat", "dog", "rare"]
    facts = read_facts(extras)
    made = recipe.Recipe(members=(FAMILIES["hgb"].default(facts),), rows=20)
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()), threadpool_limits(1):
        exec(compile(script.render(made, facts), "solution.py", "exec"), {"__name__": "__main__"})
    assert list(pd.read_csv("submission/submission.csv")) == ["Id", "cat", "dog", "rare"]


def test_words_among_the_numbers_of_the_rows_to_predict_do_not_stop_a_large_table(tmp_path, monkeypatch):
    def strayed(test):
        return test.assign(gap=["n. d.", *range(1, HIDDEN)])

    extras = laid_out(tmp_path, seldom(), "kind", "probability", rows=600_000, tested=strayed)
    next(column for column in extras["data"]["columns"] if column["name"] == "gap")["strays"] = True
    facts = read_facts(extras)
    code = script.render(recipe.Recipe(members=(FAMILIES["hgb"].default(facts),)), facts)
    assert "float32" in code and "gap" in hands_in(code, tmp_path, "kind", monkeypatch)["numbers"]


@pytest.mark.parametrize("task", ["regression", "labels"])
def test_rows_without_a_label_are_not_learned(tmp_path, monkeypatch, task):
    values = [DRAW.gauss(0, 1) if task == "regression" else f"k{i % 2}" for i in range(1230)]
    frame = seldom().assign(kind=[None if i % 50 == 1 else value for i, value in enumerate(values)])
    extras = laid_out(tmp_path, frame, "kind", task)
    next(column for column in extras["data"]["columns"] if column["name"] == "kind")["unlabelled"] = True
    facts = read_facts(extras)
    made = recipe.Recipe(members=(FAMILIES["hgb"].default(facts),))
    for code in (script.render(made, facts), *(baseline.code for baseline in baselines(extras))):
        names = hands_in(code, tmp_path, "kind", monkeypatch)
        assert "X" not in names or len(names["X"]) == len(names["y"]) == 1200 - 24


@pytest.mark.parametrize("rows", [0, 600_000])
def test_times_that_name_rows_are_learned_from(tmp_path, monkeypatch, rows):
    """Rentals of each hour, whose id is that hour: programs saw everything but the time."""
    hours = pd.date_range("2011-01-01", periods=330, freq="h")
    some = seldom(330).assign(Id=hours.strftime("%Y-%m-%d %H:%M:%S"), kind=np.sin(hours.hour / 4))
    extras = laid_out(tmp_path, some, "kind", "regression", rows=rows)
    facts = read_facts(extras)
    assert facts.dates == ("Id",)
    for code in (script.render(recipe.Recipe(members=(FAMILIES["hgb"].default(facts),)), facts),
                 *(baseline.code for baseline in baselines(extras))):  # fmt: skip
        names = hands_in(code, tmp_path, "kind", monkeypatch)
        assert "X" not in names or "Id_hour" in names["X"]
    assert list(pd.read_csv("submission/submission.csv")["Id"]) == list(some["Id"][-HIDDEN:])


def test_of_several_targets_each_learns_the_rows_that_have_its_label(tmp_path, monkeypatch):
    """Every such program failed: a function took the rows for its own before it had any."""
    some = seldom(230)
    some = some.assign(kind=some["size"].where(some.index % 50 != 1), price=some["size"].where(some.index % 40 != 3))
    extras = laid_out(tmp_path, some, "kind", "regression", tested=lambda test: test.drop(columns="price"))
    extras["data"]["targets"] = ["kind", "price"]
    for column in extras["data"]["columns"]:
        column["unlabelled"] = column["name"] in ("kind", "price")
    facts = read_facts(extras)
    made = recipe.Recipe(members=(FAMILIES["hgb"].default(facts),))
    monkeypatch.chdir(tmp_path)
    for code in (script.render(made, facts), *(baseline.code for baseline in baselines(extras))):
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()), threadpool_limits(1):
            exec(compile(code, "solution.py", "exec"), {"__name__": "__main__"})
        found = pd.read_csv("submission/submission.csv")
        assert list(found) == ["Id", "kind", "price"] and found.notna().all().all()


def test_rows_that_the_sample_alone_names_are_its_rows_one_by_one(tmp_path, monkeypatch):
    drop = {"tested": lambda test: test.drop(columns="Id"), "ids": "sample_submission.csv"}
    extras = laid_out(tmp_path, seldom().drop(columns="kind").rename(columns={"size": "kind"}), "kind", "regression",
                      **drop)  # fmt: skip
    facts = read_facts(extras)
    large = read_facts({"data": {**extras["data"], "rows": {"train": 600_000}}})
    made = recipe.Recipe(members=(FAMILIES["hgb"].default(facts),))
    for code in (*(script.render(made, one) for one in (facts, large)), *(b.code for b in baselines(extras))):
        hands_in(code, tmp_path, "kind", monkeypatch)
        assert list(pd.read_csv("submission/submission.csv")["Id"]) == list(range(1200, 1230))


def counts_classes():
    """A class of scikit-learn's kind that refuses what XGBClassifier refuses: codes with a gap."""
    from sklearn.base import BaseEstimator, ClassifierMixin

    class CountsClasses(ClassifierMixin, BaseEstimator):
        def __init__(self, tree_method=None, learning_rate=0.1, n_estimators=5, max_depth=3, min_child_weight=1,
                     reg_lambda=1, colsample_bytree=1, subsample=1, random_state=0):  # fmt: skip
            self.tree_method, self.learning_rate, self.n_estimators = tree_method, learning_rate, n_estimators
            self.max_depth, self.min_child_weight, self.reg_lambda = max_depth, min_child_weight, reg_lambda
            self.colsample_bytree, self.subsample, self.random_state = colsample_bytree, subsample, random_state

        def fit(self, X, y):
            self.classes_ = np.unique(y)
            if not np.array_equal(self.classes_, np.arange(len(self.classes_))):
                raise ValueError(f"Invalid classes inferred from unique values of `y`. Got {self.classes_}")
            return self

        def predict_proba(self, X):
            return np.full((len(X), len(self.classes_)), 1 / len(self.classes_))

        def predict(self, X):
            return np.zeros(len(X), int)

    return CountsClasses


def test_a_fold_without_a_rare_class_breaks_no_model_that_counts_classes(case, monkeypatch):
    """XGBoost in a blend with learned weights; where it is installed `tests/world/test_boosters.py` tries itself."""
    folder, extras, target = case
    if target != "kind":
        pytest.skip("no classes")
    table = folder / "input" / "train.csv"
    before = table.read_bytes()
    rows = pd.read_csv(table)
    rows["kind"] = ["cow", "cat", *rows["kind"][2:]]  # one of three, and neither the first nor the last
    rows.to_csv(table, index=False)
    monkeypatch.setitem(sys.modules, "xgboost", SimpleNamespace(XGBClassifier=counts_classes()))
    columns = profile(rows)
    next(column for column in columns if column["name"] == "stray")["strays"] = True
    data = {**extras["data"], "columns": columns, "packages": ["xgboost"]}
    facts = read_facts({"data": data})
    members = tuple(FAMILIES[name].default(facts) for name in ("xgb", "logistic"))
    try:
        for weights in ("learned", "given"):
            code = script.render(recipe.Recipe(members=members, weights=weights), facts)
            assert ("Coded(XGBClassifier(" in code) == (weights == "learned")
            hands_in(code, folder, target, monkeypatch)
    finally:
        table.write_bytes(before)
