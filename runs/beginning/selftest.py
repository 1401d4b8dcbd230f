"""The self-test of a start: a program looks for the hidden answers where programs run; a run in which it finds one is
refused.
"""

from __future__ import annotations

import shutil
import threading
from contextlib import ExitStack

from core.contracts import Jobs, Problem
from core.executor.leaks import Looked, search_spec, told_by
from problems.registry import build_problem
from runs.parts.workers import open_workers, workspaces_dir
from utils.config_schema import Config
from utils.errors import DISK_FAULTS, BudgetExhausted, JobStopped, NoSandboxError
from utils.logger_system import log_msg
from utils.scratch_folders import scratch_folder


def look_for_answers(config: Config, problem: Problem, jobs: Jobs) -> Looked:
    """Run the search once in the sandbox of `jobs`, and say what it found."""
    hidden, patterns = problem.hidden_files, problem.hidden_data
    with search_spec(workspaces_dir(config), hidden, patterns, problem.shown_folder, problem.shows_answers) as spec:
        return told_by(jobs.run(spec))


def search_once(config: Config) -> Looked:
    """The same outside of a run, for the configured problem, which is prepared.

    Raises:
        ConfigError: there is no such problem, or its data cannot be prepared. SandboxError: no search could be made.
    """
    problem = build_problem(config)
    problem.prepare()
    with ExitStack() as parts:
        folder = parts.enter_context(scratch_folder("swarm-evo-self-test-"))
        parts.callback(shutil.rmtree, workspaces_dir(config) / folder.name, ignore_errors=True)
        jobs, _ = open_workers(config, problem, folder, False, parts)
        return look_for_answers(config, problem, jobs)


class SelfTest:
    """The search in a thread of its own, from the making on: the sandbox and all else start beside it."""

    def __init__(self, config: Config, problem: Problem, jobs: Jobs) -> None:
        self._arguments = (config, problem, jobs)
        self._looked: Looked | None = None
        self._error: Exception | None = None
        self._thread = threading.Thread(target=self._work, name="self-test", daemon=True)
        self._thread.start()

    def wait(self) -> None:
        """Return once it is known that nothing was found; nothing untrusted runs before.

        Raises:
            NoSandboxError: an answer was found, or the search could not be made. OSError: the disk is full or broken.
        """
        self._thread.join()
        if isinstance(self._error, OSError) and self._error.errno in DISK_FAULTS:
            raise self._error
        if self._error is not None:
            raise NoSandboxError(f"the sandbox could not be searched for hidden answers: {self._error}")
        if self._looked is None:
            return
        if self._looked.found:
            raise NoSandboxError(f"{self._looked.sentence}; keep answers out of what programs see; nothing was scored")
        log_msg("INFO", self._looked.sentence)
        self._looked = None

    def _work(self) -> None:
        try:
            self._looked = look_for_answers(*self._arguments)
        except (BudgetExhausted, JobStopped):  # the run ends before it begins
            return
        except Exception as error:  # noqa: BLE001 - what was not searched is not clean, whatever broke
            self._error = error
