"""A problem with its data: whatever is refused before a run begins is refused here, for the run and for its plan."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from core.contracts import Problem
from core.executor.open_files import slots_with_room
from runs.beginning.fitting import fit_to_problem, fit_to_steps, fit_to_writer
from runs.beginning.unused_words import check_typed, check_words
from runs.composition import problem_of
from runs.parts.workers import programs_of
from runs.recorded.scoring_record import check_scored_by
from runs.run_folder import check_place
from utils.config_schema import Config
from utils.errors import NoSandboxError

READYING = "the data of the problem are made ready"


def fitted(config: Config) -> Problem:
    """The problem of a new run, whose configuration is fitted to it, to its writer and to its steps.

    Raises:
        ConfigError: there is no such problem; what does not depend on it is fitted.
    """
    fit_to_writer(config)
    fit_to_steps(config)
    problem = problem_of(config)
    return problem_of(config) if fit_to_problem(config, problem) else problem


def made_ready(
    config: Config,
    *,
    accept_unsandboxed: bool,
    doing: Callable[[str], None] = lambda text: None,
    run_dir: Path | None = None,
    beside: Callable[[Problem], None] = lambda problem: None,
) -> Problem:
    """The problem of a configuration, prepared: its data are read, checked and split.

    Args:
        run_dir: the run that goes on; None for a new one, whose words and place are looked at first.
        beside: begins what may go on while the data are made ready.

    Raises:
        ConfigError, NoSandboxError: no run may begin so. Nothing has run, and no run was made.
    """
    if config.execution.sandbox == "none" and not accept_unsandboxed:
        raise NoSandboxError("execution.sandbox=none runs programs unprotected; add --i-accept-unsandboxed to mean it")
    problem = problem_of(config) if run_dir is not None else fitted(config)
    if run_dir is None:
        check_words(config, problem)
        check_place(config.project.dir)
    else:
        check_typed(config, problem)
        problem.restore(run_dir)
        check_scored_by(run_dir, problem)
    slots_with_room(1, programs_of(problem))
    beside(problem)
    doing(READYING)
    problem.tells_to(doing)
    problem.prepare()
    if run_dir is not None:
        check_scored_by(run_dir, problem, gone=True)
    return problem
