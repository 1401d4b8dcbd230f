"""EoH, LLM4AD, FunSearch, ReEvo: one function is searched, and the evaluator says which (`evaluator_forms`)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from problems.evaluator_forms import SPECIFICATION, template_of
from problems.neighbours.reading import Told, Translation
from utils.errors import ConfigError

NAME = "the evaluator"
NEEDS = (
    "EoH's has prob.py, LLM4AD's evaluation.py and template.py, FunSearch's is a file with @funsearch.run; ReEvo's is "
    "problems/NAME of its checkout, with eval.py"
)
_FILES = ("prob.py", "evaluation.py", "eval.py")
_MOST_FILES = 200
"""Of a folder that is looked through for a specification."""


def recognises(folder: Path) -> bool:
    return _evaluator(folder) is not None


def read(folder: Path, told: Told) -> Translation:
    """The evaluator's file is both, program and evaluator; its direction is the framework's."""
    evaluator = _evaluator(folder)
    template = template_of(evaluator) if evaluator else None
    assert evaluator is not None and template is not None
    keys: dict[str, Any] = {"problem.program": str(evaluator), "problem.evaluator": str(evaluator)}
    if template.lower_is_better is None:
        return Translation(
            keys, hints=("its class does not say which way its score goes: --problem.direction=min|max",)
        )
    keys["problem.direction"] = "min" if template.lower_is_better else "max"
    return Translation(keys)


def _evaluator(folder: Path) -> Path | None:
    """The file itself, one of the usual name, or the folder's only specification."""
    if folder.is_file():
        return folder if template_of(folder) else None
    for name in _FILES:
        if template_of(folder / name):
            return folder / name
    found = [path for path in _readable(folder) if (one := template_of(path)) and one.kind == "specification"]
    if len(found) > 1:
        names = ", ".join(path.name for path in found)
        raise ConfigError(f"problem.path={folder}: holds several specifications ({names}): name one of the files")
    return found[0] if found else None


def _readable(folder: Path) -> list[Path]:
    try:
        paths = sorted(path for path in folder.iterdir() if path.suffix in (".py", SPECIFICATION))
    except OSError:
        return []
    return [path for path in paths[:_MOST_FILES] if path.is_file()]
