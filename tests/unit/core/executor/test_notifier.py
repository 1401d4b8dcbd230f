"""Who is answered: the process that asked, and no other that has its number by then."""

from __future__ import annotations

import ctypes
import fcntl
import os
import signal
import socket
import struct
import sys
from collections.abc import Callable
from typing import Any

import pytest

from core.executor.inside import kernel, notifier, seccomp, syscalls

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux") or syscalls.machine() != "x86_64", reason="asks by a call of x86_64"
)
PATH = ctypes.create_string_buffer(b"/proc")
BUFFER = ctypes.create_string_buffer(144)
"""Both lie at one address in every child of ours."""


def asking(link: socket.socket) -> None:
    """Have a filter ask for what calls about paths find, and make such a call: 1 byte says whether it was answered."""
    kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
    filter_ = seccomp.Filter(seccomp.program(namespaces=False, pid=os.getpid()))
    listener = filter_.install(seccomp.FLAG_NEW_LISTENER)
    socket.send_fds(link, [b"x"], [listener])
    os.close(listener)
    kernel.syscall("stat", PATH, BUFFER)
    link.send(b"1" if any(BUFFER.raw) else b"0")


def telling(link: socket.socket) -> None:
    """When asked, tell whether anybody has written into the buffer."""
    link.recv(1)
    link.send(b"1" if any(BUFFER.raw) else b"0")


def child(role: Callable[[socket.socket], None]) -> tuple[int, socket.socket]:
    ours, theirs = socket.socketpair()
    pid = os.fork()
    if pid == 0:
        try:
            ours.close()
            role(theirs)
        finally:
            os._exit(0)
    theirs.close()
    return pid, ours


@pytest.fixture
def asker():
    pid, link = child(asking)
    _, (listener, *_), *_ = socket.recv_fds(link, 1, 1)
    yield pid, link, listener
    os.close(listener)
    link.close()


def test_who_asks_is_answered(asker):
    pid, link, listener = asker
    notifier.SeccompNotifier(listener, ["/usr"]).answer()
    assert link.recv(1) == b"1"
    os.waitpid(pid, 0)


def test_another_process_with_the_number_of_one_that_has_ended_is_left_alone(asker, monkeypatch):
    pid, _, listener = asker
    other, link = child(telling)

    def received_too_late(fd: int, request: int, data: Any) -> Any:
        """The call is taken; its process ends, and another is given its number."""
        done = fcntl.ioctl(fd, request, data)
        if request == notifier._RECEIVE:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            struct.pack_into("=I", data, 8, other)
        return done

    monkeypatch.setattr(notifier, "fcntl", type("", (), {"ioctl": staticmethod(received_too_late)}))
    notifier.SeccompNotifier(listener, ["/usr"]).answer()
    link.send(b"?")
    assert link.recv(1) == b"0"
    os.waitpid(other, 0)
    link.close()
