"""What the standard library does after every fork, put off until code that is not ours may fork itself.

Reseeding `random`, rebuilding the books of `threading` and the locks of `logging` copies some 150 pages in each child:
a sixth of what a small candidate costs. A candidate's process is made by a process with one thread that holds no lock
of theirs, and `random` is seeded anyway. What other packages asked for is done at every fork.

Standard library only: it is loaded by path into processes that hold user code and never see our packages.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any

LOCKS = frozenset(("threading", "logging", "concurrent.futures.thread"))
"""Modules that make their locks anew: none is held where a process with one thread forks."""


class ForkHooks:
    """Stands in for `os.register_at_fork` from its construction until `end_listening`.

    What it keeps is done at forks from `give_back` on, which costs a process that was just forked one assignment.

    Args:
        of: modules whose hooks are put off.
    """

    def __init__(self, of: frozenset[str] = LOCKS | {"random"}) -> None:
        self._of = of
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
        if {getattr(hook, "__module__", None) for hook in hooks.values()} <= self._of:
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

    def put_off(self) -> None:
        """Forks from here on do none of it, as from the beginning."""
        self._given_back = False
