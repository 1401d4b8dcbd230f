"""The seconds of a search."""

from __future__ import annotations

import pytest

from runs.beside import search_clock
from runs.beside.search_clock import SearchClock


def test_only_the_search_counts_and_earlier_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(search_clock.time, "monotonic", lambda: now[0])
    clock = SearchClock()
    clock.before = 7.0
    now[0] += 2
    assert clock.seconds() == 9.0, "steps by hand have no begin"
    clock.prepare()
    now[0] += 50
    assert (clock.seconds(), clock.since_end()) == (7.0, 0.0)
    clock.begin()
    now[0] += 3
    assert clock.seconds() == 10.0
    clock.end()
    now[0] += 5
    assert (clock.seconds(), clock.since_end()) == (10.0, 5.0)
