"""Evaluators that hold their program: what their text says of it, and that they are asked as their frameworks ask."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import numpy  # noqa: F401 - a process loads it once, and the harness loads it where it is not there yet
import pytest

from problems.evaluator_forms import Template, template_of
from problems.script.job import write_harness
from utils.config import load_config
from utils.errors import ConfigError

EOHS = '''
import random
from theirs import BaseProblem

class Ranks(BaseProblem):
    """Ranks numbers."""
    template_program = """
def rank(x: np.ndarray) -> np.ndarray:
    return x * 1.0
"""
    task_description = ("Rank the numbers. "
                        "Less is better.")

    def __init__(self, size=3):
        self.data = [random.random() for _ in range(size)]

    def evaluate_program(self, program_str, callable_func):
        return sum(callable_func(x) for x in self.data)
'''
BASE = "class BaseProblem:\n    pass\n"
SPECIFICATION = '''"""Sums of small numbers."""
import math
import unused_here

LIMIT = 4


def halved(x):
  return x / 2


def solve(n):
  return sum(weight(i) for i in range(n))


@funsearch.run
def evaluate(size: tuple) -> float:
  seen = {size: solve(size[0])}
  return seen[size]


@funsearch.evolve
def weight(i: int) -> float:
  """A weight."""
  return min(LIMIT, halved(i))
'''


def template(tmp_path: Path, text: str, name: str = "prob.py") -> Template | None:
    (tmp_path / name).write_text(text)
    return template_of(tmp_path / name)


def asked(monkeypatch: pytest.MonkeyPatch, evaluator: Path, folder: Path, **options: Any) -> Any:
    """What the harness says of the evaluator's own program."""
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(sys, "modules", dict(sys.modules))
    found = template_of(evaluator)
    assert found is not None
    source = found.program.replace("import unused_here\n", "")
    (folder / "program.py").write_text(source)
    settings = {"cascade": True, "metric": None, "template": found.harness, **options}
    spec = importlib.util.spec_from_file_location(
        "made_harness", write_harness(folder / "made", str(evaluator), settings)
    )
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.evaluate(str(folder / "program.py"))["metrics"]


def test_a_class_says_what_is_searched_and_in_whose_direction(tmp_path: Path):
    found = template(tmp_path, EOHS)
    assert found is not None and (found.asks, found.lower_is_better) == ({"entry": "rank", "reads_text": False}, True)
    assert "import numpy as np\n" in found.program and "return x * 1.0" in found.program
    assert found.about == "Rank the numbers. Less is better."
    (tmp_path / "template.py").write_text('template_program = "def f(x):\\n    return 1\\n"\n')
    theirs = "class E(Evaluation):\n    def evaluate_program(self, text, f):\n        return len(text)\n"
    of_llm4ad = template(tmp_path, theirs, "evaluation.py")
    assert of_llm4ad is not None and (of_llm4ad.lower_is_better, of_llm4ad.asks["reads_text"]) == (False, True)
    assert of_llm4ad.program == "def f(x):\n    return 1\n"
    (tmp_path / "template.py").write_text('template_program = "def f(x: List[int]) -> int:\\n    return 1\\n"\n')
    lazy = template_of(tmp_path / "evaluation.py")
    assert lazy is not None and lazy.program.startswith("from __future__ import annotations\n"), "as LLM4AD runs it"


@pytest.mark.parametrize(
    "text",
    [
        "def evaluate(program_path):\n    return 1\n",
        EOHS + "\ndef evaluate(program_path):\n    return 1\n",
        EOHS.replace("template_program", "other"),
        EOHS.replace("def rank", "def rank("),
        SPECIFICATION.replace("@funsearch.run", "@funsearch.evolve"),
        "not Python",
    ],
)
def test_what_holds_no_program_is_an_evaluator_as_any_other(tmp_path: Path, text: str):
    assert template(tmp_path, text) is None


def test_of_a_specification_goes_along_what_the_searched_function_names(tmp_path: Path):
    found = template(tmp_path, SPECIFICATION, "spec.txt")
    assert found is not None and found.wants == "evaluate(size)"
    assert found.asks == {"searched": "weight", "scorer": "evaluate"}
    head, marked = found.program.split("# EVOLVE-BLOCK-START\n")
    assert "LIMIT = 4" in head and "def halved" in head and "solve" not in found.program
    assert marked.startswith("def weight") and marked.endswith("# EVOLVE-BLOCK-END\n")
    assert found.about == "Sums of small numbers." and "def solve" in found.source


def test_the_object_is_asked_and_its_data_are_the_same_in_every_process(tmp_path: Path, monkeypatch: Any):
    (tmp_path / "theirs.py").write_text(BASE)
    (tmp_path / "prob.py").write_text(EOHS)
    one, other = (asked(monkeypatch, tmp_path / "prob.py", tmp_path) for _ in range(2))
    assert one == other
    six = asked(monkeypatch, tmp_path / "prob.py", tmp_path, arguments={"size": 6})
    assert six["combined_score"] > one["combined_score"]


def test_a_task_inside_of_a_package_runs_without_the_packages_own_lines(tmp_path: Path, monkeypatch: Any):
    """LLM4AD's import all its tasks, and whatever these need."""
    task = tmp_path / "pack" / "tasks" / "one"
    task.mkdir(parents=True)
    for folder in (task, task.parent, task.parent.parent):
        (folder / "__init__.py").write_text("raise ImportError('a package that is not here')\n")
    (tmp_path / "pack" / "base.py").write_text("class Evaluation:\n    pass\n")
    (task / "template.py").write_text('template_program = "def f(x):\\n    return x + 1\\n"\n')
    (task / "evaluation.py").write_text(
        "from pack.base import Evaluation\nfrom pack.tasks.one.template import template_program\n"
        "class One(Evaluation):\n    def evaluate_program(self, program_str, callable_func):\n"
        "        return callable_func(2) + len(program_str) * 0 + program_str.count('def')\n"
    )
    assert asked(monkeypatch, task / "evaluation.py", tmp_path) == {"combined_score": 4.0}


def test_a_specification_is_run_on_the_users_inputs_and_the_last_ones_score_steers(tmp_path: Path, monkeypatch: Any):
    (tmp_path / "spec.txt").write_text(SPECIFICATION.replace("import unused_here\n", ""))
    found = asked(monkeypatch, tmp_path / "spec.txt", tmp_path, arguments={"inputs": [[3], [5]]})
    assert found == {"input 1": 1.5, "input 2": 5.0, "combined_score": 5.0}


def test_the_marks_may_stand_in_comments_and_an_input_may_name_several_arguments(tmp_path: Path, monkeypatch: Any):
    """So do FunSearch's own notebooks have it."""
    (tmp_path / "spec.py").write_text(
        "# @funsearch.run\ndef evaluate(nodes: int, n: int) -> int:\n  return nodes * weight(n)\n\n\n"
        "#@funsearch.evolve\ndef weight(i):\n  return i + 1\n"
    )
    found = asked(
        monkeypatch, tmp_path / "spec.py", tmp_path, arguments={"inputs": [{"nodes": 7, "n": 1}, {"n": 2, "nodes": 7}]}
    )
    assert found["combined_score"] == 21 and found["input 1"] == 14
    assert asked(monkeypatch, tmp_path / "spec.py", tmp_path, arguments={"inputs": [[7, 3]]})["combined_score"] == 28


def test_their_direction_stands_unless_the_user_says_another(tmp_path: Path):
    from problems.registry import build_problem

    (tmp_path / "prob.py").write_text(EOHS)
    for more, lower in (([], True), (["problem.direction=max"], False)):
        for words in ([f"problem.evaluator={tmp_path / 'prob.py'}"], [f"problem.path={tmp_path}"]):
            config = load_config(None, [*words, *more], presets={"problem": "script"}, env={})
            problem = build_problem(config)
            assert problem.lower_is_better is lower and config.problem.direction == ("min" if lower else "max")
            assert "import numpy as np" in problem.baselines()[0].code and not problem.untold


def test_a_specification_without_inputs_is_refused_in_one_line(tmp_path: Path):
    from problems.registry import build_problem

    (tmp_path / "spec.txt").write_text(SPECIFICATION)
    words = [f"problem.path={tmp_path / 'spec.txt'}"]
    inputs = "problem.options.evaluator_args.inputs=[[3]]"
    for more, says in (
        ([], r"evaluate\(size\) is given inputs by who searches"),
        ([inputs, "problem.options.evaluator_args.x=1"], "evaluator_args.x: .* allowed: inputs"),
    ):
        with pytest.raises(ConfigError, match=says):
            build_problem(load_config(None, [*words, *more], presets={"problem": "script"}, env={})).check()
    problem = build_problem(load_config(None, [*words, inputs], presets={"problem": "script"}, env={}))
    problem.check()
    told = problem.prompt_extras()["sections"]["The specification that it is a part of"]
    assert "def solve" in told and "`evaluate` is called with each of: [[3]]" in told
