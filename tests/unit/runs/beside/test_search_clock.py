"""The seconds of a search."""

from __future__ import annotations

from runs.beside.search_clock import SearchClock


def test_only_the_search_counts_and_earlier_processes() -> None:
    now = [100.0]
    clock = SearchClock(lambda: now[0])
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
