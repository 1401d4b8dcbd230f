"""How candidates are kept apart from an evaluator is decided alike however busy the machine is."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from core.contracts import Limits
from core.evaluation.isolation.apart import Apart
from core.evaluation.isolation.decision import FINE_CALLS, Decider
from core.evaluation.isolation.evaluator import EvaluatorRun
from core.evaluation.isolation.together import Together


@pytest.mark.parametrize(("calls", "isolation"), [(FINE_CALLS, "apart"), (FINE_CALLS + 1, "screen"), (1310, "screen")])
@pytest.mark.parametrize("microseconds", [1, 22.8, 23, 40, 5000])
def test_the_time_that_calls_took_decides_nothing(monkeypatch, calls, isolation, microseconds):
    """1,310 calls of 23 µs each were a little more than a bound of 30 ms in one run, and a little less in the next."""
    run = EvaluatorRun(value=1.0, calls=calls, call_seconds=calls * microseconds * 1e-6, seconds=0.1)
    monkeypatch.setattr(Apart, "run", lambda *_, **__: run)
    monkeypatch.setattr(Together, "run", lambda *_, **__: run)
    start = Apart(Path("evaluator.py"), modules={})
    decider = Decider(
        SimpleNamespace(tier="warm"), "", wanted="auto", start=start, folder=Path(), shows=(),
        score=lambda value: value, limits=Limits(), seed=0,
    )  # fmt: skip
    assert decider.decide()[0].isolation == isolation
