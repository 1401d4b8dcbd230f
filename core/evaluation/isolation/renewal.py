"""Whether an evaluator's process may judge another candidate: as if it had just been forked, or not at all.

A fork costs more than most evaluators do, each page that it touches being copied. A process goes on instead whose
evaluator is loaded anew in no time and has left all else as it found it. Any other ends, and the next candidate gets a
fresh fork: the look decides how fast candidates are judged, not what comes out.

Standard library only: it is loaded by path into processes that hold user code and never see our packages.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence, Set
from types import ModuleType
from typing import Any

_QUICK_SECONDS = 0.003
"""Of CPU: an evaluator that takes longer to load is loaded once and forked."""
_STAND_IN = "_swarm_evo.stand_in"
"""Where the loader of candidates' stand-ins is defined."""


class Renewal:
    """An evaluator's process before its first candidate.

    Args:
        harness: has `renew_evaluator`, which loads the user's evaluator anew.
        found: the class of that name.
        system: folders of the interpreter and of the system, each with a slash at its end.
        before: names of the modules that were there before the harness.
        passing: how many descriptors are open for the first candidate alone.
    """

    def __init__(
        self, harness: ModuleType, found: Any, *, system: Sequence[str], before: Set[str], passing: int
    ) -> None:
        self._harness, self._system, self._before = harness, tuple(system), before
        self._known = set(sys.modules)
        self._own = self._users_modules()
        self._open = _open_files() - passing
        self._numbers = _numpy_state()
        self._found = found((), but=self._own)
        for name in self._own:
            self._found.note_imports(vars(sys.modules[name]))

    def is_done(self) -> bool:
        """After a candidate: True if the evaluator is loaded anew and nothing else is left of what was before.

        What lies in several files is not loaded anew: each of them would have to be.
        """
        self._forget_stand_ins()
        if len(self._own) != 1 or self._users_modules() != self._own or _open_files() != self._open:
            return False
        began = time.process_time()
        renewed = self._harness.renew_evaluator()
        if renewed is None or time.process_time() - began > _QUICK_SECONDS:
            return False
        self._draw_as_forked()
        return bool(self._found.is_left())

    def _forget_stand_ins(self) -> None:
        for name in set(sys.modules) - self._known:
            spec = getattr(sys.modules[name], "__spec__", None)
            if type(getattr(spec, "loader", None)).__module__ == _STAND_IN:
                del sys.modules[name]

    def _users_modules(self) -> set[str]:
        """Names of modules that are neither the system's nor ours, and of those that came later from nowhere."""
        return {
            name
            for name, module in list(sys.modules.items())
            if module is not self._harness and name not in self._before and self._is_users(name, module)
        }

    def _is_users(self, name: str, module: ModuleType) -> bool:
        file = getattr(module, "__file__", None)
        if file is None:
            return name not in self._known
        return not str(file).startswith(self._system)

    def _draw_as_forked(self) -> None:
        """What a fork does to generators: Python's draws anew, numpy's goes on from where the loading left it."""
        if "random" in sys.modules:
            sys.modules["random"].seed()
        if self._numbers is not None:
            sys.modules["numpy.random"].set_state(self._numbers)


def _numpy_state() -> Any:
    return sys.modules["numpy.random"].get_state() if "numpy.random" in sys.modules else None


def _open_files() -> int:
    return len(os.listdir("/proc/self/fd"))
