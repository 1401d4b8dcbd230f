"""The options that a UCI program announces, and what a user sets of them.

Source: UCI protocol (Huber and Meyer-Kahlen, 2006), `option name … type … default … min … max … var …`.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from utils.errors import ConfigError

PREFIX = "option."
"""Before a word that sets an option, as with cutechess-cli and fastchess: `option.Hash=16`."""
_LINE = re.compile(r"^option name (?P<name>.+?) type (?P<type>\w+)(?P<rest>.*)$")
_KEYS = re.compile(r"\b(default|min|max|var)\b")


@dataclass(frozen=True, slots=True)
class UciOption:
    """One line `option …`."""

    name: str
    type: str
    low: int | None = None
    high: int | None = None
    choices: tuple[str, ...] = ()

    @classmethod
    def of(cls, line: str) -> UciOption | None:
        """Read a line of the program; None where it announces no option."""
        found = _LINE.match(line)
        if found is None:
            return None
        words = [word.strip() for word in _KEYS.split(found["rest"])[1:]]
        said = list(zip(words[::2], words[1::2], strict=False))
        numbers = {key: int(value) for key, value in said if key in ("min", "max") and _is_whole(value)}
        choices = tuple(value for key, value in said if key == "var")
        return cls(found["name"].strip(), found["type"], numbers.get("min"), numbers.get("max"), choices)

    def allowed(self, value: str) -> str | None:
        """What is allowed, in words, if `value` is not; None if it is."""
        if self.type == "spin":
            fits = _is_whole(value) and (self.low is None or int(value) >= self.low)
            fits = fits and (self.high is None or int(value) <= self.high)
            return None if fits else f"whole numbers from {self.low} to {self.high}"
        if self.type == "check":
            return None if value in ("true", "false") else "true and false"
        if self.type == "combo":
            return None if value in self.choices else ", ".join(self.choices)
        return None


def _is_whole(text: str) -> bool:
    return text.removeprefix("-").isdecimal()


def split_options(words: Sequence[str]) -> tuple[tuple[str, ...], tuple[tuple[str, str], ...]]:
    """(the command, its options) of the words of a command line."""
    command = tuple(word for word in words if not word.startswith(PREFIX))
    pairs = [word.removeprefix(PREFIX).partition("=") for word in words if word.startswith(PREFIX)]
    return command, tuple((name, value) for name, _, value in pairs)


def check_options(engine: str, chosen: Iterable[tuple[str, str]], announced: Mapping[str, UciOption]) -> None:
    """ConfigError for an option that the program does not have or a value that it does not take."""
    by_lower = {name.lower(): option for name, option in announced.items()}
    for name, value in chosen:
        option = by_lower.get(name.lower())
        if option is None:
            near = difflib.get_close_matches(name, announced, n=1)
            hint = f" (did you mean '{near[0]}'?)" if near else f"; it has {', '.join(announced) or 'none'}"
            raise ConfigError(f"engine '{engine}': option {name}: unknown{hint}")
        allowed = option.allowed(value)
        if allowed is not None:
            raise ConfigError(f"engine '{engine}': option {name}={value}: allowed are {allowed}")
