"""Finds a problem by kind: built in, from an installed package, or from a folder of the user's."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from core.contracts import ProblemDefaults, with_defaults
from problems import BUILTIN
from utils.errors import ConfigError

if TYPE_CHECKING:
    from core.contracts import Problem
    from utils.config_schema import Config

GROUP = "swarm_evo.problems"


def build_problem(config: Config) -> Problem:
    """The problem that the configuration names."""
    kind = config.problem.kind or config.presets.problem
    module = _module(kind, config.problem.plugins)
    if not hasattr(module, "build"):
        raise ConfigError(f"problem.kind={kind}: {module.__file__} has no `build(cfg, project_dir)`")
    problem: Problem = module.build(config, Path(config.project.dir).resolve())
    return with_defaults(problem, ProblemDefaults)


def _module(kind: str, plugins: str | None) -> ModuleType:
    if kind in BUILTIN:
        return importlib.import_module(BUILTIN[kind])
    for point in entry_points(group=GROUP):
        if point.name == kind:
            found = point.load()
            return found if isinstance(found, ModuleType) else sys.modules[found.__module__]
    if plugins:
        return _from_folder(Path(plugins), kind)
    raise ConfigError(
        f"problem.kind={kind}: unknown; allowed: {', '.join(BUILTIN)}, entry points of {GROUP}, "
        "files in problem.plugins"
    )


def _from_folder(folder: Path, kind: str) -> ModuleType:
    """`<plugins>/<kind>/problem.py` or `<plugins>/<kind>.py`, loaded under a name that shadows nothing."""
    for path in (folder / kind / "problem.py", folder / f"{kind}.py"):
        if path.is_file():
            name = f"swarm_evo_plugin_{kind}"
            spec = importlib.util.spec_from_file_location(name, path)
            assert spec is not None and spec.loader is not None
            module = importlib.util.module_from_spec(spec)
            sys.modules[name] = module
            try:
                spec.loader.exec_module(module)
            except Exception as error:  # the user's own file: whatever it raises is told in one line
                reason = f"{type(error).__name__}: {error}"
                raise ConfigError(f"problem.plugins: {path} cannot be loaded: {reason}") from error
            return module
    raise ConfigError(f"problem.plugins={folder}: no '{kind}/problem.py' and no '{kind}.py' in it")
