"""Runs of the toy open no sandbox: its programs are read and never run.

To start one and to have it searched for answers took half the processor time of such a run, a thousand times over.
Which tier holds and what it withstood is asked as ever. A run that names a sandbox, an interpreter or devices, or gives
a model tools, gets them, and a process that begins anew (`cli.anew`, `cli.start_anew`) opens what a user's does.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing, nullcontext
from typing import Any, NoReturn

import runs.opened_run
from core.contracts import Jobs, Problem
from core.executor.devices import Cards
from core.executor.early import EarlyServer
from core.executor.leaks import Looked
from core.executor.probe import choose
from runs.beginning import selftest
from runs.parts.workers import SandboxAhead, workspaces_dir
from utils.config_schema import Config

_look_for_answers = selftest.look_for_answers


def runs_nothing(config: Config, problem: Problem) -> bool:
    """Whether no program of the run is ever executed, and nothing is asked of its sandbox."""
    execution = config.execution
    asked = execution.sandbox != "auto" or execution.runner != "local" or execution.python or execution.gpus
    return problem.name == "toy" and not asked and not config.agent.tools  # a model's tools run programs


class Unopened:
    """Stands where the sandbox would; has nothing that runs a program."""

    def __init__(self, tier: str) -> None:
        self.tier = tier
        self.cards = Cards(0)

    def hide(self, patterns: Sequence[str]) -> None:
        """Nobody looks."""

    def close(self) -> None:
        """Nothing is open."""

    def run(self, *arguments: Any, **options: Any) -> NoReturn:
        raise AssertionError("a program of the toy is run: tests/support/unopened.py")

    session = run


class Ahead(SandboxAhead):
    """Opens what a run needs."""

    def __init__(
        self, config: Config, problem: Problem, accept_unsandboxed: bool, early: EarlyServer | None = None
    ) -> None:
        self._is_needed = not runs_nothing(config, problem)
        self._places = workspaces_dir(config)
        super().__init__(config, problem, accept_unsandboxed, early)

    def _open(self, options: dict[str, Any]) -> None:
        if self._is_needed:
            super()._open(options)
            return
        try:
            with closing(self._early) if self._early is not None else nullcontext():
                tier = choose("auto", python=None, gpus=0, state_dir=self._places)
            self._opening.set_result(Unopened(tier))  # type: ignore[arg-type]
        except BaseException as error:  # noqa: BLE001 - raised to who takes it
            self._opening.set_exception(error)


def look_for_answers(config: Config, problem: Problem, jobs: Jobs) -> Looked:
    return Looked((), 0, 0.0, 0, 0.0) if runs_nothing(config, problem) else _look_for_answers(config, problem, jobs)


runs.opened_run.SandboxAhead = Ahead  # type: ignore[misc]
selftest.look_for_answers = look_for_answers
