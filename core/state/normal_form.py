"""The normal form of a program: locals numbered in order of appearance, no docstrings, constants folded.

Written in one walk over a tree that others may share: nothing in the tree is changed.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from typing import Any

from core.state.scopes import Kind, Scope

_LOOKS_AT_NAMES = frozenset(
    {"locals", "vars", "eval", "exec", "dir", "globals", "f_locals", "f_back", "__code__", "__doc__", "__closure__",
     "query", "evaluate", "sql"}
)  # fmt: skip
"""A program that mentions one of these may depend on what its variables are called: `frame.query('a > @limit')`."""

_IMPLIED = frozenset({"ctx", "kind", "type_comment"})
"""Fields that follow from the node's place in the tree, or that no run can tell."""

_Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
_Function = ast.FunctionDef | ast.AsyncFunctionDef
Number = int | float | None


def normal_form(tree: ast.Module, *, docstrings: bool = False) -> str:
    """One text for all programs that differ in names of locals, comments, layout and constant arithmetic alone.

    Arguments, imports, functions, classes and what is declared global or nonlocal keep their names: others may use
    them. Raises RecursionError for a tree too deep, ValueError for a number too long to be written down.

    Args:
        docstrings: they count too, because the program reads them.
    """
    writer = NormalWriter(docstrings)
    writer.write(tree)
    return writer.text()


class NormalWriter:
    """Turns each node into words: its kind, then its fields, in one order for all, so that no two trees read alike.

    The first character of a word says what it is: `<` a kind of node, `=` a constant, `.` a name that stays, `%` a
    numbered local, `[` and `]` a list, `~` nothing.
    """

    def __init__(self, docstrings: bool = False) -> None:
        self._docstrings = docstrings
        self._words: list[str] = []
        self._scope = Scope("module")
        self._names: list[tuple[int, str, Scope]] = []
        """Variables: (index of the word, name, scope in which it is used)."""
        self._nonlocals: list[tuple[Scope, str]] = []
        self._looks_at_names = False

    def write(self, node: ast.AST) -> Number:
        """Write a node with all below it; its value if it is a number or folds into one."""
        return _HOW.get(type(node), NormalWriter._any)(self, node)

    def text(self) -> str:
        """The words, once the whole module is written: only then is it known to whom each name belongs."""
        if not self._looks_at_names:
            for scope, name in self._nonlocals:
                scope.fix_outer(name)
            numbers: dict[tuple[Scope, str], str] = {}
            for index, name, scope in self._names:
                owner = scope.owner(name)
                if owner is not None:
                    self._words[index] = numbers.setdefault((owner, name), f"%{len(numbers)}")
        return "\n".join(self._words)

    # ------------------------------------------------------------ fields

    def _any(self, node: ast.AST, without: frozenset[str] = frozenset()) -> None:
        kind, fields = _SHAPES[type(node)]
        self._words.append(kind)
        for name in fields:
            if name not in without:
                self._field(getattr(node, name, None))

    def _field(self, value: Any) -> None:
        if isinstance(value, ast.AST):
            self.write(value)
        elif isinstance(value, list):
            self._words.append("[")
            for item in value:
                self._field(item)
            self._words.append("]")
        else:
            self._words.append("~" if value is None else f".{value}" if isinstance(value, str) else f"={value!r}")

    def _list(self, nodes: Iterable[ast.AST]) -> None:
        words = self._words
        words.append("[")
        for node in nodes:
            self.write(node)
        words.append("]")

    # ------------------------------------------------------------ values

    def _constant(self, node: ast.Constant) -> Number:
        value = node.value
        self._words.append(f"={value!r}")
        return value if isinstance(value, int | float) and not isinstance(value, bool) else None

    def _unary(self, node: ast.UnaryOp) -> Number:
        place = len(self._words)
        self._words.append(f"<UnaryOp {type(node.op).__name__}")
        value = self.write(node.operand)
        return self._folded(place, -value) if value is not None and isinstance(node.op, ast.USub) else None

    def _binary(self, node: ast.BinOp) -> Number:
        place = len(self._words)
        self._words.append(f"<BinOp {type(node.op).__name__}")
        left = self.write(node.left)
        right = self.write(node.right)
        fold = None if left is None or right is None else _FOLDS.get(type(node.op))
        if fold is None:
            return None
        try:
            return self._folded(place, fold(left, right))
        except ArithmeticError:
            return None

    def _folded(self, place: int, value: int | float) -> Number:
        """One constant instead of the words from `place` on."""
        self._words[place:] = [f"={value!r}"]
        return value

    def _expression(self, node: ast.Expr) -> None:
        text = isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        if not text or self._docstrings:
            self._words.append("<Expr")
            self.write(node.value)

    # ------------------------------------------------------------ names

    def _name(self, node: ast.Name) -> None:
        if type(node.ctx) is not ast.Load:
            self._scope.bind(node.id, True)
        self._use(node.id, self._scope)

    def _use(self, name: str, scope: Scope) -> None:
        if name in _LOOKS_AT_NAMES:
            self._looks_at_names = True
        self._names.append((len(self._words), name, scope))
        self._words.append(f".{name}")

    def _attribute(self, node: ast.Attribute) -> None:
        if node.attr in _LOOKS_AT_NAMES:
            self._looks_at_names = True
        self._words.append(f"<Attribute .{node.attr}")
        self.write(node.value)

    def _walrus(self, node: ast.NamedExpr) -> None:
        """Binds outside of the comprehensions it stands in."""
        scope = self._scope
        while scope.kind == "comprehension" and scope.parent is not None:
            scope = scope.parent
        self._words.append("<NamedExpr")
        self.write(node.value)
        scope.bind(node.target.id, True)
        self._use(node.target.id, scope)

    def _global(self, node: ast.Global) -> None:
        self._scope.in_module.update(node.names)
        self._any(node)

    def _nonlocal(self, node: ast.Nonlocal) -> None:
        self._scope.elsewhere.update(node.names)
        self._nonlocals.extend((self._scope, name) for name in node.names)
        self._any(node)

    def _alias(self, node: ast.alias) -> None:
        if node.name in _LOOKS_AT_NAMES:
            self._looks_at_names = True
        self._bind_fixed(node.asname or node.name.partition(".")[0])
        self._any(node)

    def _named(self, node: ast.ExceptHandler | ast.MatchAs | ast.MatchStar) -> None:
        self._bind_fixed(node.name)
        self._any(node)

    def _match_mapping(self, node: ast.MatchMapping) -> None:
        self._bind_fixed(node.rest)
        self._any(node)

    def _bind_fixed(self, name: str | None) -> None:
        if name is not None:
            self._scope.bind(name, False)

    # ------------------------------------------------------------ scopes

    def _definition(self, node: _Function | ast.ClassDef) -> None:
        """Decorators, bases, defaults and annotations are evaluated where the function or class is defined."""
        self._bind_fixed(node.name)
        for parameter in getattr(node, "type_params", ()):  # a scope of its own from Python 3.12 on
            self._bind_fixed(parameter.name)
        self._any(node, without=_BODY)
        if isinstance(node, ast.ClassDef):
            self._inside("class", None, node.body)
        else:
            self._inside("function", node.args, node.body)

    def _lambda(self, node: ast.Lambda) -> None:
        self._any(node, without=_BODY)
        self._inside("function", node.args, [node.body])

    def _comprehension(self, node: _Comprehension) -> None:
        first = node.generators[0]
        self._words.append(f"{_SHAPES[type(node)][0]} {first.is_async}")
        self.write(first.iter)  # evaluated outside
        results = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        self._words.append(f"={len(first.ifs)}")
        self._inside("comprehension", None, [first.target, *first.ifs, *node.generators[1:], *results])

    def _inside(self, kind: Kind, args: ast.arguments | None, nodes: Iterable[ast.AST]) -> None:
        outer = self._scope
        self._scope = Scope(kind, outer)
        if args is not None:
            extra = [a for a in (args.vararg, args.kwarg) if a]
            for argument in [*args.posonlyargs, *args.args, *args.kwonlyargs, *extra]:
                self._scope.bind(argument.arg, False)
        self._list(nodes)
        self._scope = outer


_SHAPES: dict[type[ast.AST], tuple[str, tuple[str, ...]]] = {
    kind: (f"<{kind.__name__}", tuple(name for name in kind._fields if name not in _IMPLIED))
    for kind in vars(ast).values()
    if isinstance(kind, type) and issubclass(kind, ast.AST)
}
"""Kind of node → its first word and the fields that are written."""

_BODY = frozenset({"body"})

_FOLDS: dict[type[ast.operator], Callable[[Any, Any], int | float]] = {
    ast.Add: lambda left, right: left + right,
    ast.Sub: lambda left, right: left - right,
    ast.Mult: lambda left, right: left * right,
    ast.Div: lambda left, right: left / right,
}

_HOW: dict[type[ast.AST], Callable[[NormalWriter, Any], Number]] = {
    ast.Constant: NormalWriter._constant,
    ast.UnaryOp: NormalWriter._unary,
    ast.BinOp: NormalWriter._binary,
    ast.Expr: NormalWriter._expression,
    ast.Name: NormalWriter._name,
    ast.Attribute: NormalWriter._attribute,
    ast.NamedExpr: NormalWriter._walrus,
    ast.Global: NormalWriter._global,
    ast.Nonlocal: NormalWriter._nonlocal,
    ast.alias: NormalWriter._alias,
    ast.ExceptHandler: NormalWriter._named,
    ast.MatchAs: NormalWriter._named,
    ast.MatchStar: NormalWriter._named,
    ast.MatchMapping: NormalWriter._match_mapping,
    ast.FunctionDef: NormalWriter._definition,
    ast.AsyncFunctionDef: NormalWriter._definition,
    ast.ClassDef: NormalWriter._definition,
    ast.Lambda: NormalWriter._lambda,
    ast.ListComp: NormalWriter._comprehension,
    ast.SetComp: NormalWriter._comprehension,
    ast.DictComp: NormalWriter._comprehension,
    ast.GeneratorExp: NormalWriter._comprehension,
}
