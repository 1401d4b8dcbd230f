"""What the standard library does after every fork, put off until a program of a candidate may fork itself.

Reseeding `random`, rebuilding the books of `threading` and the locks of `logging` copies some 150 pages in each child:
a sixth of what a small candidate costs. A candidate's process is made by a process with one thread that holds no lock
of theirs, and `random` is seeded anyway. What other packages asked for is done at every fork.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any

_PUT_OFF = frozenset(("random", "threading", "logging", "concurrent.futures.thread"))


class ForkHooks:
    """Stands in for `os.register_at_fork` from its construction until `end_listening`.

    What it keeps is done at forks from `give_back` on: in a candidate's process that is one assignment.
    """

    def __init__(self) -> None:
        self._register: Callable[..., None] = os.register_at_fork
        self._kept: list[dict[str, Any]] = []
        self._given_back = False
        self._register(
            before=lambda: self._call("before", reversed(self._kept)),
            after_in_parent=lambda: self._call("after_in_parent", self._kept),
            after_in_child=lambda: self._call("after_in_child", self._kept),
        )
        os.register_at_fork = self._note

    def _note(self, **hooks: Any) -> None:
        if {getattr(hook, "__module__", None) for hook in hooks.values()} <= _PUT_OFF:
            self._kept.append(hooks)
        else:
            self._register(**hooks)

    def _call(self, when: str, kept: Iterable[dict[str, Any]]) -> None:
        if self._given_back:
            for hooks in kept:
                hooks.get(when, lambda: None)()

    def end_listening(self) -> None:
        """What is asked for from here on is done at every fork."""
        os.register_at_fork = self._register

    def give_back(self) -> None:
        """Forks from here on do all of it."""
        self._given_back = True
