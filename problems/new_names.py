"""What a whole Python program adds outside of its evolving blocks without touching what stands there.

Models put an import or a helper at the top of the file, as every style guide asks. Outside of the blocks nothing may
change, so it would be gone, and the block that uses it fails. Inside it means the same.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from textwrap import dedent

from utils.syntax import parse_shared, source_lines

UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError)


def additions(frame: str, kept: frozenset[int], new: str, inside: frozenset[int]) -> list[range]:
    """1-based lines of `new` outside of `inside` that import, define or assign what `frame` does not name in `kept`.

    Empty where one of the two is no Python. What the frame names is all that it mentions, not only what it binds: what
    it takes from elsewhere is not given another meaning.

    Args:
        kept: 1-based lines of `frame` that may not change.
        inside: 1-based lines of the blocks of `new`.
    """
    try:
        known, statements = _mentioned(parse_shared(frame), kept), parse_shared(new).body
    except UNREADABLE:
        return []
    places = [(range(_first(one), (one.end_lineno or one.lineno) + 1), one) for one in statements]
    taken = [lines for lines, one in places if _is_new(one, known) and not inside.intersection(lines)]
    others = {number for lines, _ in places if lines not in taken for number in lines}
    return [lines for lines in taken if not others.intersection(lines)]


def undefined(frame: str, lines: frozenset[int], block: str) -> list[str]:
    """Functions and classes that `frame` defines at the margin in `lines`, where `block` has none of their names.

    Empty where it has one, and where one of the two is no Python.
    """
    try:
        there, new = parse_shared(frame).body, parse_shared(dedent(block)).body
    except UNREADABLE:
        return []
    kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    names = [one.name for one in there if isinstance(one, kinds) and one.lineno in lines]
    bound = {name for one in new for name in _bound(one)}
    return [] if bound.intersection(names) else names


def text_of(code: str, places: Iterable[range]) -> list[str]:
    lines = source_lines(code)
    return [line for place in places for line in lines[place.start - 1 : place.stop - 1]]


def _first(statement: ast.stmt) -> int:
    kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    decorators = statement.decorator_list if isinstance(statement, kinds) else []
    return min([statement.lineno, *(one.lineno for one in decorators)])


def _is_new(statement: ast.stmt, known: frozenset[str]) -> bool:
    bound = frozenset(_bound(statement))
    if isinstance(statement, ast.Import | ast.ImportFrom):
        return not bound <= known
    return bool(bound) and known.isdisjoint(bound)


def _bound(statement: ast.stmt) -> Iterator[str]:
    """Names that a statement at the margin binds and does nothing else; none for any other."""
    match statement:
        case ast.ImportFrom(module="__future__"):
            return
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            yield from (alias.asname or alias.name.partition(".")[0] for alias in names)
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.Assign(targets=targets):
            yield from _targets(targets)
        case ast.AnnAssign(target=target, value=ast.expr()):
            yield from _targets([target])


def _targets(targets: Sequence[ast.expr]) -> list[str]:
    """[] where something else than a name is assigned to."""
    parts = [part for one in targets for part in (one.elts if isinstance(one, ast.Tuple | ast.List) else [one])]
    names = [part.id for part in parts if isinstance(part, ast.Name)]
    return names if len(names) == len(parts) else []


def _mentioned(tree: ast.Module, kept: frozenset[int]) -> frozenset[str]:
    found = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and node.lineno in kept}
    return frozenset(found | {name for one in tree.body if one.lineno in kept for name in _bound(one)})
