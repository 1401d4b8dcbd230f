"""Instances that stand there more than once: a part that no step of the search saw is to hold none that one saw."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, TypeVar

from utils.counts import counted

One = TypeVar("One", bound=Any)
SHOWN = 5
"""Names that are told."""


def without_copies(instances: Sequence[One], content: Callable[[One], Hashable]) -> tuple[list[One], str]:
    """(the instances, the first of equals; what is told of the others, '' where there are none).

    Args:
        content: what an instance is, whatever it is called.
    """
    found: dict[Hashable, One] = {}
    copies = []
    for one in instances:
        if found.setdefault(content(one), one) is not one:
            copies.append(one.name)
    if not copies:
        return [*instances], ""
    more = f" and {len(copies) - SHOWN} more" if len(copies) > SHOWN else ""
    told = f"{counted(len(copies), 'instance')} left out, since the same cities or items stand there before"
    return [*found.values()], f"{told}: {', '.join(map(str, copies[:SHOWN]))}{more}"
