"""Running untrusted programs. The two names that the seed exports are here too, loaded when they are asked for."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_EXPORTED = {"Interpreter": "core.executor.interpreter", "WorkspaceManager": "core.executor.workspace"}
__all__ = sorted(_EXPORTED)


def __getattr__(name: str) -> Any:
    if name not in _EXPORTED:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_EXPORTED[name]), name)
