"""How candidates are kept apart from an evaluator is decided alike however busy the machine is."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import pytest

from core.contracts import Limits
from core.evaluation.isolation.apart import Apart
from core.evaluation.isolation.decider import FINE_CALLS, READS, Decider
from core.evaluation.isolation.decision import UNTRIED
from core.evaluation.isolation.evaluator import EvaluatorRun, EvaluatorUnusable
from core.evaluation.isolation.together import Together


@pytest.mark.parametrize(("calls", "isolation"), [(FINE_CALLS, "apart"), (FINE_CALLS + 1, "screen"), (1310, "screen")])
@pytest.mark.parametrize("microseconds", [1, 22.8, 23, 40, 5000])
def test_the_time_that_calls_took_decides_nothing(monkeypatch, calls, isolation, microseconds):
    """1,310 calls of 23 µs each were a little more than a bound of 30 ms in one run, and a little less in the next."""
    run = EvaluatorRun(value=1.0, calls=calls, call_seconds=calls * microseconds * 1e-6, seconds=0.1)
    monkeypatch.setattr(Apart, "run", lambda *_, **__: run)
    monkeypatch.setattr(Apart, "begin", lambda *_: None)
    monkeypatch.setattr(Together, "run", lambda *_, **__: run)
    assert decider().decide()[0].isolation == isolation


@pytest.mark.parametrize(
    ("calls", "seconds", "clocks", "beside", "isolation"),
    [
        (25_000, 0.5, True, [1.5], "screen"),
        (25_000, 30.0, False, [1.5], "apart"),
        (25_000, 0.5, True, [1.6], "apart"),
        (25_000, 0.5, False, [1.4, 1.6, 1.5, 1.3, 1.45], "screen"),
        (25_000, 0.5, False, [3.0, 3.1, 3.2, 3.05, 3.15], "apart"),
        (25_000, 0.5, False, [None], "apart"),
        (20, 0.5, False, [], "apart"),
    ],
)
def test_an_evaluation_that_only_the_way_of_its_calls_makes_slow_is_screened(
    monkeypatch, calls, seconds, clocks, beside, isolation
):
    """EoH's bin packing took 40 s a program in place of 0.5: what was slow apart was never tried beside."""
    left = iter(beside)
    first = EvaluatorRun(value=1.5, calls=calls, call_seconds=39, seconds=40, clocks=clocks)
    monkeypatch.setattr(Apart, "run", lambda *_, **__: first)
    monkeypatch.setattr(Apart, "begin", lambda *_: None)
    monkeypatch.setattr(Apart, "end", lambda *_: None)
    monkeypatch.setattr(Together, "run", lambda *_, **__: EvaluatorRun(value=next(left), seconds=seconds))
    decision = decider().decide()[0]
    assert decision.isolation == isolation and next(left, None) is None
    assert (decision.reason == UNTRIED) == (clocks and isolation == "apart")
    assert decision.noise == pytest.approx(0.3 if len(beside) > 1 and isolation == "screen" else 0)


@pytest.mark.parametrize(
    ("first", "ends"),
    [(EvaluatorRun(value=1.0), False), (EvaluatorRun(refused="it reads the program's text"), True), (None, True)],
)
def test_the_process_that_is_kept_starts_beside_the_first_score_and_ends_where_nobody_needs_it(
    monkeypatch, first, ends
):
    told = []

    def run(*_, **__):
        told.append("run")
        if first is None:
            raise EvaluatorUnusable("ImportError: no", "", "python")
        return first

    monkeypatch.setattr(Apart, "begin", lambda *_: told.append("begin") or "kept")
    monkeypatch.setattr(Apart, "end", lambda self, sandbox, kept: told.append(f"end {kept}"))
    monkeypatch.setattr(Apart, "run", run)
    monkeypatch.setattr(Together, "run", lambda *_, **__: EvaluatorRun(value=1.0))
    with suppress(EvaluatorUnusable):
        decider().decide()
    assert told[:2] == ["begin", "run"] and ("end kept" in told) is ends


@pytest.mark.parametrize(
    ("runs", "isolation", "reason"),
    [
        ([EvaluatorRun(error="killed", line="it was killed"), EvaluatorRun(value=1.0)], "apart", ""),
        ([EvaluatorRun(error="killed", line="it was killed")] * 2, "together",
         "apart the evaluator fails: it was killed"),
        ([EvaluatorRun(error="its own", line="its own", raised=True), EvaluatorRun(value=1.0)], "together",
         "apart the program fails: its own"),
    ],
)  # fmt: skip
def test_one_that_crashes_now_and_then_is_kept_apart_and_what_the_program_raised_is_believed(
    monkeypatch, runs, isolation, reason
):
    left = [*runs]
    monkeypatch.setattr(Apart, "run", lambda *_, **__: left.pop(0) if len(left) > 1 else left[0])
    monkeypatch.setattr(Apart, "begin", lambda *_: None)
    monkeypatch.setattr(Together, "run", lambda *_, **__: EvaluatorRun(value=1.0))
    decision = decider().decide()[0]
    assert (decision.isolation, decision.reason) == (isolation, reason)


@pytest.mark.parametrize(("forked", "forks"), [([1.1, 1.9, 1.5, 1.2, 1.7], True), ([1.1, None, 1.5, None, 1.7], False)])
def test_forks_that_fail_now_and_then_are_none_and_the_process_that_was_kept_for_them_ends(monkeypatch, forked, forks):
    """What varies is compared by several scores; those that came are like the others, and two of five never did."""
    fresh, by_fork, told = iter([1.4, 1.0, 2.0, 1.3, 1.6, 1.8]), iter(forked), []

    def run(apart, *_, watch=False, **__):
        return EvaluatorRun(value=next(fresh if watch or not apart.forks else by_fork), calls=1)

    monkeypatch.setattr(Apart, "begin", lambda *_: "kept")
    monkeypatch.setattr(Apart, "end", lambda self, sandbox, kept: told.append(kept))
    monkeypatch.setattr(Apart, "run", run)
    decision = decider().decide()[0]
    assert (decision.isolation, decision.forks, told) == ("apart", forks, [] if forks else ["kept"])
    assert decision.scores == ((1.1, 1.9, 1.5, 1.2, 1.7) if forks else (1.4, 1.0, 2.0, 1.3, 1.6))


UNTOLD = "whether your own program has the same score beside the evaluator could not be tried"


@pytest.mark.parametrize("seconds", [0.1, 40])
@pytest.mark.parametrize(
    ("wanted", "beside", "isolation", "doubt"),
    [
        ("auto", 1.5, "apart", ""), ("apart", 1.5, "apart", ""), ("auto", 1.0, "together", ""),
        ("apart", 1.0, "apart", "of your own program the score is another: 1.5 apart, 1 beside the evaluator"),
        ("auto", None, "apart", f"{UNTOLD}: no score"),
        ("apart", "it needs the network", "apart", f"{UNTOLD}: it needs the network"),
    ],
)  # fmt: skip
def test_what_may_have_been_read_of_the_stand_in_is_compared_whatever_is_wanted(
    monkeypatch, seconds, wanted, beside, isolation, doubt
):
    """`isolation=apart` was never compared, nor an evaluator that called the program and weighed its file as well."""

    def shared(*_, **__):
        if isinstance(beside, str):
            raise EvaluatorUnusable(beside, beside, "python")
        return EvaluatorRun(value=beside, seconds=seconds)

    first = EvaluatorRun(value=1.5, calls=5, texts=True, seconds=seconds)
    monkeypatch.setattr(Apart, "run", lambda *_, **__: first)
    monkeypatch.setattr(Apart, "begin", lambda *_: None)
    monkeypatch.setattr(Apart, "end", lambda *_: None)
    monkeypatch.setattr(Together, "run", shared)
    decision, run = decider(wanted).decide()
    assert (decision.isolation, decision.doubt) == (isolation, doubt)
    assert run.value == (1.0 if isolation == "together" else 1.5)


@pytest.mark.parametrize("seconds", [0.1, 40])
@pytest.mark.parametrize(
    ("wanted", "odd", "beside", "isolation", "is_doubtful"),
    [
        ("auto", 1.5, 1.5, "apart", False), ("auto", 0.0, 1.5, "together", False),
        ("auto", None, 1.5, "together", False), ("auto", None, None, "apart", True),
        ("apart", 0.0, 1.5, "apart", True), ("screen", 0.0, 1.5, "apart", True),
    ],
)  # fmt: skip
def test_an_evaluator_that_checks_the_programs_text_is_known_by_another_text(
    monkeypatch, seconds, wanted, odd, beside, isolation, is_doubtful
):
    """The user's program and what stands in for it pass the same check: every program did, whatever it held."""
    first = EvaluatorRun(value=1.5, calls=5, texts=True, seconds=seconds)
    others = first.model_copy(update={"value": odd})
    monkeypatch.setattr(Apart, "run", lambda *_, **asked: others if asked.get("odd") else first)
    monkeypatch.setattr(Apart, "begin", lambda *_: None)
    monkeypatch.setattr(Apart, "end", lambda *_: None)
    monkeypatch.setattr(Together, "run", lambda *_, **__: EvaluatorRun(value=beside, seconds=seconds))
    decision, run = decider(wanted).decide()
    assert (decision.isolation, bool(decision.doubt), run.value) == (isolation, is_doubtful, 1.5)
    assert (decision.reason == READS) is (odd != 1.5) and ("what stands in" in decision.doubt) is is_doubtful


def decider(wanted: str = "auto") -> Decider:
    sandbox = SimpleNamespace(tier="warm", cards=SimpleNamespace(places=0))
    return Decider(
        sandbox, "", wanted=wanted, start=Apart(Path("evaluator.py"), modules={}), folder=Path(),
        shows=(), score=lambda value: value, limits=Limits(), seed=0,
    )  # fmt: skip
