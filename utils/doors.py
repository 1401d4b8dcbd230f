"""Front doors: names that a package offers to people, each loaded from its module when it is first asked for.

    __getattr__, __dir__ = door(__name__, {"Node": "core.state.node"})

So `from core.state import Node` works, and `import core.state.failure` loads no more than it did.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def door(package: str, names: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The `__getattr__` and the `__dir__` of a package.

    Args:
        names: name → module that holds it.
    """

    def find(name: str) -> Any:
        if name not in names:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(names[name]), name)

    return find, lambda: sorted(names)
