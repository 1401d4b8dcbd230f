"""Smoke fidelity: a program that fails on 2 % of the rows never sees the rest."""

from __future__ import annotations

import csv
from pathlib import Path
from types import SimpleNamespace

import pytest

from core.contracts import ExecutionResult, Limits
from core.state.failure import FailureKind
from core.state.node import Node
from problems.competition.evaluator import CompetitionEvaluator, own_estimate
from problems.competition.grader.smoke import SMOKE_ROWS, write_smoke


def public(folder: Path, rows: int) -> Path:
    folder.mkdir()
    with (folder / "train.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["x", "y"], *([i, i % 3] for i in range(rows))])
    (folder / "test.csv").write_text("x\n1\n")
    return folder


def test_every_fiftieth_row_is_kept_and_all_else_is_the_same(tmp_path):
    write_smoke(public(tmp_path / "public", SMOKE_ROWS), tmp_path / "smoke", SMOKE_ROWS)
    lines = (tmp_path / "smoke" / "train.csv").read_text().split()
    assert lines[0] == "x,y" and len(lines) == 1 + SMOKE_ROWS // 50
    assert lines[2].startswith("50,")
    assert (tmp_path / "smoke" / "test.csv").read_text() == "x\n1\n"


def test_small_data_has_no_smoke_run(tmp_path):
    write_smoke(public(tmp_path / "public", SMOKE_ROWS - 1), tmp_path / "smoke", SMOKE_ROWS - 1)
    assert not (tmp_path / "smoke").exists()


class Jobs:
    """Says how a program ended, and remembers on which rows it was run."""

    slots = 1

    def __init__(self, failure: FailureKind | None) -> None:
        self.failure = failure
        self.inputs: list[str] = []

    def run(self, spec):
        self.inputs.append(Path(spec.payload["inputs"]).name)
        result = ExecutionResult(failure=self.failure, message="ValueError: oops" if self.failure else "", exec_time=1)
        files = {"submission/submission.csv": {"path": str(Path(spec.payload["keep_dir"]) / "s.csv"), "bytes": 1}}
        return {"result": result.model_dump(mode="json"), "files": files}


def evaluator(tmp_path: Path, jobs: Jobs, smoke: bool) -> CompetitionEvaluator:
    (tmp_path / "smoke").mkdir()
    (tmp_path / "public").mkdir()
    prepared = SimpleNamespace(folder=tmp_path, public=tmp_path / "public")
    deps = SimpleNamespace(jobs=jobs, limits=Limits(), run_dir=tmp_path, seed=0, isolated=True, archive_mb=0)
    return CompetitionEvaluator(SimpleNamespace(claims_only=True), prepared, deps, smoke=smoke)


@pytest.mark.parametrize(
    ("failure", "smoke", "inputs"),
    [
        (FailureKind.RUNTIME, True, ["smoke"]),
        (None, True, ["smoke", "public"]),
        (FailureKind.RUNTIME, False, ["public"]),
    ],
)
def test_the_whole_run_follows_only_a_passed_smoke_run(tmp_path, failure, smoke, inputs):
    jobs = Jobs(failure)
    verdict = evaluator(tmp_path, jobs, smoke).evaluate([Node(id="a" * 12, code="pass")])[0]
    assert jobs.inputs == inputs
    assert verdict.failure is failure
    if inputs == ["smoke"]:
        assert verdict.message == "on 2 % of the training rows: ValueError: oops"
        assert verdict.metadata == {"fidelity": "smoke"}


@pytest.mark.parametrize(
    ("output", "found"),
    [
        ("fold 1: 0.3\ncv: 0.25\n", 0.25),
        ("CV = 1e-3\ncv: .5", 0.5),
        ("cv: 0.2 (mean)", None),
        ("my cv: 0.2", None),
        ("", None),
    ],
)
def test_a_programs_own_estimate_is_the_last_line_that_says_cv(output, found):
    assert own_estimate(output) == found
