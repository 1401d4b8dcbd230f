"""What the Python front is given, as words of the command line."""

from __future__ import annotations

import difflib
import json
import os
import re
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from swarm_evo.arguments import checked_path, shown
from swarm_evo.errors import SearchError
from swarm_evo.kept import KeptFiles
from swarm_evo.source import pickled

BUDGET = ("steps", "seconds", "tokens", "usd", "target", "stagnation", "repeats", "nothing_left")
"""What `budget=` may name: the keys below `budget`, and `steps` for `search.max_steps`."""
TABLES = ("data.train", "data.test", "data.labels")
"""Settings that may be data frames."""
LISTS = ("initial", "plugins")
"""Settings that belong to no section."""
LIKE = "search__policy='islands'"
_ONE_WORD = re.compile(r"[\w./,:@~+${}-]*")


def search_words(
    kept: KeptFiles,
    *,
    problem: str | Path | Mapping[str, Any] | None,
    program: str | Path | None,
    evaluate: Callable[[str], Any] | str | Path | None,
    direction: str | None,
    llm: str | Path | Mapping[str, Any] | None,
    config: str | Path | None,
    budget: Mapping[str, Any] | None,
    seed: int | None,
    settings: Mapping[str, Any],
) -> list[str]:
    """Words for a search of these arguments."""
    return [
        *problem_words(problem, program, evaluate, kept),
        *preset_words("llm", llm),
        *config_words(config),
        *keys(budget or {}, kept, {"problem.direction": direction, "project.seed": seed}, settings),
    ]


def check_kept(call: str, fixed: Mapping[str, Any]) -> None:
    """SearchError: beside `run` stands what a run keeps."""
    given = next((name for name, value in fixed.items() if value is not None), None)
    if given is not None:
        raise SearchError(f"{call}(run=…, {given}=…): a run keeps what it searches; leave out {given}, or run")


def problem_words(
    problem: str | Path | Mapping[str, Any] | None,
    program: str | Path | None,
    evaluate: Callable[[str], Any] | str | Path | None,
    kept: KeptFiles,
) -> list[str]:
    """Words for what is searched: a preset, or a program of the user's with its evaluator."""
    if program is None:
        if evaluate is not None:
            raise SearchError("evaluate= scores a program of yours: it needs program=, the file with it")
        return preset_words("problem", problem)
    if problem is not None and not isinstance(problem, Mapping):
        raise SearchError(f"problem={shown(problem)} and program=: one of them says what is searched")
    if evaluate is None:
        raise SearchError("search(program=…) needs evaluate=: a function of the program's path, or a file")
    file = checked_path("program", program)
    evaluator = _evaluator(evaluate, kept)
    words = ["--problem=script", f"problem.program={file}", f"problem.evaluator={evaluator}"]
    return words + preset_words("problem", problem)


def preset_words(section: str, given: str | Path | Mapping[str, Any] | None) -> list[str]:
    """Words for a section of the configuration: its preset, or settings of it."""
    if given is None:
        return []
    if isinstance(given, Mapping):
        return [f"{section}.{key}={word_of(f'{section}.{key}', value)}" for key, value in given.items()]
    if not isinstance(given, str | Path):
        raise SearchError(f"{section}={shown(given)}: the name of a preset, or a mapping with settings of {section}")
    return [f"--{section}={given}"]


def rights(*, trust: bool, accept_unsandboxed: bool) -> list[str]:
    """Words for what the user answers for."""
    given = {"--i-trust-this-run": trust, "--i-accept-unsandboxed": accept_unsandboxed}
    return [word for word, is_given in given.items() if is_given]


def config_words(config: str | Path | None) -> list[str]:
    """Words for a file of settings."""
    return [] if config is None else [f"--config={checked_path('config', config)}"]


def keys(budget: Mapping[str, Any], kept: KeptFiles, more: Mapping[str, Any], settings: Mapping[str, Any]) -> list[str]:
    """Configuration keys as words; what is None in `more` is left out."""
    if not isinstance(budget, Mapping):
        raise SearchError(f"budget={shown(budget)}: a mapping such as {{'steps': 30}}; allowed: {', '.join(BUDGET)}")
    unknown = next((name for name in budget if name not in BUDGET), None)
    if unknown is not None:
        near = difflib.get_close_matches(unknown, BUDGET, 1)
        meant = f" (did you mean '{near[0]}'?)" if near else ""
        raise SearchError(f"budget has no '{unknown}'{meant}; allowed: {', '.join(BUDGET)}")
    named: dict[str, Any] = {"project.dir": kept.project_dir}
    named |= {"search.max_steps" if name == "steps" else f"budget.{name}": value for name, value in budget.items()}
    named |= {name: value for name, value in more.items() if value is not None}
    for name, value in settings.items():
        if not isinstance(value, Mapping) and "__" not in name and name not in LISTS:
            raise SearchError(
                f"there is no argument {name}={shown(value)}; a setting is section__key=value, such as {LIKE}"
            )
        section = value if isinstance(value, Mapping) else {"": value}
        named.update({f"{name.replace('__', '.')}.{key}".rstrip("."): given for key, given in section.items()})
    return [f"{name}={word_of(name, _kept_table(name, value, kept))}" for name, value in named.items()]


def _kept_table(key: str, value: Any, kept: KeptFiles) -> Any:
    """The file that keeps a data frame of pandas or polars; any other value as it is. An index with a name is a column.

    Raises:
        SearchError: a data frame where a table is not what is asked for, or one that cannot be kept.
    """
    name = key.replace(".", "__")
    if not (hasattr(value, "columns") and (hasattr(value, "to_csv") or hasattr(value, "write_csv"))):
        if key in TABLES and not isinstance(value, str | Path | None):
            raise SearchError(f"{name}={shown(value)}: a table is a data frame with named columns, or a file's path")
        return value
    if key not in TABLES:
        raise SearchError(f"{name}: a data frame is given as {' or '.join(TABLES).replace('.', '__')}")
    if getattr(value.columns, "nlevels", 1) > 1:
        raise SearchError(f"{name}: the data frame's columns have names of several levels; give each a single one")
    has_index = any(name is not None for name in getattr(getattr(value, "index", None), "names", ()))
    write = partial(value.to_csv, index=has_index) if hasattr(value, "to_csv") else value.write_csv
    return kept.keep_written(f"{key.partition('.')[2]}.csv", write)


def word_of(key: str, value: Any) -> str:
    """A value as the command line reads it, in YAML: a text of several words stays one, whatever marks it holds.

    Raises:
        SearchError: it is nothing that YAML has; its text would mean something else there.
    """
    value = str(value) if isinstance(value, os.PathLike) else value
    if isinstance(value, str) and _ONE_WORD.fullmatch(value):
        return value
    try:
        return json.dumps(value, ensure_ascii=False, default=_plain)
    except (TypeError, ValueError) as error:
        name = key.replace(".", "__")
        raise SearchError(f"{name}={shown(value)}: a text, a number, a list or a mapping is needed") from error


def _plain(value: Any) -> Any:
    """What JSON has in place of an array, a number of one, or a path. TypeError: nothing."""
    return value.tolist() if hasattr(value, "tolist") else os.fspath(value)


def _evaluator(evaluate: Callable[[str], Any] | str | Path, kept: KeptFiles) -> Path:
    """The evaluator as a file: a path as it is, a function pickled by value."""
    if isinstance(evaluate, str | Path):
        return checked_path("evaluate", evaluate)
    if not callable(evaluate):
        raise SearchError(f"evaluate={shown(evaluate)}: a function of the program's path, or a file with one")
    return kept.keep(pickled(evaluate), "evaluate.pkl")
