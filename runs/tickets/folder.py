"""A ticket as a folder: TASK.md, the files to change, and what they belong to; and the way back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from utils.errors import ConfigError
from utils.globs import matches
from utils.regular_files import read_regular, regular_files

TASK = "TASK.md"
TICKET = ".ticket.json"
"""Which ticket the folder belongs to, and which of its files come back."""
USUAL = ("program.*",)
"""What comes back of a folder that somebody filled himself."""
MOST_FILES = 10_000
LARGEST = 4_000_000
"""Bytes of one file."""


def write_folder(folder: Path, ticket: Mapping[str, Any]) -> None:
    """Lay out what `ask` gave.

    Raises:
        ConfigError: the folder cannot be written.
    """
    prompt = ticket["prompt"]
    about = {"ticket": ticket["ticket"], "editable": ticket["editable"]}
    texts = {
        TASK: f"{prompt['system']}\n\n{prompt['user']}\n",
        TICKET: json.dumps(about) + "\n",
        **{name: text for name, text in ticket["files"].items() if _is_inside(name)},
    }
    try:
        for name, text in texts.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"{folder}: cannot be written ({error.strerror})") from error


def read_folder(folder: Path) -> dict[str, str]:
    """The files that go back: regular ones that the ticket's `editable` names, by their path in the folder.

    Raises:
        ConfigError: there is no such folder, none of them is there, or one is no text.
    """
    if not folder.is_dir():
        raise ConfigError(f"{folder}: no such folder; fill one with `ask RUN --dir {folder}`")
    patterns = _editable(folder)
    found: dict[str, str] = {}
    for path in regular_files(folder):
        name = path.relative_to(folder).as_posix()
        if name in (TASK, TICKET) or not matches(name, patterns):
            continue
        found[name] = _text(path)
        if len(found) > MOST_FILES:
            raise ConfigError(f"{folder}: more than {MOST_FILES} files match {', '.join(patterns)}")
    if not found:
        raise ConfigError(f"{folder}: there is no {' or '.join(patterns)} in it to hand in")
    return found


def _editable(folder: Path) -> tuple[str, ...]:
    try:
        return tuple(map(str, json.loads((folder / TICKET).read_text(encoding="utf-8"))["editable"]))
    except (OSError, ValueError, TypeError, KeyError):
        return USUAL


def _text(path: Path) -> str:
    try:
        return read_regular(path, LARGEST)
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path}: cannot be read as text: {error}") from error


def _is_inside(name: str) -> bool:
    path = PurePosixPath(name)
    return not path.is_absolute() and ".." not in path.parts
