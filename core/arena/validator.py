"""The validator: what a written engine must pass before it may play for rating."""

from __future__ import annotations

import ast
import sys
from collections.abc import Collection

from core.arena.player import SEAT_TEXT
from core.contracts import Evaluation
from core.evaluation.static_check import Imports, bound_names, check_program, imported, refusal
from core.state.failure import FailureKind
from utils.clean_text import one_line
from utils.syntax import parse, parse_shared

USELESS = frozenset({"asyncio", "ctypes", "multiprocessing", "socket", "subprocess"})
"""Standard modules that an engine has no use for: the sandbox stops what they do, the check says so at once."""


def static_refusal(code: str, packages: Collection[str]) -> Evaluation | None:
    """What is wrong with an engine's file, found without running it; None if it may play a smoke match.

    Args:
        packages: modules outside the standard library that it may import.
    """
    imports = Imports(frozenset(packages), standard=True, without=USELESS)
    return check_program(code, imports) or _wrong_engine(parse_shared(code))


def shadowed(code: str, prelude: str) -> str:
    """Which names of the game's own text in the engine's process the file binds anew, in a sentence; '' for none. The
    game finds the engine's things under them: its `Position`, or what that stands on.

    Args:
        prelude: source text of the game's `Position`.
    """
    names = _bound_names(parse_shared(code)) & _bound_names(parse(f"{prelude}\n\n{SEAT_TEXT}"))
    shown = ", ".join(f"`{name}`" for name in sorted(names))
    return f"the file binds {shown}, by which the game calls something of its own: use another name" if names else ""


def _wrong_engine(tree: ast.Module) -> Evaluation | None:
    """Whether the file binds an engine that can be asked for moves."""
    if "engine" not in _bound_names(tree, imported=True):
        return _refuse("the file must bind the name `engine`, for example `engine = Engine()`")
    methods = [f for f in ast.walk(tree) if isinstance(f, ast.FunctionDef) and f.name == "select_move"]
    if not methods:
        return _refuse("no method select_move(self, position, time_left_ms) is defined")
    if all(_takes(method) < 2 for method in methods):
        return _refuse(f"line {methods[0].lineno}: select_move must take (position, time_left_ms)")
    return None


def _refuse(message: str) -> Evaluation:
    return refusal(FailureKind.SIGNATURE, message)


def foreign_imports(code: str) -> set[str]:
    """Top-level modules outside the standard library that the source imports; it must parse."""
    tops = {module.partition(".")[0] for _, module in imported(parse(code))}
    return tops - sys.stdlib_module_names


def engine_name(code: str) -> str:
    """The value of the first `name = "…"` (or `name: str = "…"`) in the file, or ''. Untrusted text."""
    try:
        tree = parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
    for statement in ast.walk(tree):
        if isinstance(statement, ast.Assign | ast.AnnAssign) and isinstance(statement.value, ast.Constant):
            value = statement.value.value
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            if isinstance(value, str) and any(_target(target) == "name" for target in targets):
                return one_line(value, 60)
    return ""


def _bound_names(tree: ast.Module, *, imported: bool = False) -> set[str]:
    """Names bound at the top level, also inside `if` and `try`."""
    return {name for statement in tree.body for name in bound_names(statement, imported=imported)}


def _target(target: ast.expr) -> str:
    return target.id if isinstance(target, ast.Name) else target.attr if isinstance(target, ast.Attribute) else ""


def _takes(method: ast.FunctionDef) -> int:
    """How many arguments a call may pass, `self` apart."""
    arguments = method.args
    if arguments.vararg is not None:
        return 99
    count = len(arguments.posonlyargs) + len(arguments.args)
    names = [argument.arg for argument in [*arguments.posonlyargs, *arguments.args]]
    return count - (1 if names[:1] in (["self"], ["cls"]) else 0)
