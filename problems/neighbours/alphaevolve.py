"""AlphaEvolve on Google Cloud: the folders of its library's examples, and those that the skills of its `ae` write.

The evaluator is asked as there (`problems.candidate_form`); higher is better, as everywhere in AlphaEvolve.
"""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

from problems.candidate_form import CLI_PROGRAM, PROGRAM, RUNS, constants, metric_of
from problems.evaluator_forms import template_of
from problems.evaluator_template import parsed
from problems.neighbours.reading import Told, Translation

NAME = "AlphaEvolve's experiment"
NEEDS = (
    "AlphaEvolve's (Google Cloud) has program.py and evaluate.py, or initial_program.py and an evaluator.py with "
    "--output-file"
)
_PLACES = ((CLI_PROGRAM, "evaluator.py"), (PROGRAM, "evaluate.py"), (f"src/{PROGRAM}", "src/evaluate.py"))
_STEPS = "MAX_PROGRAMS_GENERATED"
_LEFT = ("MAX_PROGRAMS_EVALUATED", "CONCURRENCY", "WORKER_CONCURRENCY", "PARALLEL_EVALUATION", "MODEL", "MODEL_1")
"""What a run of theirs is told besides, and has no counterpart or is the user's to say."""


def recognises(folder: Path) -> bool:
    return _found(folder) is not None


def read(folder: Path, told: Told) -> Translation:
    found = _found(folder)
    assert found is not None
    program, evaluator = found
    keys: dict[str, Any] = {
        "problem.program": str(program),
        "problem.evaluator": str(evaluator),
        "problem.direction": "max",
    }
    if metric := told.metric or metric_of(evaluator):
        keys["problem.metric"] = metric
    script = next((path for path in map(evaluator.with_name, RUNS) if path.is_file()), None)
    said = dict(constants(parsed(script)[0])) if script else {}
    steps = _whole(said.get(_STEPS))
    own = template_of(program)
    outside = f"{program.name} scores itself outside of its marks"
    apart = f"{outside}: --problem.path={program} puts that out of a program's reach"
    hints = (apart,) if own is not None and own.kind == "marked" else ()
    if steps is None:
        return Translation(keys, hints=hints)
    left = tuple(name for name in _LEFT if name in said)
    return Translation({**keys, "search.max_steps": steps}, {_STEPS: "search.max_steps"}, left, hints)


def _found(folder: Path) -> tuple[Path, Path] | None:
    for program, evaluator in ((folder / first, folder / second) for first, second in _PLACES):
        if not (program.is_file() and evaluator.is_file()):
            continue
        template = template_of(evaluator)
        if template is not None and template.kind == "candidate":
            return program, evaluator
    return None


def _whole(value: ast.expr | None) -> int | None:
    """A number, or what `int(os.getenv(NAME, "10"))` is where nobody sets it."""
    for node in ast.walk(value) if value is not None else ():
        if isinstance(node, ast.Constant) and str(node.value).isdecimal():
            return int(str(node.value))
    return None
