"""A problem for tests of the loop: find x near 2. Programs are one assignment, read by `ast` and never run.

`problem.options`: `seconds` an evaluation takes, `evaluations` a file that gets a line for each finished evaluation,
`together` to judge whole rounds, `refuse` a number from which on `check` refuses x, `breaks` (`check` or `evaluate`)
what of the evaluator raises an exception of its own for x = 13.

Its classes have the contracts' form and inherit nothing of ours, as a third party's may.
"""

from __future__ import annotations

import ast
import time
from pathlib import Path

from core.contracts import Baseline, Evaluation
from core.state.failure import FailureKind
from utils.syntax import parse


def build(cfg, project_dir):
    return ToyProblem(cfg.problem.options)


class ToyProblem:
    name = "toy"
    lower_is_better = True
    unit = "distance"
    family = "heuristic"
    preload = ()
    seeds_search = False
    claims_only = False
    single_function = True

    def __init__(self, options):
        self.options = dict(options)

    def prepare(self):
        pass

    def statement(self):
        return "Find x near 2."

    def preview(self):
        return ""

    def prompt_extras(self):
        return {"output_format": "x = NUMBER"}

    def agents(self, build):
        return {}

    def baselines(self):
        return [Baseline("zero", "x = 0\n")]

    def rules(self):
        return ToyWriter()

    def evaluator(self, bench):
        return ToyEvaluator(**self.options)

    def export(self, node, out, run_dir):
        path = out / "solution.py"
        path.write_text(node.code)
        return [path]


class ToyWriter:
    """Draws x for a draft, moves it for an improvement; one program in six is broken, one in eight is a repetition."""

    def write(self, context, rng):
        kind = rng.random()
        if context["refusal"]:
            value = repr(round(rng.uniform(-1, 1), 4))
        elif kind < 1 / 6 and context["operator"] != "debug":
            value = f"broken_{rng.randrange(1000)}"
        elif kind < 7 / 24:
            value = "1"
        elif context["operator"] == "improve":
            value = repr(round(_number(context["parents"][0]["code"]) + rng.gauss(0, 1), 4))
        else:
            value = repr(round(rng.uniform(-9, 9), 4))
        return f"I try {value}.\n```python\nx = {value}\n```\n"


class ToyEvaluator:
    def __init__(self, seconds=0.0, evaluations=None, together=False, refuse=None, breaks="", final_seconds=0.0):
        self.together = together
        self._seconds = seconds
        self._evaluations = evaluations
        self._refuse = refuse
        self._breaks = breaks
        self._final_seconds = final_seconds

    def check(self, node):
        value = _number(node.code)
        if self._breaks == "check" and value == 13:
            raise LookupError("the evaluator lost its table")
        if self._refuse is not None and value is not None and value >= self._refuse:
            return Evaluation(failure=FailureKind.SIGNATURE, message=f"x is not below {self._refuse}")
        return None

    def evaluate(self, nodes):
        return [self._one(node) for node in nodes]

    def final(self, nodes):
        time.sleep(self._final_seconds)
        return [Evaluation(metric=abs(_number(node.code) - 2.001)) if node.code else None for node in nodes]

    def _one(self, node):
        time.sleep(self._seconds)
        value = _number(node.code)
        if self._breaks == "evaluate" and value == 13:
            raise LookupError("the evaluator lost its table")
        if self._evaluations:
            with Path(self._evaluations).open("a") as file:
                file.write(f"{node.id} {node.operator}\n")
        if value is None:
            return Evaluation(failure=FailureKind.RUNTIME, message="x is not a number", exc_type="NameError")
        return Evaluation(metric=abs(value - 2), signature=(value,), seconds=self._seconds, term_out=f"x is {value}")


def _number(code):
    try:
        value = ast.literal_eval(parse(code).body[-1].value)
    except (SyntaxError, ValueError, IndexError, AttributeError):
        return None
    return value if isinstance(value, int | float) else None
