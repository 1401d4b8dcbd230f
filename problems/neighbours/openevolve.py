"""OpenEvolve: `initial_program.*`, `evaluator.py`, and `config.yaml` where there is one, as version 0.4.0 has it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from problems.neighbours.reading import Translation, leaves, yaml_of

NAME = "OpenEvolve's config.yaml"
NEEDS = "OpenEvolve's has initial_program.* and evaluator.py"


def _as_it_is(value: Any) -> Any:
    return value


def _reply(value: Any) -> str:
    return "diff" if value else "program"


def _cleaned(value: Any) -> str:
    return str(value).strip()


TABLE: Mapping[str, tuple[str, Callable[[Any], Any]]] = {
    "prompt.system_message": ("problem.options.statement", _cleaned),
    "system_message": ("problem.options.statement", _cleaned),
    "diff_based_evolution": ("problem.options.reply", _reply),
    "allow_full_rewrites": ("problem.options.reply", lambda value: "program" if value else "diff"),
    "evaluator.timeout": ("problem.options.evaluation_timeout", float),
    "evaluator.cascade_evaluation": ("problem.options.cascade", bool),
    "evaluator.cascade_thresholds": ("problem.options.cascade_thresholds", _as_it_is),
    "evaluator.parallel_evaluations": ("search.workers", int),
    "evaluator.memory_limit_mb": ("execution.memory_mb", int),
    "max_iterations": ("search.max_steps", int),
    "early_stopping_patience": ("budget.stagnation", int),
    "database.num_islands": ("search.islands.num_islands", int),
    "database.migration_interval": ("search.islands.migration_interval", int),
}
"""Their key → (ours, how the value is said)."""
MODELS = ("llm.primary_model", "llm.models", "llm.secondary_model")
OUTPUT = (
    "log_level",
    "log_dir",
    "checkpoint_interval",
    "language",
    "file_suffix",
    "database.log_prompts",
    "database.db_path",
)
"""Say nothing about the search, or are known without."""

PROGRAMS = ("initial_program.*", "init_program.*", "initial_prompt.*")
"""What the program is called, the usual name first."""


def recognises(folder: Path) -> bool:
    return (folder / "evaluator.py").is_file() and _program(folder) is not None


def read(folder: Path, metric: str | None, python: str) -> Translation:
    """The folder's program, evaluator and configuration. `null` values are as if they were not there."""
    keys: dict[str, Any] = {
        "problem.program": str(_program(folder)),
        "problem.evaluator": str(folder / "evaluator.py"),
    }
    taken: dict[str, str] = {}
    left: list[str] = []
    config, others = _config(folder)
    plain = {key: value for key, value in leaves(yaml_of(config)) if value is not None}
    for theirs, value in plain.items():
        ours, said = TABLE.get(theirs, ("", _as_it_is))
        if ours:
            keys[ours], taken[theirs] = said(value), ours
        elif theirs not in (*MODELS, *OUTPUT):
            left.append(theirs)
    return Translation(keys, taken, tuple(left), (*others, *_models(plain)))


def _program(folder: Path) -> Path | None:
    """`initial_program.*`, in Python rather than another language; else by another name that its users give it."""
    for pattern in PROGRAMS:
        found = sorted(path for path in folder.glob(pattern) if path.is_file())
        if found:
            return next((path for path in found if path.suffix == ".py"), found[0])
    return None


def _config(folder: Path) -> tuple[Path, Sequence[str]]:
    """The file that is read (it may not be there), and a word on others: a folder may have one for each phase."""
    usual = folder / "config.yaml"
    if usual.is_file():
        return usual, ()
    found = sorted(path for path in folder.glob("config*.y*ml") if path.is_file())
    if not found:
        return usual, ()
    others = ", ".join(path.name for path in found[1:])
    return found[0], [f"{found[0].name} is read" + (f", and not {others}" if others else "")]


def _models(plain: Mapping[str, Any]) -> list[str]:
    """Which models the folder was made for: who is asked is the user's to say."""
    models = plain.get("llm.models")
    names = [model.get("name") for model in models if isinstance(model, dict)] if isinstance(models, list) else []
    named = [name for name in (plain.get("llm.primary_model"), plain.get("llm.secondary_model"), *names) if name]
    if not named:
        return []
    return [f"its models are {', '.join(map(str, named))}; say --llm=PROVIDER --llm.code.model=NAME to ask one"]
