"""Which scope a name belongs to, by Python's rules; used to rename locals without ever confusing two variables."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import Literal

_LOOKS_AT_NAMES = frozenset(
    {"locals", "vars", "eval", "exec", "dir", "globals", "f_locals", "f_back", "__code__", "__doc__", "__closure__"}
)
"""A program that mentions one of these may depend on what its variables are called."""

_Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


def rename_locals(tree: ast.AST) -> None:
    """Give local variables numbers in order of appearance, in place. The new names are no identifiers: none clashes.

    Arguments, imports, functions, classes and what is declared global or nonlocal keep their names: others may use
    them.
    """
    finder = _Finder()
    finder.visit(tree)
    if finder.looks_at_names:
        return
    finder.settle_nonlocals()
    numbers: dict[tuple[int, str], str] = {}
    for name, scope in finder.names:
        owner = scope.owner(name.id)
        if owner is not None:
            name.id = numbers.setdefault((id(owner), name.id), f"%{len(numbers)}")


@dataclass(eq=False, slots=True)
class _Scope:
    kind: Literal["module", "function", "comprehension", "class"]
    parent: _Scope | None = None
    bound: dict[str, bool] = field(default_factory=dict)
    """Name → whether it may be renamed: bound by assignments only."""
    elsewhere: set[str] = field(default_factory=set)
    """Declared nonlocal: the name belongs to an outer function."""
    in_module: set[str] = field(default_factory=set)
    """Declared global."""

    def bind(self, name: str, by_assignment: bool) -> None:
        if name not in self.elsewhere | self.in_module:
            self.bound[name] = self.bound.get(name, True) and by_assignment

    def find(self, name: str) -> _Scope | None:
        """The scope that binds the name as seen from here; class bodies are seen only from directly inside."""
        scope: _Scope | None = self
        while scope is not None:
            if name in scope.in_module:
                return None
            if name in scope.bound and (scope is self or scope.kind != "class"):
                return scope
            scope = scope.parent
        return None

    def owner(self, name: str) -> _Scope | None:
        """The function or comprehension whose local the name is, if it may be renamed."""
        scope = self.find(name)
        if scope is None or scope.kind in ("module", "class") or not scope.bound[name]:
            return None
        return scope


class _Finder(ast.NodeVisitor):
    """Walks a module in order, noting scopes, bindings and the scope in which each name is used."""

    def __init__(self) -> None:
        self.scope = _Scope("module")
        self.names: list[tuple[ast.Name, _Scope]] = []
        self.nonlocals: list[tuple[_Scope, str]] = []
        self.looks_at_names = False

    def settle_nonlocals(self) -> None:
        """What an inner function declares nonlocal keeps its name in the outer one."""
        for scope, name in self.nonlocals:
            owner = scope.parent.find(name) if scope.parent else None
            if owner is not None:
                owner.bound[name] = False

    # ------------------------------------------------------------ names

    def visit_Constant(self, node: ast.Constant) -> None:
        """No name in it; the general way looks for methods of old Pythons at each."""

    def visit_Name(self, node: ast.Name) -> None:
        self._use(node, self.scope)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        scope = self.scope
        while scope.kind == "comprehension" and scope.parent is not None:
            scope = scope.parent
        self.visit(node.value)
        self._use(node.target, scope)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        self.looks_at_names |= node.attr in _LOOKS_AT_NAMES
        self.generic_visit(node)

    def visit_Global(self, node: ast.Global) -> None:
        self.scope.in_module.update(node.names)

    def visit_Nonlocal(self, node: ast.Nonlocal) -> None:
        self.scope.elsewhere.update(node.names)
        self.nonlocals.extend((self.scope, name) for name in node.names)

    def _use(self, node: ast.Name, scope: _Scope) -> None:
        self.looks_at_names |= node.id in _LOOKS_AT_NAMES
        if not isinstance(node.ctx, ast.Load):
            scope.bind(node.id, True)
        self.names.append((node, scope))

    # ------------------------------------------------------------ other binders

    def visit_alias(self, node: ast.alias) -> None:
        self.scope.bind(node.asname or node.name.partition(".")[0], False)

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        self._bind_fixed(node.name)
        self.generic_visit(node)

    def visit_MatchAs(self, node: ast.MatchAs) -> None:
        self._bind_fixed(node.name)
        self.generic_visit(node)

    def visit_MatchStar(self, node: ast.MatchStar) -> None:
        self._bind_fixed(node.name)

    def visit_MatchMapping(self, node: ast.MatchMapping) -> None:
        self._bind_fixed(node.rest)
        self.generic_visit(node)

    def _bind_fixed(self, name: str | None) -> None:
        if name is not None:
            self.scope.bind(name, False)

    # ------------------------------------------------------------ scopes

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self._function(node)

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self._bind_fixed(node.name)
        self._outside(*node.decorator_list, node.args, node.returns)
        self._inside("function", node.args, *node.body)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self._outside(node.args)
        self._inside("function", node.args, node.body)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._bind_fixed(node.name)
        self._outside(*node.decorator_list, *node.bases, *node.keywords)
        self._inside("class", None, *node.body)

    def visit_ListComp(self, node: ast.ListComp) -> None:
        self._comprehension(node)

    def visit_SetComp(self, node: ast.SetComp) -> None:
        self._comprehension(node)

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> None:
        self._comprehension(node)

    def visit_DictComp(self, node: ast.DictComp) -> None:
        self._comprehension(node)

    def _comprehension(self, node: _Comprehension) -> None:
        first = node.generators[0]
        self.visit(first.iter)  # evaluated outside
        results = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        rest: list[ast.AST] = [first.target, *first.ifs, *node.generators[1:], *results]
        self._inside("comprehension", None, *rest)

    def _outside(self, *nodes: ast.AST | None) -> None:
        """Decorators, defaults and annotations are evaluated where the function is defined."""
        for node in nodes:
            if node is not None:
                self.visit(node)

    def _inside(
        self, kind: Literal["function", "comprehension", "class"], args: ast.arguments | None, *nodes: ast.AST
    ) -> None:
        self.scope = _Scope(kind, self.scope)
        if args is not None:
            extra = [a for a in (args.vararg, args.kwarg) if a]
            for argument in [*args.posonlyargs, *args.args, *args.kwonlyargs, *extra]:
                self.scope.bind(argument.arg, False)
        for node in nodes:
            self.visit(node)
        assert self.scope.parent is not None
        self.scope = self.scope.parent
