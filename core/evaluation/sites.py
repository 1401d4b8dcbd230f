"""Places in the syntax tree of a searched function that hold an expression which another may replace."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass


def expression(text: str) -> ast.expr:
    """The syntax tree of an expression of ours."""
    return ast.parse(text, mode="eval").body


@dataclass(slots=True)
class Site:
    """A place in the tree that holds an expression; `put` replaces it."""

    node: ast.expr
    kind: str
    """number, test or index."""
    put: Callable[[ast.expr], None]


def function_of(tree: ast.Module, name: str) -> ast.FunctionDef:
    """The last top-level function of that name; ValueError without one."""
    found = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == name]
    if not found:
        raise ValueError(f"no function {name}")
    return found[-1]


def sites(function: ast.FunctionDef, fixed: frozenset[str] = frozenset()) -> list[Site]:
    """Every expression of the body that may be replaced, in source order; not what is assigned to a name of `fixed`."""
    found: list[Site] = []
    stack: list[Site] = []
    for statement in reversed([n for n in _statements(function.body) if not _assigns(n, fixed)]):
        for name, kind in (("value", "number"), ("test", "test")):
            child = getattr(statement, name, None)
            if isinstance(child, ast.expr) and not _is_text(child):
                stack.append(_site(statement, name, kind))
    while stack:
        site = stack.pop()
        found.append(site)
        stack += reversed(list(_inner(site)))
    return found


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    for statement in body:
        yield statement
        for part in ("body", "orelse"):
            yield from _statements(getattr(statement, part, []))


def _assigns(statement: ast.stmt, names: frozenset[str]) -> bool:
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    return any(isinstance(target, ast.Name) and target.id in names for target in targets)


def _inner(site: Site) -> Iterator[Site]:
    node, kind = site.node, site.kind
    if isinstance(node, ast.IfExp):
        yield _site(node, "test", "test")
        yield _site(node, "body", kind)
        yield _site(node, "orelse", kind)
    elif isinstance(node, ast.BinOp):
        inside = "index" if kind == "index" else "number"
        yield _site(node, "left", inside)
        yield _site(node, "right", "index" if kind == "index" or isinstance(node.op, ast.Pow) else "number")
    elif isinstance(node, ast.UnaryOp):
        yield _site(node, "operand", "test" if isinstance(node.op, ast.Not) else kind)
    elif isinstance(node, ast.Compare):
        yield _site(node, "left", "number")
        for place in range(len(node.comparators)):
            yield _item(node.comparators, place, "number")
    elif isinstance(node, ast.BoolOp):
        for place in range(len(node.values)):
            yield _item(node.values, place, "test")
    elif isinstance(node, ast.Call):
        for place, argument in enumerate(node.args):
            if not isinstance(argument, ast.Starred):
                yield _item(node.args, place, "index" if kind == "index" else "number")
    elif isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Slice):
        yield _site(node, "slice", "index")


def _site(owner: ast.AST, name: str, kind: str) -> Site:
    return Site(getattr(owner, name), kind, lambda new: setattr(owner, name, new))


def _item(values: list[ast.expr], place: int, kind: str) -> Site:
    return Site(values[place], kind, lambda new: values.__setitem__(place, new))


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def scores(function: ast.FunctionDef) -> list[Site]:
    """What the function returns, one site a return; [] where we do not see it (inside `match`) or where it is text."""
    returns = [n for n in _statements(function.body) if isinstance(n, ast.Return)]
    return [_site(n, "value", "number") for n in returns if n.value and not _is_text(n.value)]
