"""Cells of a table that a spreadsheet opens: what a stranger wrote must not be run there."""

from __future__ import annotations

import re
from typing import Any

_FORMULA = re.compile(r"[=+\-@\t\r]")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def inert(cell: Any) -> Any:
    """The cell, with an apostrophe before a text that a spreadsheet would take for a formula; numbers stay.

    Source: OWASP, CSV Injection.
    """
    if isinstance(cell, str) and _FORMULA.match(cell) and not _NUMBER.fullmatch(cell):
        return f"'{cell}"
    return cell
