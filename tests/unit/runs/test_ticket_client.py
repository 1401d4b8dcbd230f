"""Asking a run of another process for tickets."""

from __future__ import annotations

from pathlib import Path

import pytest

from runs.run_folder import hold
from runs.tickets.client import ask_the_run
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
