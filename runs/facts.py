"""RunFacts: what is known of a run as soon as one of its processes has put it together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from core.backend.settings import ModelSettings
from core.contracts import Problem
from reports.winner import Standing
from utils.config_schema import Config

NOBODY = Standing()


@dataclass(frozen=True, slots=True)
class RunFacts:
    """Handed to views, logs and the outcome, so that none of them needs the session or the search itself."""

    run_dir: Path
    """`logs/<run>`."""
    config: Config
    problem: Problem
    roles: Mapping[str, ModelSettings]
    """Role (`code`, `feedback`, `refine`) → the model that serves it."""
    sandbox: str
    """The sandbox tier that candidates run in."""
    offline: bool = False
    """True if recorded replies are played and no model is asked."""
    words: tuple[str, ...] = ()
    """The command that began the run, as it was typed, secrets masked; () where none was."""
    standing: Standing = NOBODY
    """Who leads, by what earlier processes found."""
    resumed: bool = False
    """True if an earlier process worked on the run."""
    by_hand: bool = False
    """True if this process takes single steps."""

    @property
    def run(self) -> str:
        """The run's id."""
        return self.run_dir.name

    @property
    def writer(self) -> str:
        """Who writes the programs: provider/model, or `rules`."""
        return self.roles["code"].writer
