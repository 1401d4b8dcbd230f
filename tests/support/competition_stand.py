"""A competition from preparation to score on a plain runner without a sandbox, and programs that hand in a table.

`prepared_here` and `JudgeHere` do in this process what a competition's trusted children do.
"""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from support.forked_processes import Done, forked

from core.contracts import EvaluatorDeps, JobSpec, Limits
from core.evaluation.grading import GradingFault
from core.state.journal import Journal
from core.state.node import Node
from problems.competition.grader import grade, prepare
from problems.competition.problem import build
from utils.config import load_config

SUBMISSION = "submission/submission.csv"


def prepared_here(command: Sequence[str], request: Mapping[str, Any], **_: Any) -> Any:
    """`run_trusted` of a child that prepares."""
    return _sent(prepare.prepare(_sent(request)))


class JudgeHere:
    """`TrustedChild` of a judge."""

    def __init__(self, command: Sequence[str], hello: Mapping[str, Any]) -> None:
        self._hello: Mapping[str, Any] | None = hello
        self._handle = grade.handler()

    def start(self) -> None:
        """It is there."""

    def ask(self, request: Mapping[str, Any]) -> Any:
        try:
            if self._hello is not None:
                self._handle(_sent(self._hello))
                self._hello = None
            return _sent(self._handle(_sent(request)))
        except Exception as error:
            raise GradingFault(f"{type(error).__name__}: {error}") from error

    def close(self) -> None:
        """It ends with the test."""


def _sent(message: Any) -> Any:
    """As it comes out of a frame."""
    return json.loads(json.dumps(message))


LEARNERS = (
    "pandas", "sklearn.compose", "sklearn.dummy", "sklearn.ensemble", "sklearn.impute", "sklearn.linear_model",
    "sklearn.model_selection", "sklearn.pipeline", "sklearn.preprocessing",
)  # fmt: skip
"""What programs that learn import."""


def learned(code: str, folder: Path) -> Done:
    """How a program of a competition ended in a folder that holds its `input/`. What it imports is loaded already."""
    with tempfile.TemporaryDirectory() as own:
        program = Path(own, "solution.py")
        program.write_text(code)
        return forked(*LEARNERS).run([str(program)], folder, {**os.environ, "OMP_NUM_THREADS": "1"}, 400)


class PlainJobs:
    """Runs `run_script` payloads as plain child processes."""

    slots = 1

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(exist_ok=True)

    def run(self, spec: JobSpec) -> dict:
        payload = spec.payload
        work = Path(tempfile.mkdtemp(dir=self._folder))
        (work / "submission").mkdir()
        (work / "input").symlink_to(payload["inputs"])
        (work / "solution.py").write_text(payload["code"])
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        if "sklearn" in payload["code"] or "pandas" in payload["code"]:
            done = forked(*LEARNERS).run(["solution.py"], work, environment, 400)
        else:
            command = [sys.executable, "solution.py"]
            done = subprocess.run(command, cwd=work, env=environment, capture_output=True, text=True, timeout=400)
        result = {"term_out": done.stdout + done.stderr, "exec_time": 0.1}
        if done.returncode:
            result |= {"failure": "runtime", "message": done.stderr.strip().splitlines()[-1]}
        kept = Path(payload["keep_dir"]) / SUBMISSION
        if not (work / SUBMISSION).is_file():
            return {"result": result, "files": {SUBMISSION: {"error": "not written"}}}
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_bytes((work / SUBMISSION).read_bytes())
        return {"result": result, "files": {SUBMISSION: {"path": str(kept), "bytes": kept.stat().st_size}}}

    def map(self, specs) -> list:
        return [self.run(spec) for spec in specs]


class Stand:
    """A problem with its evaluator."""

    def __init__(self, folder: Path, *words: str, jobs=None, isolated: bool = True) -> None:
        self.run_dir = folder / "logs" / "run"
        self.run_dir.mkdir(parents=True, exist_ok=True)
        self.problem = build(load_config(None, ["search.smoke=false", *words]), folder)
        self.problem.prepare()
        self.jobs = jobs or PlainJobs(folder / "jobs")
        deps = EvaluatorDeps(
            jobs=self.jobs, limits=Limits(), run_dir=self.run_dir, work_dir=folder, seed=1,
            journal=Journal(lower_is_better=self.problem.lower_is_better), games=None, append=lambda events: None,
            isolated=isolated,
        )  # fmt: skip
        self.evaluator = self.problem.evaluator(deps)
        self._serial = 0

    def score(self, code: str):
        node = self.node(code)
        (verdict,) = self.evaluator.evaluate([node])
        return node, verdict

    def node(self, code: str) -> Node:
        self._serial += 1
        return Node(id=f"n{self._serial}", code=code)

    def close(self) -> None:
        self.evaluator.close()


def writes(change: str) -> str:
    """A program that writes the sample submission after `change` (lines that edit `rows`, a list of dicts)."""
    return (
        "import csv, math\n"
        "rows = list(csv.DictReader(open('input/sample_submission.csv')))\n"
        f"{change}\n"
        "with open('submission/submission.csv', 'w', newline='') as file:\n"
        "    writer = csv.DictWriter(file, rows[0].keys()); writer.writeheader(); writer.writerows(rows)\n"
    )


def column(path: Path, name: str) -> list[str]:
    with path.open(newline="") as file:
        return [row[name] for row in csv.DictReader(file)]
