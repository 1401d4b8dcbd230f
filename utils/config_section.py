"""Section: what every part of the configuration is made of."""

from __future__ import annotations

from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationInfo, field_validator
from pydantic.fields import FieldInfo

LONGEST = 1e9
"""Seconds that a key may hold, thirty years: clocks and processors' limits count no further everywhere."""
LONGEST_WAIT = 2e6
"""Seconds of one wait, three weeks: the system's own waits (`poll`) count milliseconds in 31 bits."""


class Section(BaseModel):
    """A part with known keys only, whose numbers are finite and are numbers: `true` is no 1."""

    model_config = ConfigDict(extra="forbid", validate_default=True, allow_inf_nan=False)

    @field_validator("*", mode="before")
    @classmethod
    def _no_truth_as_a_number(cls, value: Any, info: ValidationInfo) -> Any:
        if isinstance(value, bool):
            kinds = kinds_of(cls.model_fields[str(info.field_name)].annotation)
            if kinds & {int, float} and bool not in kinds:
                raise ValueError("a number is needed, not true or false")
        return value


def kinds_of(annotation: Any) -> set[Any]:
    """The types that a field may hold: {float} for `float | None`, and NoneType beside it."""
    return set(get_args(annotation) or (annotation,))


def section_of(annotation: Any) -> type[BaseModel] | None:
    """The section that a field holds, one that may be left out (`Section | None`) too; None for a plain value."""
    parts = get_args(annotation) if get_origin(annotation) in (Union, UnionType) else (annotation,)
    found = [part for part in parts if isinstance(part, type) and issubclass(part, BaseModel)]
    return found[0] if found else None


def comma_list(value: Any) -> Any:
    return [part for part in value.split(",") if part] if isinstance(value, str) else value


def comma_text(value: Any) -> Any:
    """A list of names or numbers, as Python and YAML have them, as the text with commas that a command line has.

    Raises:
        ValueError: a part that holds a comma, or is itself no text and no number.
    """
    if not isinstance(value, list | tuple):
        return value
    if wrong := [part for part in value if isinstance(part, bool) or not isinstance(part, str | int | float)]:
        raise ValueError(f"{wrong[0]!r} in the list is no text and no number; write it in quotes")
    if wrong := [part for part in map(str, value) if "," in part]:
        raise ValueError(f"{wrong[0]!r} in the list holds a comma, which stands between parts here")
    return ",".join(map(str, value)) or None


CommaText = Annotated[str | None, BeforeValidator(comma_text)]
"""Names with commas between them; a list of them is taken as well."""


def is_comma_text(field: FieldInfo) -> bool:
    """True for a field of that type."""
    return any(isinstance(part, BeforeValidator) and part.func is comma_text for part in field.metadata)
