"""What is read out of another framework's folder."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, TypeAdapter, ValidationError

from utils.config_section import LONGEST_WAIT
from utils.errors import ConfigError
from utils.user_yaml import user_yaml


def _number(value: Any) -> Any:
    if isinstance(value, bool):
        raise ValueError("Input should be a number")
    return value


FromZero = Annotated[int, BeforeValidator(_number), Field(ge=0)]
FromOne = Annotated[int, BeforeValidator(_number), Field(ge=1)]
Islands = Annotated[int, BeforeValidator(_number), Field(ge=1, le=10_000)]
Megabytes = Annotated[int, BeforeValidator(_number), Field(ge=64, le=10**9)]
Seconds = Annotated[float, BeforeValidator(_number), Field(gt=0, le=LONGEST_WAIT, allow_inf_nan=False)]
Thresholds = list[Annotated[float, Field(allow_inf_nan=False)]]


@dataclass(frozen=True, slots=True)
class Word:
    """A key of theirs: ours, what it may hold (within the bounds of ours), and how the value is said here."""

    ours: str
    kind: Any
    said: Callable[[Any], Any] = lambda value: value


@dataclass(frozen=True, slots=True)
class Told:
    """What the user says himself, which a folder need not."""

    metric: str | None = None
    """Of `problem.metric` or `data.metric`."""
    target: str | None = None
    python: str = "python3"
    """What runs a program, as a word of a command."""
    given: Collection[str] = ()
    """Which of our keys are his own."""


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
    plain = user_yaml(path)
    if plain is not None and not isinstance(plain, dict):
        raise ConfigError(f"{path}: a mapping is needed, not a {type(plain).__name__}")
    return plain or {}


def said_here(file: Path | str, key: str, value: Any, word: Word) -> Any:
    """The value of a key of theirs as ours. ConfigError with file, key, value and what is allowed."""
    try:
        return word.said(TypeAdapter(word.kind).validate_python(value))
    except ValidationError as error:
        fault = error.errors(include_url=False, include_context=False)[0]
        raise ConfigError(f"{file}: {key}={_shown(value)}: {fault['msg'].removeprefix('Value error, ')}") from error


def check_sections(file: Path | str, plain: Mapping[str, Any], known: Collection[str]) -> None:
    """ConfigError for a value where the known keys, dotted, want a section, and for a section where they want a value.

    Args:
        plain: dotted key → value, as `leaves` gives them.
    """
    sections = {key.rpartition(".")[0] for key in known} - {""}
    for key, value in plain.items():
        if key in sections and value != {}:
            raise ConfigError(f"{file}: {key}={_shown(value)}: a mapping is needed")
        above = next((name for name in known if key.startswith(f"{name}.")), None)
        if above:
            raise ConfigError(f"{file}: {above}: a value is needed, not a mapping with {key.removeprefix(above)[1:]}")


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:80]}…"


def leaves(plain: Mapping[str, Any], prefix: str = "", whole: Collection[str] = ()) -> Iterator[tuple[str, Any]]:
    """Dotted key → value; lists are values, and so are the mappings of the keys `whole`."""
    for name, value in plain.items():
        if isinstance(value, dict) and value and f"{prefix}{name}" not in whole:
            yield from leaves(value, f"{prefix}{name}.", whole)
        else:
            yield f"{prefix}{name}", value


def text_of(path: Path) -> str:
    """A text file; '' where there is none."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
