"""Time in which this process stood still is nobody's."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from utils.patience import SLICE, Patience


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """`clock.now` is what `time.monotonic` says."""
    found = SimpleNamespace(now=1000.0)
    monkeypatch.setattr("utils.patience.time", SimpleNamespace(monotonic=lambda: found.now))
    return found


def test_a_look_that_ends_much_later_than_asked_moves_the_deadline(clock: SimpleNamespace) -> None:
    patience = Patience(2.0)

    def halted(seconds: float) -> str:
        assert seconds == SLICE
        clock.now += seconds + 60.0
        return "found"

    assert patience.look(halted) == "found"
    assert (patience.away, patience.left) == (60.0, 2.0 - SLICE)


def test_a_slow_look_is_no_standstill(clock: SimpleNamespace) -> None:
    patience = Patience(1.0)
    for _ in range(4):
        patience.look(lambda seconds: setattr(clock, "now", clock.now + seconds + 0.3))
    assert patience.away == 0 and patience.left < 0
    patience.look(lambda seconds: None if seconds == 0 else pytest.fail("it is over"))


def test_a_thread_that_runs_again_before_who_looks_counts_it_once(clock: SimpleNamespace) -> None:
    patience = Patience(2.0)

    def halted(seconds: float) -> None:
        clock.now += seconds + 60.0
        assert patience.left == 2.0 - SLICE, "what another thread asks meanwhile"
        clock.now += 0.1

    patience.look(halted)
    assert patience.away == 60.0 and patience.left == pytest.approx(2.0 - SLICE - 0.1)


def test_what_passes_between_two_looks_is_ours(clock: SimpleNamespace) -> None:
    patience = Patience(2.0)
    patience.look(lambda seconds: None)
    clock.now += 5.0
    assert patience.away == 0 and patience.left == -3.0
