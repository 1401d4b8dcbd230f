"""Baselines beside a search that is interrupted."""

from __future__ import annotations

import threading
from types import SimpleNamespace

import pytest

from core.contracts import Baseline, Evaluation
from core.state.failure import FailureKind
from runs.baselines import BaselineRunner
from utils.errors import ConfigError


class Store:
    def __init__(self) -> None:
        self.kept: list[dict[str, object]] = []

    def get_fact(self, key: str) -> list[dict[str, object]]:
        return list(self.kept)

    def put_facts(self, values: dict[str, list[dict[str, object]]], events: object) -> None:
        self.kept = list(values["baselines"])


@pytest.mark.parametrize("abandoned", [True, False])
def test_a_verdict_that_comes_after_an_interruption_is_not_kept(abandoned):
    asked, closed = threading.Event(), threading.Event()

    def evaluate(nodes):
        asked.set()
        assert closed.wait(10)
        return [Evaluation(failure=FailureKind.EVAL_ERROR, message="the grader is closed")]

    search = SimpleNamespace(
        problem=SimpleNamespace(seeds_search=False, baselines=lambda: [Baseline("ridge", "x = 1")]),
        evaluator=SimpleNamespace(evaluate=evaluate),
        config=SimpleNamespace(project=SimpleNamespace(seed=1)),
    )
    store = Store()
    runner = BaselineRunner(search, store)
    runner.start()
    assert asked.wait(10)
    if abandoned:
        runner.abandon()
    closed.set()
    runner.finish()
    assert [row["name"] for row in store.kept] == ([] if abandoned else ["ridge"])


def test_a_baseline_that_shows_the_configuration_to_be_wrong_ends_the_search():
    def evaluate(nodes):
        raise ConfigError("data.metric: own.py:profit raised RuntimeError: boom")

    search = SimpleNamespace(
        problem=SimpleNamespace(seeds_search=False, baselines=lambda: [Baseline("ridge", "x = 1")]),
        evaluator=SimpleNamespace(evaluate=evaluate),
        config=SimpleNamespace(project=SimpleNamespace(seed=1)),
    )
    stopped = threading.Event()
    runner = BaselineRunner(search, Store(), stopped.set)
    runner.start()
    assert stopped.wait(10)
    for told in (runner.check, runner.finish):
        with pytest.raises(ConfigError, match=r"own\.py:profit raised RuntimeError: boom"):
            told()
