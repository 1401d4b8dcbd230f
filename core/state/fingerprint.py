"""Fingerprints of programs: equal text, or equal up to names of locals, comments, layout and constant folding."""

from __future__ import annotations

import ast
from hashlib import sha256


def text_hash(code: str) -> str:
    """SHA-256 of the text, trailing blanks removed: the first and cheapest rung of the duplicate ladder."""
    lines = (line.rstrip() for line in code.strip().splitlines())
    return sha256("\n".join(lines).encode()).hexdigest()


def ast_hash(code: str) -> str | None:
    """SHA-256 of the normal form: locals renamed in order of appearance, no docstrings or comments, constants folded.

    None if the code does not parse.
    """
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    try:
        tree = _Fold().visit(tree)
        for function in [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]:
            _rename_locals(function)
        return sha256(ast.dump(tree, annotate_fields=False).encode()).hexdigest()
    except RecursionError:
        return None


class _Fold(ast.NodeTransformer):
    """Drops docstrings, folds constant arithmetic, and writes -1 as a constant."""

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            return None
        return self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.op, ast.USub) and _number(node.operand) is not None:
            return ast.Constant(-_number(node.operand))  # type: ignore[operator]
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        left, right = _number(node.left), _number(node.right)
        if left is None or right is None:
            return node
        try:
            if isinstance(node.op, ast.Add):
                return ast.Constant(left + right)
            if isinstance(node.op, ast.Sub):
                return ast.Constant(left - right)
            if isinstance(node.op, ast.Mult):
                return ast.Constant(left * right)
            if isinstance(node.op, ast.Div):
                return ast.Constant(left / right)
        except (ArithmeticError, ValueError):
            return node
        return node


def _number(node: ast.expr) -> int | float | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
        return node.value
    return None


def _rename_locals(function: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    """Rename what the function binds, arguments apart (a caller may name them), to _0, _1, … in order of appearance."""
    shared = {name for n in ast.walk(function) if isinstance(n, ast.Global | ast.Nonlocal) for name in n.names}
    arguments = {a.arg for n in ast.walk(function) if isinstance(n, ast.arguments) for a in _all_arguments(n)}
    names: dict[str, str] = {}
    for name in ast.walk(function):
        if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store) and name.id not in shared | arguments:
            names.setdefault(name.id, f"_{len(names)}")
    for name in ast.walk(function):
        if isinstance(name, ast.Name) and name.id in names:
            name.id = names[name.id]


def _all_arguments(node: ast.arguments) -> list[ast.arg]:
    extra = [a for a in (node.vararg, node.kwarg) if a]
    return [*node.posonlyargs, *node.args, *node.kwonlyargs, *extra]
