"""An evaluator's process that serves many candidates: what becomes of them when it is gone."""

from __future__ import annotations

import os
import signal
from contextlib import closing

import pytest
from support.sandboxes import opened_tier

from core.contracts import Limits
from core.evaluation.isolation.apart import Apart
from core.evaluation.isolation.evaluator import EvaluatorServer
from utils.errors import JobLost

EVALUATOR = """import importlib.util


def evaluate(path):
    spec = importlib.util.spec_from_file_location("candidate", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return float(module.f(4))
"""


@pytest.fixture
def sandbox(tmp_path):
    with opened_tier("warm", tmp_path / "state") as opened:
        yield opened


@pytest.fixture
def apart(tmp_path):
    evaluator = tmp_path / "evaluator.py"
    evaluator.write_text(EVALUATOR)
    return Apart(evaluator, timeout=30)


def test_the_next_candidate_gets_a_new_one(sandbox, apart):
    """One that was killed, for its memory say, was asked again and again: all programs that came were lost with it."""

    def score() -> object:
        return apart.run(sandbox, "def f(x): return 2 * x", limits=Limits(seconds=20)).value

    assert score() == 8.0
    (server,) = [thing for thing in sandbox.resources._things.values() if isinstance(thing, EvaluatorServer)]
    os.kill(server._process.pid, signal.SIGKILL)
    with pytest.raises(JobLost, match="the evaluator's process is gone"):
        score()
    assert score() == 8.0


def test_two_that_lose_it_at_once_lose_one(sandbox, apart):
    """Who comes late must not take the new one away from those that have it."""
    apart.run(sandbox, "def f(x): return 2 * x", limits=Limits(seconds=20))
    (key,) = [key for key, thing in sandbox.resources._things.items() if isinstance(thing, EvaluatorServer)]
    lost = sandbox.resources._things[key]
    sandbox.resources.drop(key, lost)
    apart.run(sandbox, "def f(x): return 2 * x", limits=Limits(seconds=20))
    new = sandbox.resources._things[key]
    sandbox.resources.drop(key, lost)
    assert sandbox.resources._things[key] is new is not lost
    with closing(lost.begin({}, 0, "candidate.py", None)) as judging, pytest.raises(JobLost):
        judging.name({})


def test_a_candidate_that_was_judged_when_it_went_is_lost_and_not_at_fault(sandbox, tmp_path):
    """Its evaluator's fork dies with it: that passed for an evaluator that ended for what the candidate did."""
    evaluator = tmp_path / "evaluator.py"
    evaluator.write_text("import os, time\n\n\ndef evaluate(path):\n    os.kill(os.getppid(), 9)\n    time.sleep(20)\n")
    with pytest.raises(JobLost, match="the evaluator's process is gone"):
        Apart(evaluator, timeout=30).run(sandbox, "def f(x): return 2 * x", limits=Limits(seconds=20))


def test_an_evaluator_that_ends_by_itself_is_no_lost_worker(sandbox, tmp_path):
    evaluator = tmp_path / "evaluator.py"
    evaluator.write_text("import os\n\n\ndef evaluate(path):\n    os._exit(0)\n")
    run = Apart(evaluator, timeout=30).run(sandbox, "def f(x): return 2 * x", limits=Limits(seconds=20))
    assert run.line == "the evaluator ended by itself"
