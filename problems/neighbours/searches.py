"""GEPA's `optimize_anything`, LLaMEA, BLADE: a script is run up to the search that it calls (`search_form`)."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

from problems.evaluator_forms import template_of
from problems.neighbours.reading import Told, Translation
from utils.errors import ConfigError
from utils.packages import missing_module
from utils.scratch_folders import scratch_folder

NAME = "the script"
NEEDS = "GEPA's, LLaMEA's and BLADE's is a script (or main.py) that calls optimize_anything, LLaMEA or Experiment"
_TELLS = Path(__file__).parents[1] / "script" / "up_to_search.py"
_RUN = "import runpy, sys; runpy.run_path(sys.argv[1], run_name='searches')['tell'](*sys.argv[2:])"
_SECONDS = 120
"""For the script, up to its search."""
_TOLD_LINES = 3


def recognises(folder: Path) -> bool:
    return _script(folder) is not None


def read(folder: Path, told: Told) -> Translation:
    """The script is both, program and evaluator.

    Raises:
        ConfigError: it does not come to its search, or what it hands to that has no counterpart here.
    """
    script = _script(folder)
    assert script is not None
    handed = _handed(script, told.python)
    if handed["left"]:
        raise ConfigError(
            f"{script}: {handed['left']}, which has no counterpart here: an evaluator.py with evaluate(program_path) "
            "may ask its evaluator as you like"
        )
    keys: dict[str, Any] = {
        "problem.program": str(script),
        "problem.evaluator": str(script),
        "problem.direction": "min" if handed["lower_is_better"] else "max",
        "problem.options.first_program": handed["program"],
        "problem.options.statement": handed["about"].strip(),
        "problem.options.shows": handed["shows"],
    }
    hint = f"{script.name} shows no first program: --problem.program=FILE names one"
    return Translation(keys, hints=() if handed["program"] else (hint,))


def _script(folder: Path) -> Path | None:
    path = folder if folder.is_file() else folder / "main.py"
    template = template_of(path)
    return path if template is not None and template.kind == "search" else None


def _handed(script: Path, python: str) -> dict[str, Any]:
    """What it hands to its search, told by a process of its own, as you run it."""
    with scratch_folder("swarm-evo-searches-") as folder:
        file = folder / "handed.json"
        given = shlex.split(python)[0]
        command = [sys.executable if given == "python3" else given, "-c", _RUN, str(_TELLS), str(script), str(file)]
        try:
            done = subprocess.run(
                command, cwd=script.parent, stdin=subprocess.DEVNULL, capture_output=True, timeout=_SECONDS, check=False
            )
        except subprocess.TimeoutExpired as error:
            raise ConfigError(f"{script}: it did not come to its search within {_SECONDS} s") from error
        if file.is_file():
            return dict(json.loads(file.read_text(encoding="utf-8")))
    said = done.stderr.decode("utf-8", "replace")
    lines, lacks = [line.strip() for line in said.splitlines() if line.strip()], missing_module(said)
    remedy = f"; --execution.python=FILE names an interpreter that has '{lacks}'" if lacks else ""
    raise ConfigError(f"{script}: it does not come to its search: {' / '.join(lines[-_TOLD_LINES:])}{remedy}")
