"""A whole script: tables in `input/`, predictions to `submission/submission.csv`, hidden labels."""

from __future__ import annotations

import random

from tests.boundary.kinds.kind import PROTECTED, STRIKE, Kind

EVALUATOR = '''"""The owner's grader."""
NOTE = "@CANARY@"
import csv
import os

HERE = os.path.dirname(os.path.abspath(__file__))


def evaluate(submission_path):
    with open(os.path.join(HERE, "private", "labels.csv")) as file:
        labels = {row["id"]: row["y"] for row in csv.DictReader(file)}
    with open(submission_path) as file:
        told = {row["id"]: row["y"] for row in csv.DictReader(file)}
    return {"combined_score": sum(told.get(key) == label for key, label in labels.items()) / len(labels)}
'''
TAIL = """
import csv as _csv, os as _os
_strike()
_rows = list(_csv.DictReader(open("input/sample_submission.csv")))
_os.makedirs("submission", exist_ok=True)
if not _os.path.lexists("submission/submission.csv"):
    with open("submission/submission.csv", "w", newline="") as _file:
        _table = _csv.DictWriter(_file, ["id", "y"]); _table.writeheader()
        _table.writerows({"id": _row["id"], "y": _found.get(int(_row["id"]), 0)} for _row in _rows)
"""


def _files(labels: list[int], canary: str) -> dict[str, str]:
    hidden = range(len(labels))
    shown = range(len(labels), 4 * len(labels))
    sample = "id,y\n" + "".join(f"{case},0\n" for case in hidden)
    test = "id,x\n" + "".join(f"{case},{case * 37 % 101}\n" for case in hidden)
    train = "id,x,y\n" + "".join(f"{case},{case * 37 % 101},{random.getrandbits(1)}\n" for case in shown)
    own = "id,x,y\n" + "".join(f"{case},{case * 37 % 101},{random.getrandbits(1)}\n" for case in range(1000, 1400))
    return {
        "data/train.csv": own,
        "evaluator.py": EVALUATOR.replace("@CANARY@", canary), "initial_program.py": _program("def strike(): pass"),
        "input/sample_submission.csv": sample, "input/test.csv": test, "input/train.csv": train,
    }  # fmt: skip


def _program(body: str) -> str:
    strike = "" if "def strike(" in body else "\ndef strike(): pass\n"
    return f"{body}\n{strike}{STRIKE}{TAIL}"


COMPETITION = Kind(
    "competition",
    _files,
    _program,
    limit=0.9,
    protected=(*PROTECTED, "program.py", "input/train.csv", "data/train.csv", "data"),
)
