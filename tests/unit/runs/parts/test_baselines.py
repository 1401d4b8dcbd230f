"""Baselines beside a search that is interrupted."""

from __future__ import annotations

import threading
from contextlib import nullcontext
from types import SimpleNamespace

import pytest

from core.contracts import Baseline, Evaluation
from core.state.failure import FailureKind
from core.storage.rows import BESIDE
from runs.parts.baselines import BaselineRunner, told_baselines
from utils.allowance import LEAST, Allowance
from utils.errors import BudgetExhausted, ConfigError


class Store:
    def __init__(self) -> None:
        self.facts: dict[str, object] = {}

    @property
    def kept(self):
        return self.facts.get("baselines", [])

    def get_fact(self, key: str) -> object:
        return self.facts.get(key)

    def put_fact(self, key: str, value: object) -> None:
        self.facts[key] = value

    def put_facts(self, values: dict[str, object], events: object) -> None:
        self.facts |= values


def search_of(evaluate, *names, slots=2, allowance=None):
    baselines = [Baseline(name, f"x = {place}") for place, name in enumerate(names)]
    return SimpleNamespace(
        problem=SimpleNamespace(seeds_search=False, lower_is_better=True, baselines=lambda: baselines),
        evaluator=SimpleNamespace(evaluate=evaluate),
        config=SimpleNamespace(project=SimpleNamespace(seed=1), execution=SimpleNamespace(python="/x/python")),
        deps=SimpleNamespace(
            jobs=SimpleNamespace(slots=slots), allowance=allowance or Allowance(), doing=lambda text: None
        ),
    )


@pytest.mark.parametrize("abandoned", [True, False])
def test_a_verdict_that_comes_after_an_interruption_is_not_kept(abandoned):
    asked, closed = threading.Event(), threading.Event()

    def evaluate(nodes):
        asked.set()
        assert closed.wait(60)
        return [Evaluation(failure=FailureKind.EVAL_ERROR, message="the grader is closed")]

    search = search_of(evaluate, "ridge")
    store = Store()
    runner = BaselineRunner(search, store)
    runner.start()
    assert asked.wait(60)
    if abandoned:
        runner.abandon()
    closed.set()
    runner.finish()
    assert [row["name"] for row in store.kept] == ([] if abandoned else ["ridge"])


def test_a_baseline_that_shows_the_configuration_to_be_wrong_ends_the_search():
    def evaluate(nodes):
        raise ConfigError("data.metric: own.py:profit raised RuntimeError: boom")

    search = search_of(evaluate, "ridge")
    stopped = threading.Event()
    runner = BaselineRunner(search, Store(), stopped.set)
    runner.start()
    assert stopped.wait(60)
    for told in (runner.check, runner.finish):
        with pytest.raises(ConfigError, match=r"own\.py:profit raised RuntimeError: boom"):
            told()


@pytest.mark.parametrize("needed, ends", [(("numpy", "sklearn.svm"), True), (("numpy",), False), ((), False)])
def test_an_interpreter_without_what_every_program_imports_ends_the_search(needed, ends):
    """Every step failed for the same reason, up to the last, and the verdict was that no valid program was found."""
    failed = Evaluation(failure=FailureKind.RUNTIME, message="ModuleNotFoundError: No module named 'sklearn'")
    runner = BaselineRunner(search_of(lambda nodes: [failed], "dummy"), store := Store(), needed=needed)
    runner.start()
    with pytest.raises(ConfigError, match="python=/x/python: it has no 'sklearn'") if ends else nullcontext():
        runner.finish()
    assert len(store.kept) == (not ends)


def test_they_are_scored_side_by_side_and_kept_in_the_problems_order():
    together, first = threading.Barrier(2, timeout=60), threading.Event()

    def evaluate(nodes):
        together.wait()
        if nodes[0].name == "dummy":
            assert first.wait(60)
        else:
            first.set()
        return [Evaluation(metric=1.0)]

    store = Store()
    runner = BaselineRunner(search_of(evaluate, "dummy", "ridge"), store)
    runner.score_first(None)
    assert [row["name"] for row in store.kept] == ["dummy", "ridge"] == store.facts["baselines_told"]
    assert told_baselines(store) == "- dummy: 1\n- ridge: 1"
    kept = [store.facts[f"{BESIDE}{row['node_id']}"] for row in store.kept]
    assert [(node["lower_is_better"], node["fitness"]) for node in kept] == [(True, -1.0)] * 2


def test_what_takes_too_long_goes_on_beside_the_search_and_no_prompt_tells_it(monkeypatch, capsys):
    monkeypatch.setattr(Allowance, "before", lambda self, searched: 0.2)
    release = threading.Event()

    def evaluate(nodes):
        assert nodes[0].name == "dummy" or release.wait(60)
        return [Evaluation(metric=2.0)]

    store = Store()
    runner = BaselineRunner(search_of(evaluate, "dummy", "slow"), store)
    runner.score_first(15.0)
    assert "not all are scored, in at most 0 s" in capsys.readouterr().err
    release.set()
    runner.finish()
    assert [row["name"] for row in store.kept] == ["dummy", "slow"] and told_baselines(store) == "- dummy: 2"


def test_a_replay_waits_for_those_that_were_told():
    release = threading.Event()

    def evaluate(nodes):
        assert nodes[0].name == "dummy" or release.wait(60)
        return [Evaluation(metric=2.0)]

    store = Store()
    BaselineRunner(search_of(evaluate, "dummy", "slow"), store).score_first(15.0, ["dummy"])
    assert told_baselines(store) == "- dummy: 2"
    release.set()


def test_the_end_does_not_wait_for_ever(capsys):
    release = threading.Event()

    def evaluate(nodes):
        release.wait(60)
        return [Evaluation(metric=2.0)]

    store = Store()
    runner = BaselineRunner(search_of(evaluate, "slow"), store)
    runner.start()
    runner.finish(0.1)
    release.set()
    assert store.kept == [] and "baselines left out: slow" in capsys.readouterr().err


def test_what_the_budget_cut_off_is_scored_at_the_end():
    asked = []

    def evaluate(nodes):
        asked.append(nodes[0].name)
        if len(asked) == 1:
            raise BudgetExhausted("budget.seconds is reached")
        return [Evaluation(metric=2.0)]

    store = Store()
    runner = BaselineRunner(search_of(evaluate, "ridge"), store)
    runner.start()
    while not asked:
        pass
    runner.finish(LEAST)
    assert asked == ["ridge", "ridge"] and len(store.kept) == 1
