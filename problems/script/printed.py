"""Runs a script that imports a program as `gpt` and prints what it is worth, as ReEvo does.

A second half of `harness.py`, which stands above it in the file that the isolated evaluator loads: standard library
only.
"""

from __future__ import annotations

import ast
import contextlib
import importlib
import io
import os
import runpy
import sys
import types
from collections.abc import Callable, Iterator, Mapping
from typing import Any

SAID = 4000
"""Characters of what it prints that the next writer is told."""

Load = Callable[[str, str], types.ModuleType]


def of_printed(path: str, options: Mapping[str, Any], load: Load) -> Callable[..., Any]:
    """The score on the last line that the script prints. RuntimeError: there is no number."""
    template, arguments = options["template"], options.get("arguments") or {}
    root = os.path.abspath(path)
    for _ in range(3):
        root = os.path.dirname(root)
    sys.path.insert(1, root)
    for name in imported(path):  # what is loaded now is not loaded for each program
        with contextlib.suppress(Exception):
            importlib.import_module(name)
    words = [path, str(arguments.get("problem_size", template["size"])), root, "train"]

    def evaluate(program_path: str, **_: Any) -> Any:
        said, before = io.StringIO(), sys.argv
        sys.modules["gpt"] = load("gpt", program_path)
        sys.argv = words
        try:
            with contextlib.redirect_stdout(said):
                runpy.run_path(path, run_name="__main__")
        finally:
            sys.argv = before
        text = said.getvalue()
        last = next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "")
        try:
            score = float(last)
        except ValueError:
            raise RuntimeError(f"{os.path.basename(path)} ends with {last[:200]!r}, and not with a number") from None
        return {"metrics": {"combined_score": score}, "artifacts": {"printed": text[-SAID:]}}

    return evaluate


def imported(path: str) -> Iterator[str]:
    """The modules that its own lines import, but for the program."""
    with open(path, encoding="utf-8") as file:
        module = ast.parse(file.read(), path)
    for node in module.body:
        names = [name.name for name in node.names] if isinstance(node, ast.Import) else []
        names += [node.module] if isinstance(node, ast.ImportFrom) and node.module and not node.level else []
        yield from (name for name in names if name != "gpt")
