"""DeepEvolve: an example's folder with `info.json` and `initial_code/` (`problems.interface_form`)."""

from __future__ import annotations

from pathlib import Path

from problems.evaluator_forms import template_of
from problems.evaluator_template import parsed
from problems.interface_form import INTERFACE, programs_of, taken_names
from problems.neighbours.reading import Told, Translation
from utils.errors import ConfigError

NAME = "DeepEvolve's example"
NEEDS = "DeepEvolve's has initial_code/ with deepevolve_interface.py"
CALL_SECONDS, EVALUATION_SECONDS = 600, 1800
"""The interfaces have limits of their own."""


def recognises(folder: Path) -> bool:
    return _interface(folder).is_file()


def read(folder: Path, told: Told) -> Translation:
    """Raises ConfigError for a program of several files."""
    interface = _interface(folder)
    programs, template = programs_of(interface), template_of(interface)
    if template is None or template.kind != "interface":
        names = ", ".join(path.name for path in programs) or "none"
        raise ConfigError(
            f"{interface}: programs of one file whose names it imports are read, and here they are of {names}: "
            f"--problem command --problem.source={interface.parent} --problem.editable='*.py' --problem.eval=COMMAND "
            "searches several, where COMMAND prints its score"
        )
    module, _ = parsed(interface)
    taken = ", ".join(taken_names(module, programs[0].stem)) if module is not None else ""
    hint = f"what {programs[0].name} itself has that checks an answer is the program's to change ({taken})"
    return Translation(
        {
            "problem.program": str(programs[0]),
            "problem.evaluator": str(interface),
            "problem.direction": "max",
            "execution.timeout": CALL_SECONDS,
            "problem.options.evaluation_timeout": EVALUATION_SECONDS,
        },
        hints=(hint,) if taken else (),
    )


def _interface(folder: Path) -> Path:
    return folder if folder.name == INTERFACE else folder / "initial_code" / INTERFACE
