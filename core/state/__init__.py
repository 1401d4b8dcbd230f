"""Facts: programs, what running them taught, and how they descend from each other."""

from __future__ import annotations

from utils.doors import door

__getattr__, __dir__ = door(
    __name__,
    {
        "FailureKind": "core.state.failure",
        "Journal": "core.state.journal",
        "Node": "core.state.node",
        "Task": "core.state.task",
    },
)
