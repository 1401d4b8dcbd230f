"""Asking a run of another process for tickets."""

from __future__ import annotations

import socketserver
from pathlib import Path

import pytest

from runs.run_folder import hold
from runs.tickets.client import ask_the_run
from runs.tickets.server import LONGEST_LINE, SOCKET, TicketServer
from utils.errors import UnknownRunError


def test_a_run_that_is_just_beginning_is_waited_for(tmp_path: Path) -> None:
    """Who asked in that instant was told that it had been killed."""
    run = tmp_path / "logs" / "run-1"
    run.mkdir(parents=True)
    (run / "run.db").touch()
    request = {"verb": "ask", "token": "0" * 32, "seconds": 0.2}
    with hold(run):
        assert "is being taken up" in ask_the_run(run, request, seconds=0.3)["message"]
    with pytest.raises(UnknownRunError, match="killed before it began"):
        ask_the_run(run, request, seconds=0.3)


def test_the_door_is_open_to_this_user_alone_and_other_threads_make_what_they_like(tmp_path, monkeypatch) -> None:
    """The process's umask was another one while it was made: folders that a thread made then could not be entered."""
    bind = socketserver.TCPServer.server_bind

    def meanwhile(server: socketserver.TCPServer) -> None:
        bind(server)
        assert (tmp_path / SOCKET).stat().st_mode & 0o777 == 0o600
        (tmp_path / "folder").mkdir()

    monkeypatch.setattr(socketserver.TCPServer, "server_bind", meanwhile)
    TicketServer(tmp_path, lambda request: {}).close()
    assert (tmp_path / "folder").stat().st_mode & 0o700 == 0o700


def test_a_request_that_is_too_long_is_refused_by_its_length(tmp_path: Path) -> None:
    """The door hung up in the middle of it, and who told a program of 40 MB heard that nobody answered."""
    run = tmp_path / "logs" / "run-1"
    run.mkdir(parents=True)
    door = TicketServer(run, lambda request: {"state": "taken"})
    found = ask_the_run(run, {"verb": "tell", "files": {"program.py": "x" * LONGEST_LINE}}, seconds=5)
    assert (found["state"], found["next"]) == ("refused", "tell") and "at most 32 MB are read" in found["message"]
    assert ask_the_run(run, {"verb": "tell", "files": {}}, seconds=5)["state"] == "taken"
    door.close()
