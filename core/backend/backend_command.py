"""`provider: command`: any program of the user's that reads a prompt on stdin and prints a reply."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import PurePath
from typing import Any

from core.backend.deadline import Deadline
from core.backend.exchange import Reply, Request
from core.backend.provider import ProviderSpec
from core.backend.settings import ModelSettings
from core.backend.stream import LARGEST_REPLY, within_size
from utils.errors import BackendBusyError, BackendError, ConfigError

BUSY = 75
"""EX_TEMPFAIL of sysexits.h: a command that ends so is tried again."""


def connect(settings: ModelSettings) -> list[str]:
    """The command line as a list."""
    try:
        argv = shlex.split(settings.command or "")
    except ValueError as error:
        raise ConfigError(f"llm.{settings.role}.command={settings.command}: {error}") from error
    if not argv:
        raise ConfigError(f"llm.{settings.role}.command is not set; give a program that reads a prompt on stdin")
    return argv


def query(client: Any, request: Request, settings: ModelSettings, deadline: Deadline) -> Reply:
    """Run the command once: the system message, an empty line and the conversation on stdin, the reply on stdout.

    Raises:
        ConfigError: no such program. BackendBusyError: it ended with code 75. BackendError: with any other but 0.
        TimeoutError: it did not end in time; it and its children are killed.
    """
    argv: list[str] = client
    try:
        child = subprocess.Popen(
            argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
        )
    except OSError as error:
        raise ConfigError(f"llm.{settings.role}.command: cannot start '{argv[0]}': {error.strerror}") from error
    parts = [request.system, request.user] if request.system else [request.user]
    out, err = _talk(child, "\n\n".join(parts).encode("utf-8", "replace"), deadline)
    text = out.decode("utf-8", "replace")
    if child.returncode:
        said = (err.decode("utf-8", "replace").strip() or text.strip() or "nothing").splitlines()[-1][:300]
        fault = BackendBusyError if child.returncode == BUSY else BackendError
        raise fault(f"command '{argv[0]}' ended with code {child.returncode} and said: {said}")
    return within_size(Reply(text=text.strip("\r\n"), finish_reason="stop"))


def _talk(child: subprocess.Popen[bytes], prompt: bytes, deadline: Deadline) -> tuple[bytes, bytes]:
    """Write stdin and read stdout and stderr at once. At the deadline the command is killed with all its children."""
    watch = _Watch(child, deadline)
    watch.start()
    try:
        out, err = child.communicate(prompt)
    finally:
        watch.over.set()
        _kill(child)
    if deadline.cut or deadline.left <= 0:
        raise TimeoutError(f"the command did not end within {deadline.seconds:g} s")
    return out[: 4 * LARGEST_REPLY], err


class _Watch(threading.Thread):
    def __init__(self, child: subprocess.Popen[bytes], deadline: Deadline) -> None:
        super().__init__(name="llm-command-watch", daemon=True)
        self.over = threading.Event()
        self._child = child
        self._deadline = deadline

    def run(self) -> None:
        while not self.over.wait(min(0.25, max(0.0, self._deadline.left))):
            if self._deadline.cut or self._deadline.left <= 0:
                _kill(self._child)
                return


def _kill(child: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)


def _check(settings: ModelSettings) -> None:
    program = connect(settings)[0]
    if shutil.which(program) is None:
        raise ConfigError(f"llm.{settings.role}.command: there is no program '{program}'")


def _program(keys: Mapping[str, Any]) -> str:
    """A command is called by its program where no model is named."""
    return PurePath((keys.get("command") or "command").split()[0]).name


COMMAND = ProviderSpec(connect, query, sends_bills=False, has_tools=False, model_name=_program, check=_check)
