"""A user's evaluator, and what lies beside it, go to a worker that has never seen this machine's folders."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from core.contracts import Limits, Problem
from core.executor.sandbox import open_sandbox
from core.state.journal import Journal
from core.state.node import Node
from core.workers.node_folder import NodeFolder
from core.workers.pool import JobPool
from core.workers.remote import RemoteJobs
from core.workers.shipping import MOST_BYTES, Answer, check_shippable, serve
from problems.registry import build_problem
from utils.config_schema import Config
from utils.errors import ConfigError

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "openevolve"


class Elsewhere:
    """A worker whose jobs find only what was sent: the sender's folder is moved away while they run."""

    def __init__(self, sandbox, state: Path, hidden: Path) -> None:
        self._sandbox, self._state, self._hidden = sandbox, state, hidden
        self._answer: Answer | None = None

    def ready(self, timeout):
        return True

    def submit(self, spec, inputs):
        away = self._hidden.with_name("away")
        self._hidden.rename(away)
        try:
            read = inputs and NodeFolder(self._state / "node").inputs(inputs[0], lambda: inputs[1])
            *_, self._answer = serve(spec, read, self._sandbox, self._state)
        finally:
            away.rename(self._hidden)

    def poll(self, timeout):
        return self._answer

    def kill(self):
        pass


@pytest.fixture
def remote(tmp_path):
    sandbox = open_sandbox("auto", preload=("math",), state_dir=tmp_path / "sandbox")
    pools = []

    def jobs(folder: Path) -> JobPool:
        pools.append(JobPool(RemoteJobs(lambda: Elsewhere(sandbox, tmp_path / "state", folder), slots=1)))
        return pools[-1]

    yield jobs
    for pool in pools:
        pool.close()
    sandbox.close()


def built(kind: str, folder: Path, **section: object) -> Problem:
    """The problem of a configuration whose jobs run elsewhere."""
    plain = {"problem": {"kind": kind, **section}, "execution": {"runner": "ray"}, "project": {"dir": str(folder)}}
    return build_problem(Config.model_validate(plain))


def deps_of(jobs: JobPool) -> SimpleNamespace:
    return SimpleNamespace(
        jobs=jobs, journal=Journal(lower_is_better=False), limits=Limits(seconds=20), seed=1, isolated=True,
        run_dir=Path(tempfile.mkdtemp()), append=lambda events: None, repeats=0, doing=print,
    )  # fmt: skip


def test_an_evaluator_and_its_sibling_files_are_sent(remote, tmp_path):
    folder = shutil.copytree(EXAMPLES / "sibling_table", tmp_path / "mine")
    problem = built("script", tmp_path, path=str(folder))
    problem.prepare()
    verdict = problem.evaluator(deps_of(remote(folder))).evaluate([Node(id="n", code=problem.code)])[0]
    assert verdict.failure is None, verdict.message
    assert verdict.metric == pytest.approx(0.346141, abs=1e-6) and verdict.source == "verified"


def test_a_command_finds_its_helpers_and_is_graded_there(remote, tmp_path):
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "a.sh").write_text("echo 7 > output.txt\n./helper\n")
    (folder / "helper").write_text("#!/bin/sh\necho 5 >> output.txt\n")
    (folder / "helper").chmod(0o755)
    (folder / "grade.sh").write_text(
        "echo score: $(tr '\\n' ' ' < $1 | sed 's/ /+/;s/ //' | xargs -I{} sh -c 'echo $(({}))')\n"
    )
    section = {"source": str(folder / "a.sh"), "eval": "sh a.sh", "metric": "score", "grade": "sh grade.sh {output}"}
    problem = built("command", tmp_path, **section)
    problem.prepare()
    verdict = problem.evaluator(deps_of(remote(folder))).evaluate([Node(id="n", code=problem.code)])[0]
    assert (verdict.metric, verdict.source) == (12, "verified"), verdict.message


def test_a_folder_that_was_not_meant_is_refused(tmp_path):
    with (tmp_path / "huge.bin").open("wb") as file:
        file.truncate(MOST_BYTES + 1)
    (tmp_path / "evaluator.py").write_text("def evaluate(path):\n    return 1.0\n")
    (tmp_path / "initial_program.py").write_text("")
    with pytest.raises(ConfigError, match=r"problem\.evaluator: its folder .* 256 MB"):
        built("script", tmp_path, path=str(tmp_path)).prepare()
    (tmp_path / "huge.bin").unlink()
    check_shippable(tmp_path, "evaluator")
