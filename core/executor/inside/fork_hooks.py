"""What the standard library does after every fork, put off until a program of a candidate may fork itself.

Reseeding `random`, rebuilding the books of `threading` and the locks of `logging` copies some 150 pages in each child:
a sixth of what a small candidate costs. A candidate's process is made by a process with one thread that holds no lock
of theirs, and `random` is seeded anyway. What other packages asked for is done at every fork.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

_PUT_OFF = frozenset(("random", "threading", "logging", "concurrent.futures.thread"))


class ForkHooks:
    """Stands in for `os.register_at_fork` from its construction until `give_back`."""

    def __init__(self) -> None:
        self._register: Callable[..., None] = os.register_at_fork
        self._waiting: list[dict[str, Any]] = []
        os.register_at_fork = self._note

    def _note(self, **hooks: Any) -> None:
        if {getattr(hook, "__module__", None) for hook in hooks.values()} <= _PUT_OFF:
            self._waiting.append(hooks)
        else:
            self._register(**hooks)

    def give_back(self) -> None:
        """Hand over what waits: forks from here on do all of it. May be called again."""
        os.register_at_fork = self._register
        waiting, self._waiting = self._waiting, []
        for hooks in waiting:
            self._register(**hooks)
