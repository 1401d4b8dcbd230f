"""What is known of a candidate before it runs: its function, its signature, its imports."""

from __future__ import annotations

import ast
from typing import Literal

from core.contracts import Evaluation
from core.state.failure import FailureKind
from utils.syntax import parse

FUNCTION = "score_bin"
Signature = Literal["pair", "histogram"]
ALLOWED = frozenset({"math", "itertools", "functools", "collections", "statistics", "fractions", "operator", "bisect"})
"""Modules a rule may import. `random` is left out: a rule has to decide alike each time."""


def inspect(code: str, signature: Signature) -> Evaluation | None:
    """None for a program that may run, else why not. Parses, never runs."""
    try:
        tree = parse(code)
    except SyntaxError as error:
        return _refusal(FailureKind.SYNTAX, f"line {error.lineno}: {error.msg}")
    except (ValueError, RecursionError, MemoryError) as error:
        return _refusal(FailureKind.SYNTAX, f"cannot be parsed: {type(error).__name__}")
    for node in ast.walk(tree) if "import" in code else ():
        for module in _imports(node):
            if module.partition(".")[0] not in ALLOWED:
                allowed = ", ".join(sorted(ALLOWED))
                return _refusal(FailureKind.IMPORT_BLOCKED, f"import of {module!r}; allowed: {allowed}")
    parameters = arity(tree)
    allowed_arity = (2,) if signature == "pair" else (2, 3)
    if parameters not in allowed_arity:
        form = "(item, remaining_capacity)" + (
            "" if signature == "pair" else " or (item, remaining_capacity, histogram)"
        )
        return _refusal(FailureKind.SIGNATURE, f"a function {FUNCTION}{form} is needed at the top level")
    return None


def arity(tree: ast.Module | str) -> int | None:
    """Parameters of the last top-level `score_bin`; None without one or with a form of its own."""
    module = parse(tree) if isinstance(tree, str) else tree
    found = [n for n in module.body if isinstance(n, ast.FunctionDef) and n.name == FUNCTION]
    if not found:
        return None
    arguments = found[-1].args
    if arguments.kwonlyargs or arguments.vararg or arguments.kwarg:
        return None
    return len(arguments.posonlyargs) + len(arguments.args)


def _imports(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        return [node.module or "."]
    return []


def _refusal(failure: FailureKind, message: str) -> Evaluation:
    return Evaluation(failure=failure, message=message[:300])
