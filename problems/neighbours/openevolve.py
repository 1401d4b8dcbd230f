"""OpenEvolve: `initial_program.*`, `evaluator.py`, and `config.yaml` where there is one, as version 0.4.1 has it.

SkyDiscover's tasks have the same files, the evaluator in a folder of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from problems.neighbours import alphaevolve
from problems.neighbours.reading import (
    FromOne,
    FromZero,
    Islands,
    Megabytes,
    Seconds,
    Thresholds,
    Told,
    Translation,
    Word,
    check_sections,
    leaves,
    said_here,
    yaml_of,
)

NAME = "OpenEvolve's config.yaml"
NEEDS = "OpenEvolve's has initial_program.* and evaluator.py"


ARGUMENTS = "evaluator.evaluator_args"
TABLE: Mapping[str, Word] = {
    "prompt.system_message": Word("problem.options.statement", str, str.strip),
    "system_message": Word("problem.options.statement", str, str.strip),
    "diff_based_evolution": Word("problem.options.reply", bool, lambda value: "diff" if value else "program"),
    "allow_full_rewrites": Word("problem.options.reply", bool, lambda value: "program" if value else "diff"),
    "diff_based_generation": Word("problem.options.reply", bool, lambda value: "diff" if value else "program"),
    "evaluator.timeout": Word("problem.options.evaluation_timeout", Seconds),
    "evaluator.cascade_evaluation": Word("problem.options.cascade", bool),
    "evaluator.cascade_thresholds": Word("problem.options.cascade_thresholds", Thresholds),
    ARGUMENTS: Word("problem.options.evaluator_args", dict[str, JsonValue]),
    "evaluator.parallel_evaluations": Word("search.workers", FromOne),
    "evaluator.memory_limit_mb": Word("execution.memory_mb", Megabytes),
    "max_iterations": Word("search.max_steps", FromZero),
    "early_stopping_patience": Word("budget.stagnation", FromOne),
    "random_seed": Word("project.seed", FromZero),
    "database.num_islands": Word("search.islands.num_islands", Islands),
    "database.migration_interval": Word("search.islands.migration_interval", FromZero),
}
"""Their key → ours. Where a file has two that say one thing, the first of them here is read."""
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
EVALUATORS = ("evaluator.py", "evaluator/evaluator.py")


def recognises(folder: Path) -> bool:
    """Not AlphaEvolve's, whose files may be called the same."""
    is_it = _evaluator(folder) is not None and _program(folder) is not None
    return is_it and not alphaevolve.recognises(folder)


def read(folder: Path, told: Told) -> Translation:
    """The folder's program, evaluator and configuration. `null` values are as if they were not there.

    Raises:
        ConfigError: a value of the configuration is none that its key may have.
    """
    keys: dict[str, Any] = {
        "problem.program": str(_program(folder)),
        "problem.evaluator": str(_evaluator(folder)),
    }
    taken: dict[str, str] = {}
    left: list[str] = []
    config, others = _config(folder)
    plain = {key: value for key, value in leaves(yaml_of(config), whole=[ARGUMENTS]) if value is not None}
    check_sections(config, plain, TABLE)
    first = {TABLE[theirs].ours: theirs for theirs in reversed(list(TABLE)) if theirs in plain}
    for theirs, value in plain.items():
        if word := TABLE.get(theirs):
            said = said_here(config, theirs, value, word)
            if first[word.ours] == theirs:
                keys[word.ours], taken[theirs] = said, word.ours
                continue
        if theirs not in (*MODELS, *OUTPUT):
            left.append(theirs)
    return Translation(keys, taken, tuple(left), (*others, *_models(plain)))


def _evaluator(folder: Path) -> Path | None:
    return next((path for name in EVALUATORS if (path := folder / name).is_file()), None)


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
