"""Where programs are screened a round is judged together: a worker that is lost is one program's matter."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from core.contracts import Limits
from core.evaluation.isolation.decider import READS
from core.evaluation.isolation.decision import UNTRIED, Decision
from core.state.failure import FailureKind
from core.state.journal import Journal
from core.state.node import Node
from problems.script.evaluator import DECISION, ScriptEvaluator
from utils.errors import JobLost


class Jobs:
    """Scores by the number in a program, one more beside the evaluator; loses what `lost` says of a payload."""

    slots = 2

    def __init__(self, lost):
        self.lost = lost

    def run(self, spec):
        if self.lost(spec.payload):
            raise JobLost("the worker was lost 3 times")
        score = float(spec.payload["code"].split("=")[1]) + spec.payload["beside"]
        return {"value": {"metrics": {"combined_score": score}}, "isolated": not spec.payload["beside"]}

    def map(self, specs):
        return [self.run(spec) for spec in specs]


@pytest.fixture
def judged(tmp_path):
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / DECISION).write_text(Decision(isolation="screen").model_dump_json())

    def judged(lost, *codes):
        deps = SimpleNamespace(
            jobs=Jobs(lost), journal=Journal(), limits=Limits(seconds=5), seed=1, isolated=True, repeats=0,
            run_dir=tmp_path, tune_trials=3,
        )  # fmt: skip
        evaluator = ScriptEvaluator(
            deps, tmp_path / "evaluator.py", program="x=0", options={}, isolation="auto", shows=[], metric=None,
            timeout=5, lower_is_better=False,
        )  # fmt: skip
        return evaluator.evaluate([Node(id=code.replace("=", "_"), code=code) for code in codes])

    return judged


def test_a_program_that_takes_its_worker_along_fails_alone(judged):
    lost, sound = judged(lambda payload: payload["code"] == "x=9", "x=9", "x=1")
    assert (lost.failure, sound.failure) == (FailureKind.LOST_WORKER, FailureKind.TAMPERED)


def test_a_third_score_that_is_lost_leaves_the_one_apart(judged):
    """It asks whether the program's own chance explains a difference; the round, and with it the run, went down."""
    (verdict,) = judged(lambda payload: payload["seed"] == 2, "x=1")
    assert (verdict.metric, verdict.failure) == (1.0, None)


def test_what_is_doubtful_of_scores_apart_is_told_a_time_or_a_text_that_was_looked_at(tmp_path):
    """A reference that was timed against itself got 0.05 in place of 1: the way to the sandbox was in the time."""
    (tmp_path / "evaluator.py").write_text("")
    told = []
    for reason, doubt in ((UNTRIED, ""), ("", ""), (READS, "it found what stands in for it")):
        decision = Decision(isolation="apart", reason=reason, doubt=doubt, scores=(1.0,))
        answer = {
            "decision": decision.model_dump(mode="json"),
            "run": {"value": {"metrics": {"combined_score": 1.0}}, "isolated": True},
        }
        deps = SimpleNamespace(
            jobs=SimpleNamespace(slots=1, run=lambda spec, answer=answer: answer), journal=Journal(), seed=1, repeats=0,
            limits=Limits(seconds=5), isolated=True, run_dir=tmp_path / f"run{len(reason)}", tune_trials=3,
            doing=lambda what: None, append=lambda events: told.extend(event.text for event in events),
        )  # fmt: skip
        (deps.run_dir / "files").mkdir(parents=True)
        evaluator = ScriptEvaluator(
            deps, tmp_path / "evaluator.py", program="x=1", options={}, isolation="auto", shows=[], metric=None,
            timeout=5, lower_is_better=False,
        )  # fmt: skip
        assert evaluator.evaluate([Node(id="one", code="x=1")])[0].metric == 1
    assert len(told) == 2 and "--problem.options.isolation=together" in told[0]
    assert told[1] == "scores may be none of the programs': it found what stands in for it"
