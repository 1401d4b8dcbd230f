"""Reference programs: a dummy, a linear model and default HistGradientBoosting, as a newcomer writes them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from core.contracts import Baseline
from problems.competition.rules import script, size
from problems.competition.rules.drafts import SAMPLE_COLUMNS, SAMPLE_ROWS, cost
from problems.competition.rules.facts import Facts, read_facts
from problems.competition.rules.family import ABSOLUTE
from problems.competition.rules.recipe import Member, Recipe
from utils.counts import counted
from utils.syntax import source_lines

BASELINE_SHARE = 0.4
"""Part of what the longest program of a search may take that a baseline may."""


def baselines(extras: Mapping[str, Any]) -> list[Baseline]:
    """Three baselines where the data are one table with its targets, else the sample submission alone."""
    facts = read_facts(extras)
    if not facts.is_table:
        return [Baseline("sample submission", script.constant(facts))]
    target = "log1p" if facts.metric == "rmsle" else "none"
    both = len({goal.task == "regression" for goal in facts.goals}) == 2  # then no linear model does for all
    linear = ("words", "logistic") if facts.classifies else ("words_ridge", "ridge")
    found = [Baseline("dummy", _dummy(facts))]
    plain = ("TF-IDF + linear", Member(linear[0])) if facts.texts else (linear[1], Member(linear[1]))
    if not (facts.columns or facts.files.pictures):
        return found  # all that is known lies in further tables
    for name, member in [*([] if both else [plain]), ("HistGradientBoosting", Member("hgb"))]:
        recipe = _affordable(Recipe(target=target, members=(member,)), facts)
        code = script.render(recipe, facts)
        name += f" on {counted(recipe.rows, 'row', form=',')}" if recipe.rows else ""
        name += (
            f"{' of' if recipe.rows else ' on'} {counted(recipe.columns, 'number', form=',')}" if recipe.columns else ""
        )
        found.append(
            Baseline(name, "\n".join(line for line in source_lines(code) if not line.startswith("# recipe")) + "\n")
        )
    return found


def _affordable(recipe: Recipe, facts: Facts) -> Recipe:
    """On as many rows, and numbers, as memory has room for and a search has time for, beside all that it tries."""
    plain = replace(recipe, members=tuple(_as_written(member) for member in recipe.members))
    rows = int(min(facts.rows, size.most_rows(recipe, facts), facts.files.most))
    columns, most = len(facts.numbers), facts.longest * BASELINE_SHARE
    while rows > SAMPLE_ROWS and cost(replace(plain, rows=rows), facts) > most:
        rows = round(rows * 0.8)
    while columns > SAMPLE_COLUMNS and cost(replace(plain, rows=rows, columns=columns), facts) > most:
        columns = round(columns * 0.8)
    few = columns if columns < len(facts.numbers) else 0
    return replace(recipe, rows=0 if rows >= facts.rows else rows // 1000 * 1000, columns=few)


def _as_written(member: Member) -> Member:
    """A member with the numbers that scikit-learn takes where nothing is said."""
    usual = {"max_iter": 100, "max_leaf_nodes": 31} if member.family == "hgb" else {}
    return replace(member, params=tuple({**usual, **dict(member.params)}.items()))


def _dummy(facts: Facts) -> str:
    """The best constant for the metric, of each target."""
    if facts.task == "classes":
        return _class_shares(facts)
    known = ".dropna()" if facts.unlabelled else ""
    found = {
        name: _constant(alike).format(y=f"y[{name!r}]{known}")
        for alike in facts.by_goal().values() for name in alike.targets
    }  # fmt: skip
    constants = "\n".join(f"predictions[{name!r}] = {found[name]}" for name in facts.targets)
    return f"""# [SECTION: DATA]
import os

import numpy as np
import pandas as pd

y = pd.read_csv("input/{facts.table}", usecols={list(facts.targets)!r})
test = pd.read_csv("input/{facts.ids}", usecols=[{facts.key!r}])

# [SECTION: PREDICT]
os.makedirs("submission", exist_ok=True)
predictions = pd.DataFrame({{{facts.key!r}: test[{facts.key!r}]}})
{constants}
predictions.to_csv("submission/submission.csv", index=False)
print("predicted the same for every row:", dict(predictions.iloc[0, 1:]))
"""


def _constant(facts: Facts) -> str:
    """The expression of the best constant, where `{y}` stands for the target."""
    if facts.task == "labels":
        return "{y}.mode().iloc[0]"
    if facts.task == "probability":
        return "({y} == np.unique({y})[-1]).mean()"
    if facts.metric.startswith("quantile@"):
        return f"{{y}}.quantile({facts.metric.partition('@')[2]})"
    if facts.metric == "rmsle":
        return "np.expm1(np.log1p({y}).mean())"
    return "{y}.median()" if facts.metric in ABSOLUTE else "{y}.mean()"


def _class_shares(facts: Facts) -> str:
    """How frequent each class is, as its probability in every row."""
    known = ".dropna()" if facts.unlabelled else ""
    return f"""# [SECTION: DATA]
import os

import pandas as pd

y = pd.read_csv("input/{facts.table}", usecols=[{facts.target!r}])[{facts.target!r}]{known}
shares = y.astype(str).value_counts(normalize=True)
test = pd.read_csv("input/{facts.ids}", usecols=[{facts.key!r}])

# [SECTION: PREDICT]
os.makedirs("submission", exist_ok=True)
predictions = test[[{facts.key!r}]].copy()
for name in {list(facts.classes)!r}:
    predictions[name] = shares[name]
predictions.to_csv("submission/submission.csv", index=False)
print("predicted the shares of", len(shares), "classes for every row")
"""
