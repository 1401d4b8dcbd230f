"""Several files as one text, and the metric in an output."""

from __future__ import annotations

import re
from collections.abc import Mapping

from utils.number_text import DECIMAL, MARK

_MARK = re.compile(r"^=== (.+) ===$", re.MULTILINE)


def join(files: Mapping[str, str]) -> str:
    """One file is its own text; several come one after the other, each below a line `=== name ===`."""
    if len(files) == 1:
        return next(iter(files.values()))
    return "\n".join(f"=== {name} ===\n{text.rstrip()}\n" for name, text in files.items())


def split(code: str, names: list[str]) -> dict[str, str] | None:
    """Name → text; None unless exactly these files are there."""
    if len(names) == 1:
        return {names[0]: code}
    parts = _MARK.split(code)
    found = {name.strip(): text.strip("\n") + "\n" for name, text in zip(parts[1::2], parts[2::2], strict=True)}
    return found if sorted(found) == sorted(names) else None


def read_metric(output: str, name: str) -> float | None:
    """The last `NAME: value`, `NAME = value` or JSON `"NAME": value` of an output; None if it is not there.

    `1,5` and `1,234.5` are no values: a part of them would be another number. `1.30x` and `93%` are.
    """
    end = rf"(?:\b(?![.,]?\d)|{MARK}(?!\w))"
    pattern = rf'(?<![\w.-])"?{re.escape(name)}"?\s*[:=]\s*"?({DECIMAL}|nan|[-+]?inf){end}'
    found = re.findall(pattern, output, re.IGNORECASE)
    return float(found[-1]) if found else None
