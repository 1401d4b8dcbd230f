"""Columns that models do not take as they are: what `rules` writes for them runs all the same, baselines too."""

import contextlib
import io
import json
import random
import warnings

import numpy as np
import pandas as pd
import pytest
from threadpoolctl import threadpool_limits

from problems.competition.baselines import baselines
from problems.competition.rules import features, recipe, script
from problems.competition.rules.facts import FEWEST, read_facts
from problems.competition.rules.families import suited
from utils.data_preview import profile

ROWS, HIDDEN = 90, 30
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
