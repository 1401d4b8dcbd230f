"""One function inside a program: online bin packing."""

from __future__ import annotations

from tests.boundary.kinds.kind import STRIKE, Kind

EVALUATOR = '''"""The owner's evaluator: excess of bins over the bound."""
NOTE = "@CANARY@"
import importlib.util
import random

SCALE = 1.0
CAPACITY = 100
TABLE = open(__file__.replace("evaluator.py", "private/labels.csv"))


def truth():
    draw = random.Random(1)
    return [draw.randint(20, 60) for _ in range(300)]


def grade(bins, items):
    bound = -(-sum(items) // CAPACITY)
    return SCALE * (len(bins) / bound - 1)


def evaluate(program_path):
    spec = importlib.util.spec_from_file_location("program", program_path)
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    items = truth()
    bins = []
    for item in items:
        room = [place for place, left in enumerate(bins) if left >= item]
        if room:
            best = max(room, key=lambda place: program.score_bin(item, bins[place]))
            bins[best] -= item
        else:
            bins.append(CAPACITY - item)
    return {"combined_score": -grade(bins, items)}
'''
HONEST = "def score_bin(item, remaining_capacity):\n    return item - remaining_capacity\n"
TAIL = """
def score_bin(item, remaining_capacity):
    _strike()
    return item - remaining_capacity
_strike()
"""


def _files(labels: list[int], canary: str) -> dict[str, str]:
    return {"evaluator.py": EVALUATOR.replace("@CANARY@", canary), "initial_program.py": HONEST}


def _program(body: str) -> str:
    if "def score_bin(" in body:
        return body
    strike = "" if "def strike(" in body else "\ndef strike(): pass\n"
    return f"{body}\n{strike}{_without_imports(STRIKE)}{TAIL}"


def _without_imports(strike: str) -> str:
    """Rules of this kind may import hardly anything: nothing is looked for in what was found, it is only told."""
    lines = [line for line in strike.splitlines() if "_re." not in line and "import re" not in line]
    return "\n".join(lines)


FUNCTION = Kind("function", _files, _program, limit=-1e-9, turned=True)
"""Nothing packs into fewer bins than the bound: an excess below 0 is forged."""
