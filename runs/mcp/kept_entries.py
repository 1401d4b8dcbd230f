"""A user's own server of our name in a client's settings: told apart from what `setup` wrote, kept, and put back."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Collection
from pathlib import Path
from typing import Any

from utils.errors import ConfigError
from utils.file_utils import write_atomic

_HEADER = re.compile(r"^\s*\[{1,2}\s*(?P<key>[^\]]+?)\s*\]{1,2}\s*(?:#.*)?$")


def is_ours(entry: Any, keys: Collection[str]) -> bool:
    """True for what `setup` wrote here, or wrote from another checkout.

    Args:
        keys: of an entry as `setup` writes it for this client.
    """
    if not isinstance(entry, dict) or set(entry) != set(keys):
        return False
    command = entry.get("command")
    words = command if isinstance(command, list) else [command, *(entry.get("args") or ())]
    return len(words) == 3 and Path(str(words[1])).name == "main.py" and words[2] == "mcp"


class KeptEntry:
    """What stood in the place of our entry, in a file beside the settings.

    Args:
        settings: the client's file.
        name: of the server.
    """

    def __init__(self, settings: Path, name: str) -> None:
        self.path = settings.with_name(f"{settings.name}.before-{name}")
        self._name = name

    def keep(self, text: str) -> None:
        """Raises OSError where the disk refuses."""
        write_atomic(self.path, text)

    def take(self) -> str:
        """What was kept; '' where nothing was. `done` removes it once it is back in its place."""
        try:
            return self.path.read_text(encoding="utf-8") if self.path.is_file() else ""
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"{self.path}: cannot be read: {error}") from error

    def done(self) -> None:
        self.path.unlink(missing_ok=True)

    def entry(self) -> Any | None:
        """What was kept of settings in JSON."""
        try:
            return json.loads(self.take() or "null")
        except ValueError as error:
            raise ConfigError(f"{self.path}: is no JSON ({error}); put the server back by hand") from error


def without_tables(text: str, section: str, name: str, path: Path) -> tuple[str, str]:
    """(the TOML text without the tables of one server, those tables).

    Args:
        path: of the text, for the error.
    Raises:
        ConfigError: it stands there in another form than as tables.
    """
    rest: list[str] = []
    taken: list[str] = []
    inside = False
    for line in text.splitlines(keepends=True):
        if header := _HEADER.match(line):
            inside = _parts(header["key"])[:2] == [section, name]
        (taken if inside else rest).append(line)
    left = "".join(rest)
    before, after = tomllib.loads(text), tomllib.loads(left)
    before.get(section, {}).pop(name, None)
    if not before.get(section):
        before.pop(section, None)
    if before != after:
        raise ConfigError(f"{path}: the server '{name}' does not stand in a table of its own; take it out by hand")
    return left, "".join(taken)


def _parts(key: str) -> list[str]:
    return [part.strip().strip("\"'") for part in key.split(".")]
