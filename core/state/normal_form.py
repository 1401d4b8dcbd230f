"""The normal form of a program: locals numbered in order of appearance, no docstrings, constants folded.

Written in one walk over a tree that others may share: nothing in the tree is changed.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any, get_args

from core.state.scopes import Kind, Scope

_READS_TEXT = frozenset(
    {"__doc__", "getdoc", "pydoc", "doctest", "docopt", "__file__", "__loader__", "__spec__", "argv", "inspect",
     "getsource", "linecache", "traceback", "settrace", "setprofile", "monitoring", "lineno", "f_lineno", "tb_lineno",
     "tb_frame", "_getframe", "_current_frames", "currentframe", "f_back", "f_code", "gi_frame", "gi_code", "cr_frame",
     "cr_code", "ag_frame", "ag_code", "__code__"}
)  # fmt: skip
"""A program that mentions one of these, by a name or in a string, may depend on its own text, docstrings or layout."""

_SOURCE = "py"
"""So may one with this in a string: `open('solution.py')`."""

_READS_NAMES = frozenset(
    {"locals", "f_locals", "vars", "dir", "eval", "exec", "__closure__", "NameError", "UnboundLocalError",
     "query", "evaluate", "sql"}
)  # fmt: skip
"""A program that mentions one of these may look for a variable by a name that it puts together."""

_IMPLIED = frozenset({"ctx", "kind", "type_comment"})
"""Fields that follow from the node's place in the tree, or that no run can tell."""

_Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda
Number = int | float | None


def normal_form(tree: ast.Module) -> str | None:
    """One text for all programs that differ in names of locals, comments, layout and constant arithmetic alone.

    None for a program that may read its own text. Raises RecursionError for a tree too deep, ValueError for a number
    too long to be written down.
    """
    writer = NormalWriter()
    writer.write(tree)
    return writer.text()


class NormalWriter:
    """Turns each node into words: its kind, then its fields, in one order for all, so that no two trees read alike.

    The first character of a word says what it is: `<` a kind of node, `=` a constant, `.` a name that stays, `%` a
    numbered local, `[` and `]` a list, `~` nothing.

    A local is numbered if its name stands for variables only. Where it is also the name of anything else (a function,
    an import, a keyword, what is declared global) or occurs in a string (`frame.query('a > @limit')`), it stays in the
    whole program. All of these are words of the text, so programs of equal text agree on what stays.
    """

    def __init__(self) -> None:
        self._words: list[str] = []
        self._scope = Scope("module")
        self._variables: list[tuple[int, str, Scope]] = []
        """(index of the word, name, scope in which it is used)."""
        self._staying: set[str] = {"super"}  # its mere name gives a method what `super()` needs
        self._strings: set[str] = set()
        self._attributes: set[str] = set()
        self._strings_left_out = 0
        self._is_sound = True

    def write(self, node: ast.AST) -> Number:
        """Write a node with all below it; its value if it is a number or folds into one."""
        return _HOW[type(node)](self, node)

    def text(self) -> str | None:
        """The words, once the whole module is written: only then is it known to whom each name belongs."""
        mentioned = {name for _, name, _ in self._variables} | self._staying | self._attributes
        quoted = _words_of(self._strings)
        if not self._is_sound or _SOURCE in quoted or not _READS_TEXT.isdisjoint(mentioned | quoted):
            return None
        if _READS_NAMES.isdisjoint(mentioned):
            self._number(self._staying | quoted)
        return "\n".join(self._words)

    def _number(self, staying: set[str]) -> None:
        """Locals get numbers in order of appearance.

        What may be a private name stays, since a class sees it under another one (`__x` in `C` is `_C__x` outside); so
        do names outside of ASCII, for which strings are not searched.
        """
        numbers: dict[tuple[Scope, str], str] = {}
        for index, name, scope in self._variables:
            owner = None if name in staying else scope.owner(name)
            if owner is not None and name.isascii() and "__" not in name:
                self._words[index] = numbers.setdefault((owner, name), f"%{len(numbers)}")

    # ------------------------------------------------------------ fields

    def _any(self, node: ast.AST) -> None:
        kind, fields = _SHAPES[type(node)]
        self._words.append(kind)
        for name in fields:
            value = getattr(node, name, None)
            _HOW[type(value)](self, value)

    def _list(self, items: Iterable[Any]) -> None:
        self._words.append("[")
        for item in items:
            _HOW[type(item)](self, item)
        self._words.append("]")

    def _text(self, value: str) -> None:
        self._staying.add(value.partition(".")[0])  # `import a.b` binds `a`
        self._words.append(f".{value}")

    def _nothing(self, value: None) -> None:
        self._words.append("~")

    def _other(self, value: Any) -> None:
        self._words.append(f"={value!r}")

    # ------------------------------------------------------------ values

    def _constant(self, node: ast.Constant) -> Number:
        value = node.value
        self._words.append(f"={value!r}")
        if isinstance(value, str):
            self._strings.add(value)
            return None
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
        """One constant instead of the words from `place` on; a NaN has a sign that would not be seen."""
        if value != value:
            return None
        self._words[place:] = [f"={value!r}"]
        return value

    def _expression(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            self._strings_left_out += 1
        else:
            self._words.append("<Expr")
            self.write(node.value)

    # ------------------------------------------------------------ names

    def _name(self, node: ast.Name) -> None:
        if type(node.ctx) is not ast.Load:
            self._scope.variables.add(node.id)
        self._variables.append((len(self._words), node.id, self._scope))
        self._words.append(f".{node.id}")

    def _attribute(self, node: ast.Attribute) -> None:
        self._attributes.add(node.attr)
        self._words.append(f"<Attribute .{node.attr}")
        self.write(node.value)

    def _argument(self, node: ast.arg) -> None:
        """Others may name it; in scopes that do not see it, locals of this name are numbered all the same."""
        self._words.append(f"<arg .{node.arg}")
        self._annotation(node.annotation)

    def _annotation(self, node: ast.expr | None) -> None:
        """Kept as a string under `from __future__ import annotations`: its names stay."""
        first = len(self._variables)
        _HOW[type(node)](self, node)
        self._staying.update(name for _, name, _ in self._variables[first:])

    def _annotated(self, node: ast.AnnAssign) -> None:
        self._words.append(f"<AnnAssign {node.simple}")
        self.write(node.target)
        if isinstance(node.target, ast.Name) and not node.simple and node.value is None:
            self._staying.add(node.target.id)  # `(x): int` binds nothing
        self._annotation(node.annotation)
        _HOW[type(node.value)](self, node.value)

    def _walrus(self, node: ast.NamedExpr) -> None:
        """Binds outside of the comprehensions it stands in, and may not have the name of a variable of theirs."""
        inside = self._scope
        while self._scope.kind == "comprehension" and self._scope.parent is not None:
            self._scope = self._scope.parent
            self._staying.add(node.target.id)
        self._words.append("<NamedExpr")
        self.write(node.target)
        self._scope = inside
        self.write(node.value)

    def _import_from(self, node: ast.ImportFrom) -> None:
        if node.module == "__future__" and self._strings_left_out > 1:
            self._is_sound = False  # only one string may stand before it
        self._any(node)

    def _type_alias(self, node: Any) -> None:
        """`type X = …`, from Python 3.12 on: the type knows its name."""
        self._staying.add(node.name.id)
        self._any(node)

    def _interpolation(self, node: Any) -> None:
        """A field of a template string, from Python 3.14 on: it knows its own text."""
        self._words.append(f"<Interpolation {node.conversion}")
        self.write(ast.Constant(node.str))
        self.write(node.value)
        _HOW[type(node.format_spec)](self, node.format_spec)

    # ------------------------------------------------------------ scopes

    def _definition(self, node: _Definition) -> None:
        """Decorators, bases, defaults and annotations are evaluated where the function or class is defined."""
        self._any(node)
        if isinstance(node, ast.ClassDef):
            self._inside("class", node.body)
        elif isinstance(node, ast.Lambda):
            self._inside("function", [node.body], node.args)
        else:
            self._annotation(node.returns)
            self._inside("function", node.body, node.args)

    def _comprehension(self, node: _Comprehension) -> None:
        first = node.generators[0]
        self._words.append(f"{_SHAPES[type(node)][0]} {first.is_async}")
        self.write(first.iter)  # evaluated outside
        results = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        self._words.append(f"={len(first.ifs)}")
        self._inside("comprehension", [first.target, *first.ifs, *node.generators[1:], *results])

    def _inside(self, kind: Kind, nodes: Iterable[ast.AST], args: ast.arguments | None = None) -> None:
        outer = self._scope
        self._scope = Scope(kind, outer, frozenset() if args is None else _names(args))
        self._list(nodes)
        self._scope = outer


def _words_of(strings: Iterable[str]) -> set[str]:
    """What may be an identifier in them, as far as it is ASCII."""
    text = "\n".join(strings).encode("ascii", "replace")
    return set(text.translate(_BLANKS).decode().split())


def _names(args: ast.arguments) -> frozenset[str]:
    extra = [a for a in (args.vararg, args.kwarg) if a]
    return frozenset(argument.arg for argument in (*args.posonlyargs, *args.args, *args.kwonlyargs, *extra))


_APART = dict.fromkeys(get_args(_Definition), _IMPLIED | {"body", "returns"})
"""Fields that `_definition` writes by itself."""

_SHAPES: dict[type[ast.AST], tuple[str, tuple[str, ...]]] = {
    kind: (f"<{kind.__name__}", tuple(name for name in kind._fields if name not in _APART.get(kind, _IMPLIED)))
    for kind in vars(ast).values()
    if isinstance(kind, type) and issubclass(kind, ast.AST)
}
"""Kind of node → its first word and the fields that are written with it."""

_BLANKS = bytes(code if chr(code).isidentifier() or chr(code).isdigit() else 32 for code in range(128)) + b" " * 128
"""Blanks in place of what no ASCII identifier holds."""

_FOLDS: dict[type[ast.operator], Callable[[Any, Any], int | float]] = {
    ast.Add: lambda left, right: left + right,
    ast.Sub: lambda left, right: left - right,
    ast.Mult: lambda left, right: left * right,
    ast.Div: lambda left, right: left / right,
}

_HOW: defaultdict[type, Callable[[NormalWriter, Any], Number]] = defaultdict(lambda: NormalWriter._other)
"""What is in a tree → how it is written."""
_HOW |= dict.fromkeys(_SHAPES, NormalWriter._any)
_HOW |= {
    list: NormalWriter._list,
    str: NormalWriter._text,
    type(None): NormalWriter._nothing,
    ast.Constant: NormalWriter._constant,
    ast.UnaryOp: NormalWriter._unary,
    ast.BinOp: NormalWriter._binary,
    ast.Expr: NormalWriter._expression,
    ast.Name: NormalWriter._name,
    ast.Attribute: NormalWriter._attribute,
    ast.NamedExpr: NormalWriter._walrus,
    ast.arg: NormalWriter._argument,
    ast.AnnAssign: NormalWriter._annotated,
    ast.ImportFrom: NormalWriter._import_from,
    ast.FunctionDef: NormalWriter._definition,
    ast.AsyncFunctionDef: NormalWriter._definition,
    ast.ClassDef: NormalWriter._definition,
    ast.Lambda: NormalWriter._definition,
    ast.ListComp: NormalWriter._comprehension,
    ast.SetComp: NormalWriter._comprehension,
    ast.DictComp: NormalWriter._comprehension,
    ast.GeneratorExp: NormalWriter._comprehension,
}
for _kind, _how in (("TypeAlias", NormalWriter._type_alias), ("Interpolation", NormalWriter._interpolation)):
    if hasattr(ast, _kind):
        _HOW[getattr(ast, _kind)] = _how
