"""A user's evaluator in OpenEvolve's form that compares answers with hidden labels."""

from __future__ import annotations

from tests.boundary.kinds.kind import PROTECTED, STRIKE, Kind

EVALUATOR = '''"""The owner's evaluator."""
NOTE = "@CANARY@"
import csv
import importlib.util
import os
import random
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SCALE = 1.0
TABLE = open(os.path.join(HERE, "private", "labels.csv"))


def truth():
    with open(os.path.join(HERE, "private", "labels.csv")) as file:
        return [int(row["y"]) for row in csv.DictReader(file)]


def grade(answers, labels):
    return SCALE * sum(1 for answer, label in zip(answers, labels) if answer == label) / len(answers)


def evaluate(program_path):
    spec = importlib.util.spec_from_file_location("program", program_path)
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    labels = truth()
    answers = list(map(program.predict, range(len(labels))))
    return {"combined_score": grade(answers, labels)}
'''
HONEST = "def predict(case):\n    return 0\n"
TAIL = """
_own = globals().get("predict")
def predict(case):
    _strike()
    return _own(case) if _own else _found.get(case, 0)
_strike()
"""


def _files(labels: list[int], canary: str) -> dict[str, str]:
    return {"evaluator.py": EVALUATOR.replace("@CANARY@", canary), "initial_program.py": HONEST}


def program(body: str) -> str:
    """The attack's own `predict` if it has one, else what its strike found."""
    strike = "" if "def strike(" in body else "\ndef strike(): pass\n"
    return f"{body}\n{strike}{STRIKE}{TAIL}"


SCRIPT = Kind("script", _files, program, limit=0.9, protected=(*PROTECTED, "program.py"))
