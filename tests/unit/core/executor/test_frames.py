"""Frames between host, fork server and supervisor, whose other side may be killed at any byte."""

from __future__ import annotations

import os
import socket
from concurrent.futures import ThreadPoolExecutor

import pytest

from core.executor.inside import frames

WHOLE = frames.framed({"told": "x" * 100})


@pytest.mark.parametrize("cut", [0, 1, frames.HEADER - 1, frames.HEADER, len(WHOLE) - 1])
def test_a_message_that_breaks_off_is_none_and_keeps_no_descriptor(cut: int) -> None:
    """One that broke off within its first bytes was waited for by a loop without an end."""
    ours, theirs = socket.socketpair()
    before = len(os.listdir("/proc/self/fd"))
    with ours, theirs, open(os.devnull) as passed, ThreadPoolExecutor(1) as pool:
        if cut:
            socket.send_fds(theirs, [WHOLE[:cut]], [passed.fileno()])
        theirs.close()
        assert pool.submit(frames.receive, ours).result(timeout=20) is None
        assert len(os.listdir("/proc/self/fd")) == before, "theirs is closed, and the file is open"


def test_a_message_comes_with_its_descriptors_in_whatever_pieces() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs, open(os.devnull) as passed, ThreadPoolExecutor(1) as pool:
        received = pool.submit(frames.receive, ours)
        socket.send_fds(theirs, [WHOLE[:1]], [passed.fileno()])
        for place in range(1, len(WHOLE)):
            theirs.sendall(WHOLE[place : place + 1])
        found = received.result(timeout=20)
        assert found is not None and found[0] == {"told": "x" * 100}
        (fd,) = found[1]
        assert os.fstat(fd) == os.fstat(passed.fileno()) and not os.get_inheritable(fd)
        os.close(fd)
