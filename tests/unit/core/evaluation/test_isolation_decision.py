"""How candidates are kept apart from an evaluator is decided alike however busy the machine is."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import pytest

from core.contracts import Limits
from core.evaluation.isolation.apart import Apart
from core.evaluation.isolation.decision import FINE_CALLS, Decider
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


def decider() -> Decider:
    return Decider(
        SimpleNamespace(tier="warm"), "", wanted="auto", start=Apart(Path("evaluator.py"), modules={}), folder=Path(),
        shows=(), score=lambda value: value, limits=Limits(), seed=0,
    )  # fmt: skip
