"""The interpreter as a program expects to find it: environment, streams, modules, seeds.

What is the same for all candidates of a supervisor is arranged once, before they are forked from it; each pays only for
what is its own.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found] # `signal` looks for a name of each number
import os
import random
import signal
import sys
import threading
from types import ModuleType
from typing import Any

from . import mounts
from .fork_hooks import ForkHooks
from .messages import Job

_IGNORED = tuple(map(int, (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)))
"""By the process that candidates are forked from."""
_INTERRUPT, _DEFAULT = int(signal.SIGINT), int(signal.SIG_DFL)


class Interpreter:
    """This process's interpreter.

    To be made before a fork: in a candidate's process the walk over the modules would copy every page of memory that
    holds a name.

    Args:
        hooks: what candidates' own forks do after all, None where nothing was put off.
    """

    def __init__(self, hooks: ForkHooks | None = None) -> None:
        self._hooks = hooks
        self._ours = [name for name in sys.modules if name.partition(".")[0] == __package__]
        self._env: dict[str, str] | None = None
        self._seeded: int | None = None
        """What candidates find themselves seeded with."""
        if hooks is not None:
            hooks.end_listening()
            if threading.active_count() > 1:  # a fork ends the others: somebody has to tidy up
                self._give_hooks_back()

    def arrange_ahead(self, env: dict[str, str], home: str, tier: str) -> None:
        """`arrange` in a process whose own descriptors 0, 1 and 2 are of other kinds than a candidate's."""
        if self._env == env:
            return
        kept = [os.dup(fd) for fd in range(3)]
        null, (read, write) = os.open(os.devnull, os.O_RDONLY), os.pipe()
        for fd, stand_in in enumerate((null, write, write)):
            os.dup2(stand_in, fd)
        try:
            self.arrange(env, home, tier)
        finally:
            for fd, own in enumerate(kept):
                os.dup2(own, fd)
            for fd in (*kept, null, read, write):
                os.close(fd)

    def seed_ahead(self, value: int) -> None:
        """Seed here what candidates are forked from: mostly all of them are to draw the same numbers."""
        if self._hooks is not None and self._seeded != value:
            seed(value)
            self._seeded = value

    def _give_hooks_back(self) -> None:
        """One of them seeds `random` anew in each fork."""
        assert self._hooks is not None
        self._hooks.give_back()
        self._hooks = None

    def arrange(self, env: dict[str, str], home: str, tier: str) -> None:
        """Environment, streams and modules. Nothing of ours is imported any more from here on."""
        _set_environment(env, home, tier)
        sys.stdout = open(1, "w", buffering=1, encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115
        sys.stderr = open(2, "w", buffering=1, encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115
        sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
        vars(sys).update(__stdout__=sys.stdout, __stderr__=sys.stderr, __stdin__=sys.stdin)
        if sys.path[:1] != [home]:
            sys.path.insert(0, home)
        for name in self._ours:
            sys.modules.pop(name, None)
        sys.modules["__main__"] = ModuleType("__main__")
        self._env = env

    def settle(self, job: Job, home: str, tier: str) -> None:
        """In the candidate's process: whatever is not arranged yet, and what is this job's own."""
        if self._env != job.env:
            self.arrange(job.env, home, tier)
        for number in _IGNORED:
            _signal.signal(number, _DEFAULT)
        _signal.signal(_INTERRUPT, signal.default_int_handler)
        sys.argv = ["solution.py", *job.argv]
        if self._hooks is not None:
            self._give_hooks_back()
        if self._seeded != job.seed:
            seed(job.seed)
        _set_threads(job.limits.threads)


def _set_environment(env: dict[str, str], home: str, tier: str) -> None:
    os.environ.clear()
    os.environ.update(env)
    if home != mounts.WORKSPACE:
        private = f"{home}/.tmp"
        os.environ.update(dict.fromkeys(("TMPDIR", *mounts.CACHES), private), HOME=home)
        if tier == "lite":
            os.environ["JOBLIB_MULTIPROCESSING"] = "0"  # processes need sockets, which this tier refuses


def seed(value: int) -> None:
    """Equal runs draw equal numbers from `random` and numpy's legacy generator."""
    random.seed(value)
    sys.meta_path[:] = [finder for finder in sys.meta_path if type(finder) is not _SeedNumpy]
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(value % 2**32)
    else:
        sys.meta_path.insert(0, _SeedNumpy(value % 2**32))


class _SeedNumpy:
    """Seeds numpy when the program imports it."""

    def __init__(self, value: int) -> None:
        self.value = value

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name != "numpy":
            return None
        sys.meta_path.remove(self)
        from importlib.util import find_spec

        spec = find_spec("numpy")
        if spec is not None and spec.loader is not None:
            execute, value = spec.loader.exec_module, self.value

            def exec_and_seed(module: ModuleType) -> None:
                execute(module)
                module.random.seed(value)

            spec.loader.exec_module = exec_and_seed  # type: ignore[method-assign]
        return spec


def _set_threads(count: int) -> None:
    """Preloading was done with one thread, because threads do not survive a fork."""
    if count != 1 and "threadpoolctl" in sys.modules:
        sys.modules["threadpoolctl"].threadpool_limits(count)
