"""What a third party's problem and evaluator may leave out, and what `tune` does with them."""

from __future__ import annotations

import dataclasses
import tempfile
from pathlib import Path
from types import SimpleNamespace

import pytest
from support.plugins import toy

from core.contracts import (
    AgentDefaults,
    EvaluatorDefaults,
    Limits,
    Problem,
    ProblemDefaults,
    with_defaults,
)
from core.evaluation.function_problem import FunctionEvaluator
from core.state.failure import FailureKind
from core.state.journal import Journal
from core.state.node import Node
from problems.registry import build_problem
from problems.script.evaluator import ScriptEvaluator
from problems.tsp.problem import DRIVER, Options, TourProblem
from utils.config import load_config
from utils.errors import ConfigError

# ---------------------------------------------------------------- a third party's


def test_what_a_class_of_another_leaves_out_is_the_default(tmp_path):
    plugins = Path(toy.__file__).parent
    problem = built_toy(plugins, tmp_path)
    assert Problem not in type(problem).__mro__
    assert (problem.language, problem.note, problem.name) == ("python", "", "toy")
    with pytest.raises(ConfigError, match="--refit"):
        problem.refit(Node(id="n", code=""), tmp_path, None, Limits())
    evaluator = with_defaults(problem.evaluator(None), EvaluatorDefaults)
    node = Node(id="n", code="x = 1\n")
    assert evaluator.tune(node, "t", 1).failure is FailureKind.EVAL_ERROR
    assert (evaluator.second_look([node]), evaluator.choice(), evaluator.ensemble([node])) == (None, None, None)
    assert evaluator.evaluate([node])[0].metric == 1
    evaluator.close()


def built_toy(plugins, tmp_path):
    keys = ["problem.kind=toy", f"problem.plugins={plugins}", f"project.dir={tmp_path}"]
    return build_problem(load_config(overrides=keys))


SOUND = """class Mine:
    name, unit, lower_is_better = 'mine', 'gap', True


def build(cfg, folder):
    return Mine()
"""


@pytest.mark.parametrize(
    ("sound", "slip", "told"),
    [
        ("return Mine()", "return Mine().cost", "build.* raises AttributeError: 'Mine' object has no attribute 'cost'"),
        ("build(cfg, folder)", "build()", "build.* raises TypeError: build\\(\\) takes 0 positional"),
        ("return Mine()", "return Mine", "build gives <class .*Mine'>, not an object of a problem's class"),
        ("return Mine()", "pass", "build gives None, not an object"),
        ("'gap'", "''", "unit is ''; a text is needed: what the metric is called"),
        ("name, unit", "title, unit", "name is None; a text is needed"),
        ("name, unit, lower", "reads = ('data.dir')\n    name, unit, lower", "reads is the text 'data.dir'; a tuple"),
        ("True", "'no'", "lower_is_better is 'no'; allowed: True, False"),
    ],
)
def test_a_slip_in_what_builds_a_problem_is_one_line(tmp_path, sound, slip, told):
    (tmp_path / "problems").mkdir()
    (tmp_path / "problems" / "mine.py").write_text(SOUND.replace(sound, slip))
    with pytest.raises(ConfigError, match=rf"problem\.kind=mine: {told}") as caught:
        build_problem(load_config(overrides=["problem.kind=mine", f"plugins={tmp_path}", f"project.dir={tmp_path}"]))
    assert "\n" not in str(caught.value)


@dataclasses.dataclass(frozen=True)
class Frozen:
    """Has one part of its own, which must not be touched."""

    own: str = "champion"

    @property
    def note(self):
        raise AssertionError("asked before `prepare`")

    def choice(self):
        return self.own


def test_what_a_class_has_is_its_own():
    part = Frozen()
    for defaults in (ProblemDefaults, EvaluatorDefaults, AgentDefaults):
        assert with_defaults(part, defaults) is part
    assert part.choice() == "champion" and part.language == "python" and part.second_look([]) is None
    assert (part.begin_round(None), part.drain_events()) == ({}, [])


# ---------------------------------------------------------------- tune


class InThisProcess:
    """Jobs whose entries are answered by a function, instead of a sandbox."""

    slots = 1

    def __init__(self, answer):
        self._answer = answer

    def run(self, spec):
        return self._answer(spec.payload)


def tours(payload):
    names: dict = {}
    exec(DRIVER + payload["code"], names)  # the test's own text
    return {"answers": [names["drive"](*arguments) for arguments in payload["calls"]], "output": "", "seconds": 0.0}


def nearness(payload):
    """As a user's evaluator would answer: 0 where f() is 33, less elsewhere."""
    names: dict = {}
    exec(payload["code"], names)  # the test's own text
    value = {"metrics": {"combined_score": -abs(names["f"]() - 33)}, "artifacts": {}}
    run = {"value": value, "isolated": True}
    return {"decision": {"isolation": "apart"}, "run": run} if "wanted" in payload else run


def deps(answer, journal):
    jobs, run_dir = InThisProcess(answer), Path(tempfile.mkdtemp())
    return SimpleNamespace(
        jobs=jobs,
        limits=Limits(),
        seed=0,
        isolated=True,
        journal=journal,
        tune_trials=25,
        run_dir=run_dir,
        repeats=0,
        doing=print,
        append=print,
    )


def tour_evaluator(journal):
    return FunctionEvaluator(TourProblem(Options(cities=12, instances=3)), deps(tours, journal))


def script_evaluator(journal):
    settings = {"metric": None, "timeout": 1.0, "lower_is_better": False, "isolation": "auto", "shows": []}
    return ScriptEvaluator(deps(nearness, journal), Path("e.py"), program=f"{SCRIPT}1\n", options={}, **settings)


TOUR = "def score_city(distance, home, spread, left):\n    return -distance"
SCRIPT = "def f():\n    return "


def tuned(make, code, *, lower):
    """(metric of the parent, verdict on its tuned child)."""
    journal = Journal(lower_is_better=lower)
    evaluator = make(journal)
    metric = evaluator.evaluate([Node(id="p", code=code)])[0].metric
    journal.append(Node(id="p", code=code, metric_value=metric, is_valid=True))
    return metric, evaluator.tune(Node(id="c", code=code, operator="tune", parent_ids=("p",)), "c", 3)


@pytest.mark.parametrize(
    ("make", "code", "lower"),
    [(tour_evaluator, f"{TOUR} + 0.9 * home\n", True), (script_evaluator, f"{SCRIPT}30\n", False)],
)
def test_tuning_betters_the_parent(make, code, lower):
    metric, verdict = tuned(make, code, lower=lower)
    assert verdict.code != code and (verdict.metric < metric if lower else verdict.metric > metric)
    assert tuned(make, code, lower=lower)[1].code == verdict.code, "the same seed finds the same"


@pytest.mark.parametrize(
    ("make", "code", "lower"),
    [
        (tour_evaluator, f"{TOUR}\n", True),
        (script_evaluator, f"{SCRIPT}len('text')\n", False),
        (script_evaluator, f"{SCRIPT}33\n", False),
    ],
    ids=["no constants", "no constants", "none are better"],
)
def test_tuning_in_vain_is_a_duplicate_of_the_parent(make, code, lower):
    verdict = tuned(make, code, lower=lower)[1]
    assert (verdict.duplicate_of, verdict.metric, verdict.code, verdict.failure) == ("p", None, None, None)
