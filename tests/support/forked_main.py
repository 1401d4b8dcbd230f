"""`python main.py …` in processes forked from one that has loaded it, by the interface of `subprocess.Popen`."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cli.parser import VERBS

from .forked_processes import MOST, SESSION, Forked, Running, forked

ROOT = Path(__file__).resolve().parent.parent.parent
MAIN = str(ROOT / "main.py")
LATER = (
    "agents.coder_agent", "agents.reviewer_agent", "core.search.portfolio", "core.search.three_phase",
    "tests.support.unopened", "tests.support.forked_children",
)  # fmt: skip
"""What most runs load once they have read their configuration; that a run of the toy opens no sandbox, and that what it
starts of `main.py` is forked as it is."""


def loaded() -> Forked:
    """The process that has loaded `main.py`."""
    return forked(*VERBS.values(), *LATER, path=str(ROOT))


def may_fork(environment: Mapping[str, str]) -> bool:
    """False where Python is to begin otherwise: it hears of variables with its name before its first line alone."""
    return sys.platform == "linux" and SESSION in os.environ and _of_python(environment) == _OF_OURS


def _of_python(environment: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environment.items() if name.startswith("PYTHON")}


_OF_OURS = _of_python(os.environ)


class ForkedPopen(subprocess.Popen[Any]):
    """A `subprocess.Popen` whose `python main.py …` is a fork; any other command begins anew, as it always does."""

    _running: Running | None = None

    def _execute_child(
        self, args: Any, executable: Any, preexec_fn: Any, close_fds: Any, pass_fds: Any, cwd: Any, env: Any, *more: Any
    ) -> None:
        shell, pipes, user, (session, group) = more[2], more[3:9], more[10:14], more[14:]
        environment = os.environ if env is None else env
        is_usual = not (preexec_fn or executable or shell) and user == (None, None, None, -1)
        if not (is_usual and _is_main(args, environment)):
            super()._execute_child(  # type: ignore[misc]
                args, executable, preexec_fn, close_fds, pass_fds, cwd, env, *more
            )
            return
        ends = dict(enumerate((pipes[0], pipes[3], pipes[5])))
        files = {number: number if end == -1 else end for number, end in ends.items()} | {one: one for one in pass_fds}
        group = None if group == -1 else group
        self._running = loaded().start(args[1:], cwd or os.getcwd(), environment, files, session=session, group=group)
        self.pid = self._running.pid
        self._child_created = True
        self._close_pipe_fds(*pipes)  # type: ignore[attr-defined]

    def _try_wait(self, flags: int) -> tuple[int, int]:
        if self._running is None:
            return super()._try_wait(flags)  # type: ignore[misc,no-any-return]
        status = self._running.status(0 if flags else None)
        return (0, 0) if status is None else (self.pid, status)

    def _internal_poll(self, *words: Any, **named: Any) -> int | None:
        if self._running is None:
            return super()._internal_poll(*words, **named)  # type: ignore[misc,no-any-return]
        if self.returncode is None and self._waitpid_lock.acquire(False):  # type: ignore[attr-defined]
            try:
                ended, status = self._try_wait(os.WNOHANG)
                if ended:
                    self._handle_exitstatus(status)  # type: ignore[attr-defined]
            finally:
                self._waitpid_lock.release()  # type: ignore[attr-defined]
        return self.returncode


def _is_main(command: Any, environment: Mapping[str, str]) -> bool:
    """Whether a fork does what this command would: with a NUL, or more than the system hands over, it fails."""
    words = [command] if isinstance(command, str | bytes | os.PathLike) else list(command)
    if words[:2] != [sys.executable, MAIN] or not may_fork(environment):
        return False
    said = "".join((*words, *(f"{name}={value}" for name, value in environment.items())))
    return "\0" not in said and len(said.encode()) < MOST // 2
