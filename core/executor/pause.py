"""Stopping a program between its calls, so that it does not think while nobody waits for it."""

from __future__ import annotations

import os
import signal

from core.executor.inside import watch


class Pause:
    """Stops and continues the first process below a supervisor, by a handle that no other process can inherit.

    It is meant for programs of one process, as the engines of a game are. Where bubblewrap stands between supervisor
    and program, only bubblewrap is stopped.

    Args:
        supervisor: its process id, as this machine sees it.
    """

    def __init__(self, supervisor: int) -> None:
        self._supervisor = supervisor
        self._program: int | None = None
        self._stopped = False

    def begin(self) -> None:
        """Stop the program; nothing happens where it has ended."""
        if self._program is None:
            self._program = _handle_of_child(self._supervisor)
        self._stopped = self._send(signal.SIGSTOP)

    def end(self) -> None:
        """Let it go on, if it was stopped."""
        if self._stopped:
            self._send(signal.SIGCONT)
            self._stopped = False

    def close(self) -> None:
        if self._program is not None:
            os.close(self._program)
            self._program = None

    def _send(self, number: signal.Signals) -> bool:
        if self._program is None:
            return False
        try:
            signal.pidfd_send_signal(self._program, number)
        except OSError:  # it has ended: the next call says how
            return False
        return True


def _handle_of_child(parent: int) -> int | None:
    """A pidfd of the first child; None if there is none."""
    for pid in watch.children(parent)[:1]:
        try:
            handle = os.pidfd_open(pid)
        except OSError:
            continue
        if pid in watch.children(parent):  # it had not ended, so the handle is its own
            return handle
        os.close(handle)
    return None
