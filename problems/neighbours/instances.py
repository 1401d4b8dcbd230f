"""CO-Bench, FrontierCO, HeuriGym, AlgoTune: `solve` is given instances, and scored (`problems/instance_forms.py`)."""

from __future__ import annotations

from pathlib import Path

from problems.evaluator_forms import Template, template_of
from problems.neighbours.reading import Told, Translation

NAME = "the folder"
NEEDS = (
    "CO-Bench's has config.py with solve, load_data, eval_func; HeuriGym's has program/evaluator.py and verifier.py; "
    "AlgoTune's has a file of its own name with @register_task"
)
_FILES = ("config.py", "program/evaluator.py")
_KINDS = ("instances", "files", "reference")
EVALUATION_SECONDS = 3600
"""For all instances one after the other: each has its own limit (`evaluator_args.timeout`)."""


def recognises(folder: Path) -> bool:
    return _found(folder) is not None


def read(folder: Path, told: Told) -> Translation:
    """The evaluator's file is both, program and evaluator."""
    found = _found(folder)
    assert found is not None
    path, template = found
    return Translation(
        {
            "problem.program": str(path),
            "problem.evaluator": str(path),
            "problem.direction": "min" if template.lower_is_better else "max",
            "problem.options.evaluation_timeout": EVALUATION_SECONDS,
        }
    )


def _found(folder: Path) -> tuple[Path, Template] | None:
    for path in [folder] if folder.is_file() else [folder / name for name in (*_FILES, f"{folder.name}.py")]:
        template = template_of(path)
        if template is not None and template.kind in _KINDS:
            return path, template
    return None
