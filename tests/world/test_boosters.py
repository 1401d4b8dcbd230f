"""LightGBM, XGBoost and CatBoost where the user's interpreter has them: scripts of `rules` run with it in the sandbox.

`SWARM_EVO_TEST_BOOSTERS` names an interpreter with pandas, scikit-learn and some of the three.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from support.command_line import Cli

from problems.competition.rules import features, recipe, script
from problems.competition.rules.facts import read_facts
from problems.competition.rules.families import FAMILIES
from problems.registry import build_problem
from utils.config import load_config

PYTHON = os.environ.get("SWARM_EVO_TEST_BOOSTERS", "")
BOOSTERS = {"lgbm": "lightgbm", "xgb": "xgboost", "cat": "catboost"}
TASKS = {"price": "rmsle", "town": "accuracy", "kind": "multi-class log loss", "bit": "auc"}

pytestmark = pytest.mark.skipif(not PYTHON, reason="SWARM_EVO_TEST_BOOSTERS names no interpreter")


def has(package: str) -> bool:
    return subprocess.run([PYTHON, "-c", f"import {package}"], capture_output=True, check=False).returncode == 0


def own_table(folder: Path, target: str) -> Path:
    """Numbers with gaps, a category, a date, and one target that follows from them."""
    draw = np.random.default_rng(5)
    rows = 600
    size, town = draw.gamma(3, 30, rows).round(1), draw.choice(["Ulm", "Bonn", "Köln"], rows)
    frame = pd.DataFrame({"size": size, "town": town, "rooms": draw.integers(1, 6, rows)})
    frame["built"] = pd.date_range("1990-01-01", periods=rows, freq="7D").astype(str)
    level = size + 40 * (town == "Bonn") + draw.normal(0, 4, rows)
    frame["price"] = (900 * level + 20_000).clip(1).round()
    frame["kind"] = pd.qcut(level, 3, labels=["small", "fair", "large"]).astype(str)
    frame["bit"] = (level > np.median(level)).astype(int)
    frame.loc[::17, "size"] = None
    if target == "town":
        frame["size"] += 200 * (town == "Ulm")
    kept = [column for column in frame if column == target or column not in ("price", "kind", "bit")]
    folder.mkdir()
    frame[kept].to_csv(folder / "train.csv", index=False)
    return folder


@pytest.mark.parametrize("target", TASKS)
def test_each_runs_in_the_sandbox_and_beats_the_dummy(cli: Cli, target: str) -> None:
    words = [f"data.dir={own_table(cli.folder / 'data', target)}", f"data.target={target}",
             f"data.metric={TASKS[target]}", f"execution.python={PYTHON}"]  # fmt: skip
    problem = build_problem(load_config(None, [*words, f"project.dir={cli.folder}"], env={}))
    problem.prepare()
    facts = read_facts(problem.prompt_extras())
    there = [name for name, package in BOOSTERS.items() if has(package)]
    assert there, f"{PYTHON} has none of {', '.join(BOOSTERS.values())}"
    for name in there:
        member = FAMILIES[name].default(facts)
        made = recipe.Recipe(features=tuple(features.available(facts)), members=(member,), weights="given")
        (cli.folder / f"{name}.py").write_text(script.render(made, facts))
    initial = ",".join(f"{name}.py" for name in there)
    ended = cli(*words, "search.max_steps=0", f"initial={initial}", "execution.timeout=100", timeout=400)
    assert ended.code == 0, ended.out + ended.err
    nodes = {cli.node(row["node_id"])["plan"]: row for row in cli.show()["nodes"]}
    (dummy,) = [row["metric"] for row in cli.show()["baselines"] if row["name"] == "dummy"]
    for name in there:
        row = nodes[f"{name}.py"]
        assert row["failure"] is None, (name, cli.node(row["node_id"])["term_out"][-800:])
        assert (row["metric"] < dummy) == (TASKS[target] in ("rmsle", "multi-class log loss")), (name, row["metric"])


def test_a_rare_class_of_one_row_breaks_no_blend_with_learned_weights(cli: Cli) -> None:
    folder = own_table(cli.folder / "data", "kind")
    rows = pd.read_csv(folder / "train.csv")
    rows.loc[rows.index[0], "kind"] = "huge"
    rows.to_csv(folder / "train.csv", index=False)
    words = [f"data.dir={folder}", "data.target=kind", "data.metric=accuracy", f"execution.python={PYTHON}"]
    problem = build_problem(load_config(None, [*words, f"project.dir={cli.folder}"], env={}))
    problem.prepare()
    facts = read_facts(problem.prompt_extras())
    assert facts.rarest == 1
    there = [name for name, package in BOOSTERS.items() if has(package)]
    members = tuple(FAMILIES[name].default(facts) for name in (*there, "logistic"))
    (cli.folder / "blend.py").write_text(script.render(recipe.Recipe(members=members, weights="learned"), facts))
    ended = cli(*words, "search.max_steps=0", "initial=blend.py", "execution.timeout=100", timeout=400)
    assert ended.code == 0, ended.out + ended.err
    node = next(cli.node(row["node_id"]) for row in cli.show()["nodes"] if row["operator"] == "user")
    assert node["failure"] is None, node["term_out"][-800:]
