"""Asks an interface that imports a program as a module of its own, as DeepEvolve does.

A second half of `harness.py`, which stands above it in the file that the isolated evaluator loads: standard library
only.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Mapping
from typing import Any

Load = Callable[[str, str], types.ModuleType]


def of_interface(path: str, options: Mapping[str, Any], load: Load, refused: type[Exception]) -> Callable[..., Any]:
    """The numbers that the interface answers with; its texts are artifacts. (False, why) is a failed program."""

    def evaluate(program_path: str, **_: Any) -> Any:
        sys.modules[options["template"]["module"]] = load("program", program_path)
        is_done, said = load("deepevolve_interface", path).deepevolve_interface()
        if not is_done:
            raise refused(str(said).strip())
        texts = {name: value for name, value in said.items() if isinstance(value, str)}
        return {"metrics": {name: said[name] for name in said if name not in texts}, "artifacts": texts}

    return evaluate
