"""Whatever stands in a table: its data are prepared and told to `rules`, or refused in one line."""

from __future__ import annotations

import ast
import json
import random
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from problems.competition.problem import build
from problems.competition.rules import features, recipe, script
from problems.competition.rules.facts import read_facts
from problems.competition.rules.families import FAMILIES
from utils.config import load_config
from utils.errors import SwarmEvoError

Draw = Callable[[random.Random, int], list[object]]


def each(*values: object) -> Draw:
    return lambda draw, rows: [draw.choice(values) for _ in range(rows)]


def dates(draw: random.Random, rows: int) -> list[object]:
    days = pd.date_range("2001-01-01", periods=rows, freq=draw.choice(["D", "h", "7D", "min"]))
    return days.strftime(draw.choice(["%Y-%m-%d", "%d.%m.%Y", "%m/%d/%Y %H:%M", "%Y%m%d", "%b %d %Y"])).tolist()


def nearly_constant(draw: random.Random, rows: int) -> list[object]:
    values: list[object] = [0] * rows
    values[draw.randrange(rows)] = draw.choice([1, 9e9, "x", None])
    return values


def words(draw: random.Random, rows: int) -> list[object]:
    known = ["good", "bad", "🙂", "\n", "\t", "x" * 50]
    return [" ".join(draw.choice(known) for _ in range(draw.randrange(12))) for _ in range(rows)]


COLUMNS: dict[str, Draw] = {
    "constant": lambda draw, rows: [draw.choice([0, 1.5, "a", "", None, "2020-01-01"])] * rows,
    "nearly constant": nearly_constant,
    "whole": lambda draw, rows: [draw.randrange(-5, 5) for _ in range(rows)],
    "long": each(10**18, 10**30, -(10**15), 7),
    "normal": lambda draw, rows: [draw.gauss(0, 1) for _ in range(rows)],
    "huge": lambda draw, rows: (np.float64(draw.choice([1e300, 1e-300, 1e15])) * np.arange(-1, rows - 1)).tolist(),
    "infinite": each(1.0, float("inf"), float("-inf"), 2.0),
    "gaps": lambda draw, rows: [None if draw.random() < 0.95 else draw.random() for _ in range(rows)],
    "empty": each(None),
    "categories": each("a", "b", "ä ö", "c,d", 'q"q', "NA", "nan", "None"),
    "names": lambda draw, rows: [f"id_{place}" for place in range(rows)],
    "counted": lambda draw, rows: list(range(rows)),
    "dates": dates,
    "mixed": each(1, "1", "x", None, 2.5, True, "3%", "$4", "1,234"),
    "truths": each("True", "False"),
    "words": words,
    "records": lambda draw, rows: [json.dumps({"a": draw.random(), "b": [1, 2]}) for _ in range(rows)],
    "codes": lambda draw, rows: [f"{draw.randrange(99999):05}" for _ in range(rows)],
    "percent": lambda draw, rows: [f"{draw.random() * 100:.1f}%" for _ in range(rows)],
    "rare": lambda draw, rows: [int(draw.random() < 0.01) for _ in range(rows)],
    "zeros": each(0.0, -0.0),
}
HEADS = ["x", "a b", "é", "Unnamed: 0", "index", "id", "target.1", "class", "0", "f(x)", "very" * 20, " lead", "X"]
NUMBERS = ["rmse", "mae", "r2", "spearman", "smape", "quantile@0.9"]
CLASSES = ["accuracy", "f1_macro", "mcc", "multi-class log loss"]
METRICS = {
    "normal": NUMBERS, "counted": [*NUMBERS, "rmsle"], "gaps": NUMBERS, "huge": NUMBERS,
    "whole": [*CLASSES, "qwk", "rmse"], "categories": CLASSES, "truths": ["auc", "f1", "log loss", "brier"],
    "rare": ["auc", "f1", "log loss"],
}  # fmt: skip


@pytest.mark.long
@settings(max_examples=12)
@given(
    kinds=st.lists(st.sampled_from(sorted(COLUMNS)), min_size=1, max_size=16, unique=True),
    target=st.sampled_from(sorted(METRICS)), rows=st.sampled_from([4100, 130, 1200]), seed=st.integers(0, 999),
    has_test=st.booleans(),
)  # fmt: skip
def test_any_table_is_prepared_or_refused_in_a_line(inline, kinds, target, rows, seed, has_test) -> None:
    draw = random.Random(seed)
    frame = pd.concat([pd.Series(COLUMNS[kind](draw, rows), dtype=object) for kind in [*kinds, target]], axis=1)
    frame.columns = [draw.choice(HEADS) + draw.choice(["", str(place)]) for place in range(len(kinds))] + ["goal"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name, "data")
        folder.mkdir()
        frame.to_csv(folder / "train.csv", index=draw.random() < 0.1, sep=draw.choice([",", ";", "\t"]))
        if has_test:
            frame.drop(columns="goal").head(rows // 3).to_csv(folder / "test.csv", index=False)
        said = [f"data.dir={folder}", "data.target=goal", f"data.metric={draw.choice(METRICS[target])}"]
        problem = build(load_config(None, said), Path(name))
        try:
            problem.prepare()
        except SwarmEvoError as refused:
            assert "\n" not in str(refused) and "failed" not in str(refused)
            return
        facts = read_facts(problem.prompt_extras())
        member = FAMILIES["hgb"].default(facts)
        made = recipe.Recipe(features=tuple(features.available(facts)), members=(member,), weights="given")
        ast.parse(script.render(made, facts))
        assert problem.baselines()
