"""The supervisor's own steps, where what it meets cannot be had at will."""

from __future__ import annotations

import errno
import os
import socket
import sys
from types import SimpleNamespace

import pytest

from core.contracts import Limits
from core.executor.inside import supervisor
from core.executor.one_job import job_of

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the sandbox needs Linux")


def test_a_candidate_waits_for_room_but_for_one_whose_answer_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    refused: list[int] = []

    def fork() -> int:
        refused.append(errno.EAGAIN)
        if len(refused) < 3:
            raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
        return 7

    ours, theirs = socket.socketpair()
    with ours, theirs:
        alone = object.__new__(supervisor._Supervisor)
        vars(alone).update(_control=ours, _compartment=SimpleNamespace(count_anew=lambda: None))
        monkeypatch.setattr(supervisor, "_LAST_TICK", 0.001)
        monkeypatch.setattr(os, "fork", fork)
        assert alone._forked(job_of("script", Limits()))[0] == 7
        refused.clear()
        with pytest.raises(BlockingIOError):
            alone._forked(job_of("session", Limits()))
        theirs.send(b"stop")
        with pytest.raises(BlockingIOError):
            alone._forked(job_of("command", Limits()))
