"""Running untrusted programs on this machine."""

from __future__ import annotations

from utils.doors import door

__getattr__, __dir__ = door(
    __name__,
    {
        "ExecutionResult": "core.contracts",
        "Interpreter": "core.executor.interpreter",
        "WorkspaceManager": "core.executor.workspace",
    },
)
