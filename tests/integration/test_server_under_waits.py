"""Requests that wait for a command of minutes take no other request's turn: a real server, real HTTP."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from urllib.request import urlopen

import pytest
import uvicorn
from support.processes import eventually
from support.synthetic_runs import competition

from dashboard.server.app import create_app
from dashboard.server.routes_control import WAITED_FOR

SLOW = """
import os, pathlib, time
pathlib.Path(f"begun-{os.getpid()}").touch()
while not pathlib.Path("go").exists():
    time.sleep(0.02)
"""
WAITING = 45
"""More than the 40 threads in which requests are answered."""


@contextmanager
def serving(project: Path, main: Path) -> Iterator[tuple[str, int]]:
    """The server in this process, at a free port."""
    with socket.create_server(("127.0.0.1", 0)) as door:
        server = uvicorn.Server(uvicorn.Config(create_app(project, main=main), log_level="warning"))
        thread = threading.Thread(target=server.run, args=([door],))
        thread.start()
        eventually(lambda: server.started)
        try:
            yield door.getsockname()
        finally:
            server.should_exit = True
            thread.join(30)


@pytest.mark.parametrize(("method", "path"), [("DELETE", "/api/runs?run=one"), ("POST", "/api/runs/one/solution")])
def test_while_many_wait_for_a_command_the_next_request_is_answered(tmp_path: Path, method: str, path: str) -> None:
    competition(tmp_path / "logs", 2, run="one").finish()
    (tmp_path / "main.py").write_text(SLOW)
    with serving(tmp_path, tmp_path / "main.py") as (host, port):
        waiting = [HTTPConnection(host, port, timeout=200) for _ in range(WAITING)]
        for one in waiting:
            one.request(method, path)
        eventually(lambda: len(list(tmp_path.glob("begun-*"))) >= WAITED_FOR)
        try:
            with urlopen(f"http://{host}:{port}/api/runs", timeout=60) as answer:
                assert answer.status == 200 and b'"one"' in answer.read()
            assert len(list(tmp_path.glob("begun-*"))) == WAITED_FOR, "processes are no crowd either"
        finally:
            (tmp_path / "go").touch()
        assert [one.getresponse().status for one in waiting] == [200] * WAITING
        for one in waiting:
            one.close()
