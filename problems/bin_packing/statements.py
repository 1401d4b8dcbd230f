"""The statements of a rule as Python reads them: what each binds, and what of a function's head is evaluated."""

from __future__ import annotations

import ast
import builtins


class Unsupported(Exception):
    """The program is more than arithmetic."""


def is_idle(statement: ast.stmt) -> bool:
    """Docstrings and `import math`."""
    if isinstance(statement, ast.Import):
        return all(alias.name == "math" and alias.asname is None for alias in statement.names)
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def assignment(node: ast.stmt) -> tuple[str, ast.expr]:
    """(name, value) of `x = …`, `x: T = …` and `x op= …`."""
    if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
        return node.targets[0].id, node.value
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
        return node.target.id, node.value
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        return node.target.id, ast.BinOp(ast.Name(node.target.id, ast.Load()), node.op, node.value)
    raise Unsupported


def bound(function: ast.FunctionDef) -> tuple[bool, set[str]]:
    """(whether it imports anything, names that it assigns), wherever."""
    nodes = [inner for statement in function.body for inner in ast.walk(statement)]
    assigned = {node.id for node in nodes if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    return any(isinstance(node, ast.Import | ast.ImportFrom) for node in nodes), assigned


def is_plain_type(annotation: ast.expr | None) -> bool:
    """True for what every Python can evaluate: `int`, `list[int]`, a text, or nothing."""
    if isinstance(annotation, ast.Subscript):
        inner = annotation.slice.elts if isinstance(annotation.slice, ast.Tuple) else [annotation.slice]
        is_generic = isinstance(annotation.value, ast.Name) and annotation.value.id in ("list", "tuple", "dict")
        return is_generic and all(map(is_plain_type, inner))
    is_known = isinstance(annotation, ast.Name) and hasattr(builtins, annotation.id)
    return annotation is None or is_known or isinstance(annotation, ast.Constant)
