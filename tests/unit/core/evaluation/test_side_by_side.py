"""Long work of an evaluator beside the search: on all workers, in order, and told as it gets on."""

from __future__ import annotations

import threading
import time
from types import SimpleNamespace

import pytest

from core.evaluation.base import as_time_allows, side_by_side
from utils.allowance import Allowance


def deps_with(slots: int, told: list[str], clock=time.monotonic):
    return SimpleNamespace(jobs=SimpleNamespace(slots=slots), doing=told.append, allowance=Allowance(clock))


def test_as_many_at_once_as_there_are_workers_and_how_many_are_done_is_told():
    together, told = threading.Barrier(3, timeout=60), []

    def work(item: int) -> int:
        together.wait()
        return 10 * item

    assert side_by_side(deps_with(3, told), "programs scored", [1, 2, 3], work) == [10, 20, 30]
    assert told[0] == "programs scored: 0 of 3" and sorted(told) == [f"programs scored: {n} of 3" for n in range(4)]


def test_one_worker_takes_them_in_order():
    seen = []
    assert side_by_side(deps_with(1, []), "done", ["a", "b"], lambda item: seen.append(item) or item) == ["a", "b"]
    assert seen == ["a", "b"] and side_by_side(deps_with(2, []), "done", [], str) == []


def test_who_wants_to_stop_waits_for_nobody():
    release = threading.Event()

    def work(item: int) -> int:
        if item:
            release.wait(60)
            return item
        raise KeyboardInterrupt

    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        side_by_side(deps_with(2, []), "done", [0, 1, 2], work)
    assert time.monotonic() - began < 40
    release.set()


def test_what_does_not_fit_in_the_allowance_is_left_out_and_told(capsys):
    now, told = [0.0], []
    deps = deps_with(1, told, lambda: now[0])
    deps.allowance.begin(100)

    def work(item: int) -> int:
        now[0] += item
        time.sleep(0.001)
        return item

    assert as_time_allows(deps, "programs scored", [40, 1, 1], work) == [40, None, None], "the first is always there"
    assert told[0] == "programs scored: 0 of 3, at most 30 s in all"
    assert "programs scored: 2 of 3 left out, at most 30 s in all" in capsys.readouterr().err


def test_nothing_is_left_out_before_the_search_is_over(capsys):
    deps = deps_with(2, [])
    assert as_time_allows(deps, "", [1, None, 3], lambda item: item) == [1, None, 3]
    assert capsys.readouterr().err == ""
