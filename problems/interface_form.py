"""The form of DeepEvolve: an interface imports a program as a module of its own, and says its score.

interface  `initial_code/` with `deepevolve_interface.py`, whose `deepevolve_interface()` answers with (True, metrics)
           or (False, what went wrong), and the one file that it imports; beside the folder `info.json`
"""

from __future__ import annotations

import ast
import json
from pathlib import Path

from problems.evaluator_template import Template
from utils.clean_text import clean

INTERFACE = "deepevolve_interface.py"
FUNCTION = "deepevolve_interface"
_MOST_BYTES = 1 << 20


def interface_template(module: ast.Module, path: Path) -> Template | None:
    """None for another file, or one whose program has several files, or gives it all its names."""
    programs = programs_of(path)
    if len(programs) != 1 or not any(
        isinstance(node, ast.FunctionDef) and node.name == FUNCTION for node in module.body
    ):
        return None
    if "*" in taken_names(module, programs[0].stem):  # the program could take the place of the interface's own names
        return None
    try:
        program = programs[0].read_text(encoding="utf-8")
    except (OSError, ValueError):
        return None
    return Template(
        "interface",
        program,
        {"module": programs[0].stem},
        about=clean(_described(path.parent.parent / "info.json")).strip(),
        lower_is_better=False,
    )


def programs_of(interface: Path) -> list[Path]:
    """The files that are searched there: all beside the interface."""
    if interface.name != INTERFACE:
        return []
    return sorted(path for path in interface.parent.glob("*.py") if path.is_file() and path.name != INTERFACE)


def taken_names(module: ast.Module, name: str) -> list[str]:
    """What the interface takes of the program."""
    found = (node for node in module.body if isinstance(node, ast.ImportFrom) and node.module == name)
    return [one.name for node in found for one in node.names]


def _described(path: Path) -> str:
    try:
        said = json.loads(path.read_bytes()[:_MOST_BYTES])["problem"]["description"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return ""
    return said if isinstance(said, str) else ""
