"""The problems that a configuration can name: those that come along, a package's, and those of a plug-in folder."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from pydantic import BaseModel

from core.contracts import Problem, ProblemDefaults, with_defaults
from problems.neighbours import translate
from utils.config_schema import Config
from utils.errors import ConfigError, SwarmEvoError
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


def option_models(config: Config) -> Sequence[type[BaseModel]]:
    """What `problem.options` of the configured problem may hold: `OPTIONS`, beside `build`; () where that says nothing.

    Raises ConfigError where there is no problem of that kind.
    """
    build = PROBLEMS.get(config.problem.kind or config.presets.problem, config.plugin_folders)
    found: Sequence[type[BaseModel]] = getattr(sys.modules.get(build.__module__), "OPTIONS", ())
    return found


def build_problem(config: Config) -> Problem:
    """The problem that the configuration names; a neighbour's folder is put into keys of ours first.

    Raises ConfigError where there is none of that kind.
    """
    translate(config)
    kind = config.problem.kind or config.presets.problem
    build = PROBLEMS.get(kind, config.plugin_folders)
    folder = Path(config.project.dir).resolve()
    if PROBLEMS.is_builtin(kind):
        return with_defaults(build(config, folder), ProblemDefaults)
    try:
        problem = build(config, folder)
    except SwarmEvoError:
        raise
    except (Exception, SystemExit) as error:  # another party's code: whatever it raises is told in one line
        reason = f"{type(error).__name__}: {' '.join(str(error).split())}"
        raise ConfigError(f"problem.kind={kind}: build(cfg, project_dir) raises {reason}"[:500]) from error
    _check(problem, kind)
    return with_defaults(problem, ProblemDefaults)


def _check(problem: object, kind: str) -> None:
    """ConfigError: what a problem of the user's lacks of what is told of every one."""
    if isinstance(problem, type) or not hasattr(problem, "__dict__"):
        raise ConfigError(f"problem.kind={kind}: build gives {problem!r:.80}, not an object of a problem's class")
    for name in ("name", "unit"):
        text = getattr(problem, name, None)
        if not isinstance(text, str) or not text.strip():
            means = "what the metric is called" if name == "unit" else "what it is called"
            raise ConfigError(f"problem.kind={kind}: {name} is {text!r:.60}; a text is needed: {means}")
    reads = getattr(problem, "reads", None)
    if isinstance(reads, str):
        raise ConfigError(f"problem.kind={kind}: reads is the text {reads!r:.60}; a tuple is needed: ({reads!r:.60},)")
    if not isinstance(lower := getattr(problem, "lower_is_better", None), bool):
        raise ConfigError(f"problem.kind={kind}: lower_is_better is {lower!r:.60}; allowed: True, False")
