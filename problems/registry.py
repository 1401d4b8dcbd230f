"""The problems that a configuration can name: those that come along, a package's, and those of a plug-in folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from core.contracts import Problem, ProblemDefaults, with_defaults
from problems.neighbours import translate
from utils.config_schema import Config
from utils.registry import Registry

ProblemBuilder = Callable[[Config, Path], Problem]
"""`build(cfg, project_dir)`: reads what it needs from the configuration, and gives the problem."""

PROBLEMS: Registry[ProblemBuilder] = Registry(
    key="problem.kind",
    kind="problems",
    attribute="build",
    spec=Callable,  # type: ignore[arg-type]
    builtin={
        "competition": "problems.competition.problem:build",
        "bin_packing": "problems.bin_packing.problem:build",
        "tsp": "problems.tsp.problem:build",
        "script": "problems.script.problem:build",
        "command": "problems.command.problem:build",
        "connect_four": "problems.connect_four.problem:build",
        "chess_engines": "problems.chess_engines.problem:build",
    },
    files=("problems/*.py", "problems/*/problem.py", "*/problem.py", "*.py"),
)


def build_problem(config: Config) -> Problem:
    """The problem that the configuration names; a neighbour's folder is put into keys of ours first.

    Raises ConfigError where there is none of that kind.
    """
    translate(config)
    kind = config.problem.kind or config.presets.problem
    build = PROBLEMS.get(kind, config.plugin_folders)
    return with_defaults(build(config, Path(config.project.dir).resolve()), ProblemDefaults)
