"""Tokens of processes that are gone: one process has each, whichever comes when."""

from __future__ import annotations

import fcntl
import os

from swarm_evo import leases


def test_nobody_takes_a_file_of_tokens_that_is_just_being_made(tmp_path, monkeypatch):
    """Between its making and its lock it was taken for a dead process's, and removed: its tickets had to expire."""
    lock, seen = fcntl.flock, []

    def late(*asked):
        seen.append([name for name in os.listdir(tmp_path / leases.FOLDER) if leases._NAME.fullmatch(name)])
        lock(*asked)

    monkeypatch.setattr(fcntl, "flock", late)
    token = leases.new_token(tmp_path)
    assert seen == [[]]
    (file,) = (tmp_path / leases.FOLDER).iterdir()
    assert file.read_text() == f"{token}\n" and leases.adopted(tmp_path) == []
    os.close(leases._OURS.pop((os.getpid(), tmp_path)))


def test_tokens_that_another_process_has_just_adopted_are_its(tmp_path, monkeypatch):
    """Who had opened their file before kept them too: a ticket would have had two writers."""
    leases.new_token(tmp_path)
    os.close(leases._OURS.pop((os.getpid(), tmp_path)))  # its process is gone
    lock = fcntl.flock

    def late(file, how):
        for path in (tmp_path / leases.FOLDER).iterdir():
            path.unlink()
        lock(file, how)

    monkeypatch.setattr(fcntl, "flock", late)
    assert leases.adopted(tmp_path) == [] and (os.getpid(), tmp_path) not in leases._OURS
