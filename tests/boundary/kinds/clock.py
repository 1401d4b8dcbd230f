"""An evaluator that times its candidate against work of its own."""

from __future__ import annotations

from tests.boundary.kinds.kind import Kind
from tests.boundary.kinds.script import program

EVALUATOR = '''"""The owner's evaluator."""
NOTE = "@CANARY@"
import importlib.util
import time

SIZE = 300_000


def reference(size):
    total = 0
    for number in range(size):
        total += number
    return total


def evaluate(program_path):
    spec = importlib.util.spec_from_file_location("program", program_path)
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    began = time.perf_counter()
    answer = program.predict(SIZE)
    taken = time.perf_counter() - began
    began = time.perf_counter()
    right = reference(SIZE)
    needed = time.perf_counter() - began
    if answer != right:
        return {"combined_score": 0.0}
    return {"combined_score": needed / max(taken, 1e-9)}
'''
HONEST = """def predict(size):
    total = 0
    for number in range(size):
        total += number
    return total
"""


def _files(labels: list[int], canary: str) -> dict[str, str]:
    return {"evaluator.py": EVALUATOR.replace("@CANARY@", canary), "initial_program.py": HONEST}


def _program(body: str) -> str:
    return program(f"{HONEST}\n{body}")


CLOCK = Kind("clock", _files, _program, limit=20.0)
"""The same work takes as long, whoever does it; 20 leaves room for a machine that stands still for a while."""
