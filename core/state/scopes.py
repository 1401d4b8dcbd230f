"""Which scope a variable belongs to, by Python's rules; used to number locals without ever confusing two of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["module", "function", "comprehension", "class"]


@dataclass(eq=False, slots=True)
class Scope:
    """A module, function, comprehension or class body, and the names bound in it.

    What is bound by other means than assignment (imports, definitions, `global`, …) is not told here: it keeps its name
    in the whole program.
    """

    kind: Kind
    parent: Scope | None = None
    arguments: frozenset[str] = frozenset()
    variables: set[str] = field(default_factory=set)
    """Names that are assigned to."""

    def owner(self, name: str) -> Scope | None:
        """The function or comprehension whose local the name is as seen from here; None for arguments and globals.

        Class bodies are seen only from directly inside.
        """
        scope: Scope | None = self
        while scope is not None:
            if name in scope.arguments:
                return None
            if name in scope.variables and (scope is self or scope.kind != "class"):
                return scope if scope.kind in ("function", "comprehension") else None
            scope = scope.parent
        return None
