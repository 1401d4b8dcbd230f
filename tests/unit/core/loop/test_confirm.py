"""A score that may be luck is looked at again before its commit: in order, stored at once, the same in every run."""

from __future__ import annotations

import pytest
from support.loop import Crash, DyingStore, open_loop, told
from support.plugins.toy import ToyEvaluator

from core.contracts import Evaluation
from core.search.three_phase import ThreePhasePolicy
from core.state.failure import FailureKind
from core.storage.reader import RunReader
from utils.errors import BudgetExhausted

WAYS = {"pipeline": {}, "rounds": {"schedule": "rounds"}, "async": {"schedule": "async", "writers": 1, "batch": 1}}


class Doubting(ToyEvaluator):
    """Doubts what is good, and then finds it worse by a half."""

    def __init__(self) -> None:
        super().__init__()
        self.confirmed: list[str] = []

    def doubts(self, verdict):
        return verdict.metric < 3

    def confirm(self, node, verdict):
        self.confirmed.append(node.id)
        return verdict.model_copy(update={"metric": verdict.metric + 0.5, "interval": (verdict.metric, 9.0)})


def loop(folder, evaluator, **options):
    return open_loop(folder, **{"steps": 14, "batch": 3, "schedule": "pipeline", **options}, evaluator=evaluator)


@pytest.mark.parametrize("way", ["pipeline", "rounds"])
def test_the_mean_is_what_the_search_goes_on_with(tmp_path, way):
    made = []
    for writers in (1, 16):
        evaluator = Doubting()
        run = loop(tmp_path / str(writers), evaluator, writers=writers, **WAYS[way])
        run.run()
        confirmed = [run.journal[node_id] for node_id in evaluator.confirmed]
        assert confirmed and [node.step for node in confirmed] == sorted(node.step for node in confirmed)
        assert all(node.interval and "confirm" in node.stages for node in confirmed)
        x = [abs(float(node.code.split("=")[1]) - 2) + 0.5 for node in confirmed]
        assert [node.metric_value for node in confirmed] == pytest.approx(x)
        made.append(told(run.journal))
    assert made[0] == made[1]
    with RunReader(tmp_path / "1") as reader:
        stages = [event.stage for event in reader.events(limit=10_000, types=["node.stage"])]
    assert stages.count("confirm") == len(confirmed)


@pytest.mark.parametrize(
    ("way", "every"),
    [
        pytest.param("pipeline", 5, marks=pytest.mark.sample),
        *(
            pytest.param(*case, marks=pytest.mark.long)
            for case in [*((way, 5) for way in WAYS if way != "pipeline"), ("pipeline", 2)]
        ),
    ],
)
def test_after_a_crash_at_any_write_nothing_is_confirmed_twice(tmp_path, way, every):
    stores = []

    def counting(store):
        stores.append(DyingStore(store, 10**9, "after"))
        return stores[0]

    options = {"writers": 1, **WAYS[way]}
    whole = loop(tmp_path / "whole", Doubting(), wrap=counting, **options)
    whole.run()
    for at in range(1, len(stores[0].writes) + 1, every):
        first, second = Doubting(), Doubting()
        with pytest.raises(Crash):
            loop(tmp_path / str(at), first, wrap=lambda store, at=at: DyingStore(store, at, "after"), **options).run()
        again = loop(tmp_path / str(at), second, **options)
        again.run()
        assert told(again.journal) == told(whole.journal), f"at write {at}"
        assert not set(first.confirmed[:-1]) & set(second.confirmed), f"at write {at}"


def test_tuned_constants_are_looked_at_again_too(tmp_path):
    """Their score was the luck of one look, and led the search as such; what is looked at is the tuned program."""

    class Tuning(Doubting):
        def tune(self, node, node_id, seed):
            return Evaluation(metric=0.25, code="x = 2.25\n")

        def confirm(self, node, verdict):
            assert verdict.code in (None, node.code)
            return super().confirm(node, verdict)

    class Policy(ThreePhasePolicy):
        def ask(self, journal, rng, k):
            asked = super().ask(journal, rng, k)
            return [one.model_copy(update={"operator": "tune"}) if one.operator == "improve" else one for one in asked]

    run = loop(tmp_path, Tuning(), policy=Policy(), steps=8)
    run.run()
    tuned = [node for node in run.journal if node.operator == "tune"]
    assert tuned and {(node.code, node.metric_value) for node in tuned} == {("x = 2.25\n", 0.75)}


def test_a_look_that_cannot_be_had_leaves_the_first_one(tmp_path):
    class Spent(Doubting):
        def confirm(self, node, verdict):
            raise BudgetExhausted("budget.seconds is used up")

    run = loop(tmp_path, Spent())
    assert run.run() == "max_steps: 14 of 14 steps"
    good = [node for node in run.journal if node.is_scored]
    assert good and all(node.failure is not FailureKind.EVAL_ERROR and node.interval is None for node in good)
