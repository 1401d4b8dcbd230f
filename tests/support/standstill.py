"""A process that is halted while it waits, as by Ctrl-Z, without any waiting."""

from __future__ import annotations

import time
from types import SimpleNamespace

import pytest

from utils.patience import Patience


def halt_once(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    """Let the next look of any `Patience` end so much later than it was to."""
    clock, look, halted = time.monotonic, Patience.look, [0.0]
    monkeypatch.setattr("utils.patience.time", SimpleNamespace(monotonic=lambda: clock() + halted[0]))

    def look_and_halt(self, poll):
        def polled(asked):
            found = poll(asked)
            halted[0] = seconds
            return found

        return look(self, polled)

    monkeypatch.setattr(Patience, "look", look_and_halt)
