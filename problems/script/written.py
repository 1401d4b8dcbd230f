"""Asks a function that writes what a program is worth, as ShinkaEvolve's and CodeEvolve's do.

A second half of `harness.py`, which stands above it in the file that the isolated evaluator loads: standard library
only.
"""

from __future__ import annotations

import json
import os
import tempfile
import types
from collections.abc import Callable, Mapping
from typing import Any

Load = Callable[[str, str], types.ModuleType]
INTO_FOLDER = "main"
"""Shinka's function; CodeEvolve's writes a file."""


def of_written(path: str, options: Mapping[str, Any], name: str, load: Load, refused: type[Exception]) -> Any:
    """Numbers are metrics, texts are artifacts. A program that is not correct has no score.

    Args:
        name: what the evaluator's module is called.
    """
    template = options["template"]
    judge = getattr(load(name, path), template["function"])

    def evaluate(program_path: str, **_: Any) -> Any:
        beside = os.path.dirname(program_path)  # goes when that does, however it ends
        with tempfile.TemporaryDirectory(dir=beside) as folder:
            if template["function"] == INTO_FOLDER:
                judge(program_path, folder)
                return of_folder(folder, refused)
            results = os.path.join(folder, "results.json")
            judge(program_path, results)
            return told(written(results))

    return evaluate


def of_folder(folder: str, refused: type[Exception]) -> dict[str, Any]:
    """Shinka's: what it calls private no writer is told."""
    verdict = written(os.path.join(folder, "correct.json"))
    if not verdict.get("correct"):
        raise refused(str(verdict.get("error") or "it is not correct"))
    metrics = written(os.path.join(folder, "metrics.json"))
    shown = metrics.pop("public", None)
    return told({**(shown if isinstance(shown, dict) else {}), **metrics})


def told(results: dict[str, Any]) -> dict[str, Any]:
    numbers = {name: value for name, value in results.items() if isinstance(value, (int, float))}
    return {"metrics": numbers, "artifacts": {name: text for name, text in results.items() if isinstance(text, str)}}


def written(path: str) -> dict[str, Any]:
    """RuntimeError: it has written no such file, or something else."""
    name = os.path.basename(path)
    try:
        with open(path, encoding="utf-8") as file:
            found = json.load(file)
    except (OSError, ValueError) as error:
        raise RuntimeError(f"it wrote no {name} that can be read: {type(error).__name__}") from None
    if not isinstance(found, dict):
        raise RuntimeError(f"{name} holds {type(found).__name__}, and no object")
    return found
