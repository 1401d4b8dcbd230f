"""Fingerprints of programs: equal text, or equal up to names of locals, comments, layout and constant folding.

Equal fingerprints must mean equal behaviour, since a duplicate is never run: in doubt, two programs differ.
"""

from __future__ import annotations

import ast
from hashlib import sha256

from core.state.scopes import rename_locals
from utils.syntax import parse


def text_hash(code: str) -> str:
    """SHA-256 of the text, blank lines around it and line ends aside: the first and cheapest rung of the ladder."""
    text = code.replace("\r\n", "\n").strip("\n").rstrip()
    return sha256(text.encode(errors="surrogatepass")).hexdigest()


def ast_hash(code: str) -> str | None:
    """SHA-256 of the normal form: locals renamed in order of appearance, no docstrings or comments, constants folded.

    None if the code does not parse, or is too deep or holds too long a number to be written down.
    """
    try:
        tree = _Fold().visit(parse(code))
        rename_locals(tree)
        return sha256(ast.dump(tree, annotate_fields=False).encode(errors="surrogatepass")).hexdigest()
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


class _Fold(ast.NodeTransformer):
    """Drops docstrings, folds constant arithmetic, and writes -1 as a constant."""

    def _leaf(self, node: ast.AST) -> ast.AST:
        """Nothing to fold below: half of all nodes are such, and the general way costs most of the time."""
        return node

    visit_Constant = visit_Name = visit_Load = visit_Store = _leaf

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
