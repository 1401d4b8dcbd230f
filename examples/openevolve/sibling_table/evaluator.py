"""Reads a table and a helper module that lie beside it; returns an object with `.metrics` and `.artifacts`."""

import importlib.util
import sys
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from tools import rows


@dataclass
class Result:
    metrics: dict
    artifacts: dict = field(default_factory=dict)


def evaluate(program_path):
    spec = importlib.util.spec_from_file_location("program", program_path)
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    errors = {carbons: abs(program.predict(carbons) - celsius) for carbons, celsius in rows()}
    worst = max(errors, key=errors.get)
    mean = sum(errors.values()) / len(errors)
    return Result(
        metrics={"combined_score": 1 / (1 + mean / 10), "mean_error": mean},
        artifacts={"worst": f"{worst} carbons: off by {errors[worst]:.1f} degrees"},
    )
