"""GigaEvo: a problem's folder with `validate.py`, `metrics.yaml`, `initial_programs/` (`problems.answer_form`)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from problems.answer_form import VALIDATOR, primary_metric, programs_of
from problems.evaluator_forms import template_of
from problems.neighbours.reading import Told, Translation

NAME = "GigaEvo's problem"
NEEDS = "GigaEvo's has validate.py, metrics.yaml and initial_programs/"


def recognises(folder: Path) -> bool:
    """The folder, or its `validate.py`."""
    template = template_of(_validator(folder))
    return template is not None and template.kind == "answer"


def read(folder: Path, told: Told) -> Translation:
    """All its first programs begin the search."""
    folder = _validator(folder).parent
    first, *further = programs_of(folder)
    metric, lower_is_better = primary_metric(folder)
    keys: dict[str, Any] = {
        "problem.program": str(first),
        "problem.evaluator": str(folder / VALIDATOR),
        "initial": [str(path) for path in further],
    }
    if steering := told.metric or metric:
        keys["problem.metric"] = steering
    if lower_is_better is None:
        hint = "metrics.yaml does not say which way its primary metric goes: --problem.direction=min|max"
        return Translation(keys, hints=(hint,))
    return Translation({**keys, "problem.direction": "min" if lower_is_better else "max"})


def _validator(folder: Path) -> Path:
    return folder if folder.is_file() else folder / VALIDATOR
