"""A search from Python inside a checkout: `Orchestrator.of(config).run(max_steps=20)` → the best node."""

from __future__ import annotations

from pathlib import Path

from core.loop import orchestrator
from core.state.journal import Journal
from core.state.node import Node
from runs.beginning.preflight import preflight
from runs.ending.outcome import Outcome
from runs.session import RunSession
from runs.view import View
from utils.config_schema import Config


class LibraryRun:
    """One run, from its configuration to its best node. Nothing is opened before `run`, and all is closed after it.

    Attributes:
        run_dir: `logs/<run>`; None before the first `run`.
        journal: every node so far; None before the first `run`.
        outcome: why the search ended, the final score, the baselines; None if it was interrupted.
    """

    def __init__(self, config: Config, *, view: View | None = None, accept_unsandboxed: bool = False) -> None:
        self.run_dir: Path | None = None
        self.journal: Journal | None = None
        self.outcome: Outcome | None = None
        self._config = config
        self._view = view
        self._accept = accept_unsandboxed

    def run(self, max_steps: int | None = None) -> Node | None:
        """Search until a limit is reached and return the winner; None if no program was valid.

        Called again, the same run goes on: `run(20)`, then `run(40)` for twenty steps more. After Ctrl-C it returns the
        best so far.

        Args:
            max_steps: steps of the whole run, in place of `search.max_steps`.

        Raises:
            ConfigError, NoSandboxError: before anything has run.
        """
        config, limit = self._config, self._config.search.max_steps
        if max_steps is not None:
            config = _with_steps(config, max_steps)
        preflight(config)
        with RunSession(config, self.run_dir, view=self._view, accept_unsandboxed=self._accept) as session:
            self._config = _with_steps(config, limit)  # what was fitted to the first steps is this run's for good
            self.run_dir, self.journal = session.run_dir, session.search.journal
            session.run()
            self.outcome = session.outcome
        return self.outcome.best if self.outcome else self.journal.get_best_node()


def _with_steps(config: Config, max_steps: int | None) -> Config:
    search = config.search.model_copy(update={"max_steps": max_steps})
    return config.model_copy(update={"search": search})


class Orchestrator(orchestrator.Orchestrator):
    """The loop, with the one thing that it cannot know itself: how a whole run is put together."""

    @classmethod
    def of(cls, config: Config, *, view: View | None = None, accept_unsandboxed: bool = False) -> LibraryRun:
        """A run of this configuration.

        Args:
            view: told of everything that happens; nobody watches without one.
            accept_unsandboxed: needed with `execution.sandbox=none`: programs then run with your rights.
        """
        return LibraryRun(config, view=view, accept_unsandboxed=accept_unsandboxed)
