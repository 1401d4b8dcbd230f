"""Which scope a name belongs to, by Python's rules; used to number locals without ever confusing two variables."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["module", "function", "comprehension", "class"]


@dataclass(eq=False, slots=True)
class Scope:
    """A module, function, comprehension or class body, and the names bound in it."""

    kind: Kind
    parent: Scope | None = None
    bound: dict[str, bool] = field(default_factory=dict)
    """Name → whether it may be renamed: bound by assignments only."""
    elsewhere: set[str] = field(default_factory=set)
    """Declared nonlocal: the name belongs to an outer function."""
    in_module: set[str] = field(default_factory=set)
    """Declared global."""

    def bind(self, name: str, by_assignment: bool) -> None:
        """Note that the name is bound here, unless it was declared to belong elsewhere."""
        if name not in self.elsewhere and name not in self.in_module:
            private = name.startswith("__")  # it is another name inside of a class
            self.bound[name] = self.bound.get(name, True) and by_assignment and not private

    def find(self, name: str) -> Scope | None:
        """The scope that binds the name as seen from here; class bodies are seen only from directly inside."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.in_module:
                return None
            if name in scope.bound and (scope is self or scope.kind != "class"):
                return scope
            scope = scope.parent
        return None

    def owner(self, name: str) -> Scope | None:
        """The function or comprehension whose local the name is, if it may be renamed."""
        scope = self.find(name)
        if scope is None or scope.kind in ("module", "class") or not scope.bound[name]:
            return None
        return scope

    def fix_outer(self, name: str) -> None:
        """What an inner function declares nonlocal keeps its name in the outer one."""
        owner = self.parent.find(name) if self.parent else None
        if owner is not None:
            owner.bound[name] = False
