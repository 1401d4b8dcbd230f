"""One thing that `doctor` looked at."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Check:
    """What was looked at, whether it is as it should be, what was found, and what to do if it is not."""

    name: str
    ok: bool
    detail: str
    remedy: str = ""
