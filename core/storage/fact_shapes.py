"""What kind of value each named fact of a run is. A stranger's or a damaged store may hold another."""

from __future__ import annotations

from typing import Any

_SHAPES: dict[str, type] = {
    **dict.fromkeys(("run", "problem", "unit", "family", "status", "started_at", "broke_off"), str),
    **dict.fromkeys(("environment", "operators", "origin", "final", "journal", "files"), dict),
    **dict.fromkeys(("baselines", "given", "told"), list),
}
"""Of those that are used as such wherever they are read."""


def shaped(key: str, value: Any) -> Any:
    """The value; TypeError, which `reads_store` tells of the run, where it is another kind than the fact's."""
    wanted = _SHAPES.get(key)
    if wanted is not None and value is not None and not isinstance(value, wanted):
        raise TypeError(f"the fact '{key}' is of type {type(value).__name__}, not {wanted.__name__}")
    return value
