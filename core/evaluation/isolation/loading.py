"""Loads an evaluator, and makes plain data of what it returns: in its trusted process, and beside a candidate.

Standard library only: it is loaded by path, or runs as text in a sandbox.
"""

from __future__ import annotations

import importlib.util
import math
import os
import sys
from collections.abc import Mapping
from typing import Any

_MOST_TEXT = 90_000
"""Characters of a text that is told whole; of longer ones its beginning and its end, where an error's cause stands."""
_MOST_BITS = 4096
"""Of a whole number that is told as it is. Python writes none of more than 4,300 digits as text."""


def load(path: str, function: str) -> Any:
    """The evaluator's function, its folder first on the path as if it had been started there.

    A module that says how it wants to be made ready has a function `prepare_evaluator`.
    """
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    name = os.path.splitext(os.path.basename(path))[0]
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, path)
        if spec is None or spec.loader is None:
            raise ImportError(f"{path} is not a Python file")
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
        prepare = getattr(module, "prepare_evaluator", None)
        if prepare is not None:
            prepare()
    return getattr(sys.modules[name], function)


def to_plain(value: Any) -> Any:
    """What an evaluator returned as JSON data: numbers, texts, mappings, and objects with `metrics` and `artifacts`."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, (bytes, bytearray)):  # as OpenEvolve reads such an artifact
        value = bytes(value).decode("utf-8", "replace")
    if isinstance(value, str):
        half, more = _MOST_TEXT // 2, len(value) - _MOST_TEXT
        return f"{value[:half]}\n[… left out here: {more:,} …]\n{value[-half:]}" if more > 0 else str(value)
    if isinstance(value, int):
        return int(value) if value.bit_length() <= _MOST_BITS else f"an integer of {value.bit_length()} bits"
    if isinstance(value, complex) or getattr(getattr(value, "dtype", None), "kind", "") == "c":
        return str(value)  # no score, whatever its real part
    if isinstance(value, float) or (hasattr(value, "item") and not hasattr(value, "__len__")):
        number = float(value)
        return number if math.isfinite(number) else repr(number)
    if isinstance(value, Mapping):
        return {str(key): to_plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [to_plain(item) for item in value]
    if hasattr(value, "tolist"):
        return to_plain(value.tolist())
    if hasattr(value, "metrics"):
        return {"metrics": to_plain(value.metrics), "artifacts": to_plain(getattr(value, "artifacts", {}) or {})}
    if hasattr(value, "__dict__"):
        return to_plain(vars(value))
    return str(value)
