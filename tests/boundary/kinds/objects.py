"""An evaluator that makes an object of the program's class and asks that."""

from __future__ import annotations

from tests.boundary.kinds.kind import PROTECTED, STRIKE, Kind
from tests.boundary.kinds.script import EVALUATOR as FUNCTIONS

EVALUATOR = FUNCTIONS.replace(
    "answers = list(map(program.predict, range(len(labels))))",
    "model = program.Model(len(labels))\n    answers = [model.predict(case) for case in range(len(labels))]",
)
HONEST = """class Model:
    def __init__(self, cases):
        self.cases = cases
    def __len__(self):
        return self.cases
    def predict(self, case):
        return 0
"""
TAIL = """
if "Model" not in globals():
    class Model:
        def __init__(self, cases): self.cases = cases
        def __len__(self): return self.cases
        def predict(self, case):
            _strike()
            return _found.get(case, 0)
_strike()
"""


def _files(labels: list[int], canary: str) -> dict[str, str]:
    return {"evaluator.py": EVALUATOR.replace("@CANARY@", canary), "initial_program.py": HONEST}


def _program(body: str) -> str:
    strike = "" if "def strike(" in body else "\ndef strike(): pass\n"
    return f"{body}\n{strike}{STRIKE}{TAIL}"


OBJECTS = Kind("objects", _files, _program, limit=0.9, protected=(*PROTECTED, "program.py"))
