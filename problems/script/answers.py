"""Asks a program for its one answer and has that validated, as GigaEvo does.

A second half of `harness.py`, which stands above it in the file that the isolated evaluator loads: standard library
only.
"""

from __future__ import annotations

import os
import random
import sys
import types
from collections.abc import Callable, Mapping
from typing import Any

Load = Callable[[str, str], types.ModuleType]


def of_answer(path: str, options: Mapping[str, Any], load: Load, refused: type[Exception]) -> Callable[..., Any]:
    """`validate.py`'s: the metrics that `validate` returns of an answer; what it raises says why an answer is none.

    Where there is a `context.py` both are given what that builds, once, from one seed.
    """
    judge = load("validate", path).validate
    beside = os.path.join(os.path.dirname(path), "context.py")
    given = []
    if os.path.isfile(beside):
        random.seed(0)
        if "numpy" in sys.modules:
            sys.modules["numpy"].random.seed(0)
        given = [load("context", beside).build_context()]

    def evaluate(program_path: str, **_: Any) -> Any:
        answer = getattr(load("program", program_path), options["template"]["function"])(*given)
        try:
            metrics = dict(judge(*given, answer))
        except Exception as error:  # noqa: BLE001 - theirs: so it says that an answer is not valid
            raise refused(f"{type(error).__name__}: {error}") from None
        if not metrics.get("is_valid", True):
            raise refused("validate says that it is not valid: is_valid is 0")
        return {"metrics": metrics}

    return evaluate
