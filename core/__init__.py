"""The search itself. `from core import Orchestrator`: a whole run from its configuration (docs/library.md)."""

from __future__ import annotations

from utils.doors import door

__getattr__, __dir__ = door(
    __name__,
    {
        "Orchestrator": "runs.library",
    },
)
