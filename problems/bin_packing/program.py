"""What is known of a candidate before it runs: its function, its signature, its imports."""

from __future__ import annotations

import ast
from typing import Literal

from core.contracts import Evaluation
from core.evaluation.static_check import Imports, check_program, refusal
from core.state.failure import FailureKind
from utils.syntax import parse_shared

UNIT = "excess over the lower bound"
FUNCTION = "score_bin"
Signature = Literal["pair", "histogram"]
IMPORTS = Imports.only("math", "itertools", "functools", "collections", "statistics", "fractions", "operator", "bisect")
"""Modules a rule may import. `random` is left out: a rule has to decide alike each time."""


def inspect(code: str, signature: Signature) -> Evaluation | None:
    """None for a program that may run, else why not. Parses, never runs."""
    allowed = {2: "(item, remaining_capacity)"}
    if signature == "histogram":
        allowed[3] = "(item, remaining_capacity, histogram)"
    wrong = check_program(code, IMPORTS)
    if wrong is None and arity(parse_shared(code)) not in allowed:
        message = f"a function {FUNCTION}{' or '.join(allowed.values())} is needed at the top level"
        return refusal(FailureKind.SIGNATURE, message)
    return wrong


def arity(tree: ast.Module | str) -> int | None:
    """Parameters of the last top-level `score_bin`; None without one or with a form of its own."""
    module = parse_shared(tree) if isinstance(tree, str) else tree
    found = [n for n in module.body if isinstance(n, ast.FunctionDef) and n.name == FUNCTION]
    if not found:
        return None
    arguments = found[-1].args
    if arguments.kwonlyargs or arguments.vararg or arguments.kwarg:
        return None
    return len(arguments.posonlyargs) + len(arguments.args)
