"""Files of the user's that a stored configuration names: which are not here, and how they are given again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from utils.dataset_files import files_named
from utils.errors import ConfigError
from utils.user_path import user_path

KEYS = (
    "problem.path", "problem.program", "problem.evaluator", "problem.source", "data.dir", "data.train", "data.test",
    "data.labels", "arena.book", "prompts.dir", "problem.plugins", "plugins", "initial",
)  # fmt: skip
"""Keys whose values are files or folders, or lists of them."""
TABLES = ("data.train", "data.test", "data.labels")
"""Keys whose values may be patterns, too."""
_MOST = 3
"""Files that a line names."""


def missing_files(plain: Mapping[str, Any]) -> list[tuple[str, str]]:
    """(key, value) of each file or folder that is named and not here."""
    beside = user_path((plain.get("data") or {}).get("dir") or ".")
    return [
        (key, value)
        for key, value, path in _named(plain)
        if not user_path(path).exists() and not (key in TABLES and files_named(beside, value))
    ]


def how_to_give(plain: Mapping[str, Any], command: str) -> str:
    """A sentence that names the files that are not here, and says how to give them; '' where none is missing.

    Args:
        command: to which the keys are added.
    """
    missing = missing_files(plain)
    if not missing:
        return ""
    listed = ", ".join(f"{key}={value}" for key, value in missing[:_MOST])
    more = f" and {len(missing) - _MOST} more" if len(missing) > _MOST else ""
    return f"{listed}{more} is not here; {_given_by(missing, command)}"


def _given_by(missing: Sequence[tuple[str, str]], command: str) -> str:
    words = [f"--{key}=PATH" for key in dict.fromkeys(key for key, _ in missing)]
    return " ".join(filter(None, ["give it:", command, *words]))


@contextmanager
def said_how_to_give(plain: Mapping[str, Any], command: str = "") -> Iterator[None]:
    """Inside of the `with`, a ConfigError that names a file which is not here also says how to give it again."""
    try:
        yield
    except ConfigError as error:
        missing = missing_files(plain)
        if not any(key in str(error) or value in str(error) for key, value in missing):
            raise
        is_told = all(value in str(error) for _, value in missing)
        how = _given_by(missing, command) if is_told else how_to_give(plain, command)
        raise ConfigError(f"{error} ({how})") from error


def _named(plain: Mapping[str, Any]) -> Iterator[tuple[str, str, Path]]:
    """Key, value and place of what is named."""
    data = plain.get("data") or {}
    beside = user_path(data.get("dir") or ".")
    for key in KEYS:
        section, _, name = key.partition(".")
        value = (plain.get(section) or {}).get(name) if name else plain.get(section)
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, str) and one:
                is_beside = section == "data" and name != "dir" and beside.is_dir()
                yield key, one, beside / user_path(one) if is_beside else Path(one)
    problem, metric = plain.get("problem") or {}, str(data.get("metric") or "")
    name = str(problem.get("name") or "")
    if not problem.get("path") and ("/" in name or Path(name).suffix):
        yield "problem.name", name, Path(name)
    if ".py:" in metric:
        yield "data.metric", metric, Path(metric.rpartition(":")[0])
