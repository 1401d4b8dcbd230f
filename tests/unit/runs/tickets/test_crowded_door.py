"""Many writers come to a run at the same moment: the kernel lets a bounded number of them wait at its door."""

from __future__ import annotations

import socket
import threading
import time
from contextlib import ExitStack, closing
from pathlib import Path

from runs.tickets.server import TicketServer, call, short_path


def crowd(run_dir: Path, stack: ExitStack) -> int:
    """As many connections as the door holds before anybody is let in; how many there are."""
    for number in range(10_000):
        client = stack.enter_context(socket.socket(socket.AF_UNIX))
        client.setblocking(False)
        try:
            with short_path(run_dir) as name:
                client.connect(name)
        except BlockingIOError:
            return number
    raise AssertionError("the door holds them all")


def test_who_finds_the_door_crowded_waits_and_is_answered(tmp_path, monkeypatch):
    """It was told at once that nobody holds the run."""
    begin = threading.Event()
    serve = socket.socket.accept
    monkeypatch.setattr(socket.socket, "accept", lambda own: (begin.wait(20), serve(own))[1])
    with (
        closing(TicketServer(tmp_path, lambda request: {"state": "here", "verb": request["verb"]})),
        ExitStack() as gone,
    ):
        assert crowd(tmp_path, gone) >= 64
        threading.Timer(0.3, begin.set).start()
        began = time.monotonic()
        assert call(tmp_path, {"verb": "ask"}, 20) == {"state": "here", "verb": "ask"}
        assert 0.1 < time.monotonic() - began < 15


def test_a_door_that_stays_crowded_is_not_waited_for_longer_than_was_said(tmp_path, monkeypatch):
    begin = threading.Event()
    serve = socket.socket.accept
    monkeypatch.setattr(socket.socket, "accept", lambda own: (begin.wait(20), serve(own))[1])
    with closing(TicketServer(tmp_path, lambda request: {})), ExitStack() as gone:
        crowd(tmp_path, gone)
        began = time.monotonic()
        assert call(tmp_path, {"verb": "ask"}, 0.3) is None
        assert 0.25 < time.monotonic() - began < 5
        begin.set()
