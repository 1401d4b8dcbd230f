"""What is read out of another framework's folder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from utils.errors import ConfigError
from utils.user_text import user_text


@dataclass(frozen=True, slots=True)
class Translation:
    """Keys of ours, and what became of theirs."""

    keys: Mapping[str, Any]
    taken: Mapping[str, str] = field(default_factory=dict)
    """Their key → ours."""
    left: tuple[str, ...] = ()
    """Their keys that have no counterpart."""
    hints: tuple[str, ...] = ()
    """What the user may want to add."""
    preset: str = ""
    """The problem preset whose settings take the place of those that the folder was named with; '' keeps them."""


def yaml_of(path: Path) -> dict[str, Any]:
    """A YAML file's mapping; {} where there is none. Raises ConfigError for one that cannot be read."""
    if not path.is_file():
        return {}
    import yaml

    try:
        plain = yaml.safe_load(user_text(path, ""))
    except yaml.YAMLError as error:
        line = str(error).splitlines()[0]
        raise ConfigError(f"{path}: cannot be read as YAML: {line}") from error
    if plain is not None and not isinstance(plain, dict):
        raise ConfigError(f"{path}: a mapping is needed, not a {type(plain).__name__}")
    return plain or {}


def leaves(plain: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Dotted key → value; lists are values."""
    for name, value in plain.items():
        if isinstance(value, dict) and value:
            yield from leaves(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def text_of(path: Path) -> str:
    """A text file; '' where there is none."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
