"""A tracker on a thread of its own: whatever it does, the run goes on and its end says so."""

from __future__ import annotations

import sys

from core.events import Warned
from runs.tracking import background
from runs.tracking.background import BackgroundSink


class Leaving:
    """A library that ends the process, as some do where nobody is logged in."""

    def __init__(self, facts) -> None:
        sys.exit("not logged in")


def test_a_tracker_that_leaves_is_told(monkeypatch):
    """Its thread ended without a word: nothing was tracked, and nobody heard of it."""
    told = []
    monkeypatch.setattr(background, "log_msg", lambda level, text: told.append(f"{level} {text}"))
    sink = BackgroundSink("logging.wandb", Leaving, None)
    sink.emit(Warned(text="the model waits"))
    sink.close(print)
    assert told == ["WARNING logging.wandb: SystemExit: not logged in; 1 event was not told"]
