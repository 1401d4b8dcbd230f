"""Programs that writers without a model, and the page, have to read: whatever stands in them, nothing is raised."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from core.arena.mutation import constants, cross, mutate
from core.evaluation.function_rules import FunctionWriter
from core.evaluation.signature import Signature
from core.evaluation.tune import tune_program
from problems.bin_packing.writer import PackingWriter
from problems.competition.rules import drafts, recipe, script
from problems.competition.rules.facts import Facts, read_facts
from problems.competition.rules.writer import CompetitionWriter
from problems.script.writer import ScriptWriter
from problems.tsp.writer import TourWriter
from utils.data_preview import profile

ROOT = Path(__file__).parents[3]
HUGE = "1" + "0" * 400
NUMBERS = [HUGE, "-" + HUGE, "1e400", "-1e400", "1.7e308", "5e-324", "9" * 20, "9223372036854775807", "True"]
FUNCTIONS = {
    "script": (ScriptWriter(), "def f(x):\n    return x * {} + {}\n"),
    "tsp": (TourWriter(), "def score_city(distance, home, spread, left):\n    return {} * distance + {} * home\n"),
    "bin_packing": (PackingWriter(), "def score_bin(item, remaining_capacity):\n    return {} * item - {}\n"),
    "function": (
        FunctionWriter(Signature.read("f(x, y) -> float"), "def f(x, y):\n    return x + 1.5\n", {"x": (1.0, 2.0)}),
        "def f(x, y):\n    return {} * x - y / {}\n",
    ),
}
TABLE = pd.DataFrame({"Id": range(90), **{name: np.linspace(0, n, 90) for n, name in enumerate("aby", 1)}})
EXTRAS = {
    "data": {
        "id": "Id",
        "targets": ["y"],
        "label": None,
        "rows": {"train": 90},
        "columns": profile(TABLE),
        "metric": "rmse",
        "task": "regression",
    }
}


def write(writer: Any, codes: list[str], operator: str, seed: int, extras: Mapping[str, Any] = EXTRAS) -> str:
    parents = [{"code": code, "plan": "", "failure": None, "metric": 1.0} for code in codes]
    context = {"operator": operator, "parents": parents, "extras": extras, "refusal": ""}
    return str(writer.write(context, random.Random(seed)))


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("number", NUMBERS, ids=lambda text: text[:8])
def test_numbers_that_no_float_holds_stay_as_they_are(name: str, number: str) -> None:
    writer, form = FUNCTIONS[name]
    codes = [form.format(number, "3"), form.format("2.5", number)]
    for seed in range(40):
        for operator in ("improve", "crossover", "refine"):
            assert write(writer, codes[: 1 + (operator == "crossover")], operator, seed)


@pytest.mark.parametrize("number", NUMBERS, ids=lambda text: text[:8])
def test_they_are_not_tuned(number: str) -> None:
    code = f"def f(x):\n    return x * {number} + 1.5\n"
    found = tune_program(code, lambda text: 1.0, trials=6, seed=1, lower_is_better=True)
    assert found is None or number in found.code or abs(float(number)) < 1e15


@pytest.mark.parametrize("number", NUMBERS, ids=lambda text: text[:8])
def test_an_engine_that_names_them_can_be_changed(number: str) -> None:
    code = f"DEPTH = {number}\nTABLE = ({number}, 1, 2.0)\nWIDTH = 3\n"
    for seed in range(30):
        changed, _ = mutate(code, [], random.Random(seed), count=3)
        assert constants(changed).keys() == {"DEPTH", "TABLE", "WIDTH"}
        cross(code, changed, [], random.Random(seed))


@pytest.fixture(scope="module")
def facts() -> Facts:
    found = read_facts(EXTRAS)
    assert found.is_table
    return found


ODD_VALUES = [10**400, -(10**400), 1e308, -1.0, 0, "odd\ud800", None, [], [[1, 2, 3]], {"a": 1}, 10**12, float("nan")]


def odd_recipes(sound: str) -> list[str]:
    plain = json.loads(sound)
    changed = [{**plain, key: value} for key in plain for value in ODD_VALUES]
    for key in plain["members"][0]:
        changed += [{**plain, "members": [{**plain["members"][0], key: value}]} for value in ODD_VALUES]
    changed += [
        {**plain, "members": [{**plain["members"][0], "params": [[name, value]]}]}
        for name in ("max_iter", "learning_rate", "alpha", "n_estimators", "odd") for value in ODD_VALUES
    ]  # fmt: skip
    texts = [json.dumps(one) for one in changed]
    return [*texts, "", "{", "[]", "null", "7", '"text"', "[" * 100_000, '{"members": 1}', "1" * 5000, sound[:-3]]


def test_a_recipe_that_is_none_is_passed_over(facts: Facts) -> None:
    code = script.render(drafts.draft(facts, random.Random(1))[0], facts)
    sound = next(line for line in code.split("\n") if line.startswith(recipe.MARK))
    for number, text in enumerate(odd_recipes(sound.removeprefix(recipe.MARK))):
        odd = code.replace(sound, recipe.MARK + text)
        for operator in ("improve", "debug", "crossover"):
            assert write(CompetitionWriter(), [odd, code], operator, number)


@pytest.mark.long
def test_a_program_that_an_odd_recipe_renders_can_be_changed(facts: Facts) -> None:
    """Whoever writes programs can write what our own code would write for that recipe."""
    boosted = recipe.Recipe(members=(recipe.Member("hgb", (("learning_rate", 0.1), ("max_iter", 100))),))
    code, rendered = script.render(boosted, facts), 0
    for text in odd_recipes(boosted.dump()):
        found = recipe.find(recipe.MARK + text)
        try:
            odd = "" if found is None else script.render(found, facts)
        except Exception:  # noqa: BLE001 - nobody can write what cannot be rendered
            continue
        for seed in range(25 if odd else 0):
            rendered += 1
            assert write(CompetitionWriter(), [odd], "improve", seed)
            assert write(CompetitionWriter(), [odd, code], "crossover", seed)
    assert rendered


FUTURE = '"""Ça."""\nfrom __future__ import annotations\n\ndef {}({}):\n    """→"""\n    return {}\n'
WINNERS = {
    "tsp": FUTURE.format("score_city", "distance, home, spread, left", "-distance"),
    "bin_packing": FUTURE.format("score_bin", "item, remaining_capacity, histogram", "-remaining_capacity"),
    "driven": FUTURE.format("pick", "x: int", "x"),
    "script": FUTURE.format("f", "x", "x"),
}
EXPORTS = """
import sys
from pathlib import Path
from core.evaluation.function_problem import FunctionProblem
from core.state.node import Node
from problems.bin_packing.problem import BinPackingProblem
from problems.bin_packing.problem import Options as PackingOptions
from problems.script.problem import Options as ScriptOptions
from problems.script.problem import ScriptProblem
from problems.tsp.problem import Options as TourOptions
from problems.tsp.problem import TourProblem

class Driven(FunctionProblem):
    signature, start = "pick(x: int) -> int", "def pick(x):\\n    return x\\n"
    driver = "def drive(n):\\n    return [pick(x) for x in range(n)]\\n"
    def cases(self, part): return [3]
    def calls(self, case): return [[case]]
    def score(self, case, answers): return 1.0

problems = {
    "tsp": lambda here: TourProblem(TourOptions()),
    "bin_packing": lambda here: BinPackingProblem("u120", PackingOptions(test=2)),
    "driven": lambda here: Driven(),
    "script": lambda here: ScriptProblem(here / "program.py", here / "evaluator.txt", ScriptOptions()),
}
for name, make in problems.items():
    here = Path(sys.argv[1], name)
    make(here).export(Node(id="a" * 12, code=(here / "program.py").read_text(encoding="utf-8")), here / "out", here)
"""


def test_a_winner_is_exported_whole_whatever_it_begins_with_and_wherever(tmp_path):
    """Its imports from `__future__` have to stand first, and it may hold letters that a locale does not know."""
    for name, code in WINNERS.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "program.py").write_text(code, encoding="utf-8")
    plain = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "-c", EXPORTS, str(tmp_path)], env=plain, check=True)
    for name in WINNERS:
        text = (tmp_path / name / "out" / "solution.py").read_text(encoding="utf-8")
        compile(text, name, "exec")
        assert "→" in text
