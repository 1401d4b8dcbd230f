"""The validator: what a written engine must pass before it may play for rating."""

from __future__ import annotations

import ast
import sys
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from core.state.failure import FailureKind
from utils.syntax import parse

MAX_CHARS = 200_000
USELESS = frozenset({"asyncio", "ctypes", "multiprocessing", "socket", "subprocess"})
"""Standard modules that an engine has no use for: the sandbox stops what they do, the check says so at once."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why an engine is not let in."""

    check: str
    """Which check refused it: `static` or `smoke`."""
    failure: FailureKind
    reason: str
    """One line for the writer; it names the line or the move."""


def static_refusal(code: str, packages: Collection[str]) -> Refusal | None:
    """Parse the file without running it; None if it may play a smoke match.

    Args:
        packages: modules outside the standard library that it may import.
    """
    if len(code) > MAX_CHARS:
        return _refuse(FailureKind.SIGNATURE, f"the file has {len(code)} characters, allowed are {MAX_CHARS}")
    try:
        tree = parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = f"line {error.lineno}: " if isinstance(error, SyntaxError) and error.lineno else ""
        return _refuse(FailureKind.SYNTAX, f"{line}{getattr(error, 'msg', None) or error}")
    for module, line_number in _imports(tree):
        if module in USELESS or (module not in sys.stdlib_module_names and module not in packages):
            allowed = ", ".join(sorted(packages)) or "none"
            reason = f"line {line_number}: import of {module!r}; allowed: the standard library without "
            return _refuse(FailureKind.IMPORT_BLOCKED, f"{reason}{', '.join(sorted(USELESS))}, and packages: {allowed}")
    if "engine" not in _bound_names(tree):
        reason = "the file must bind the name `engine`, for example `engine = Engine()`"
        return _refuse(FailureKind.SIGNATURE, reason)
    methods = [f for f in ast.walk(tree) if isinstance(f, ast.FunctionDef) and f.name == "select_move"]
    if not methods:
        return _refuse(FailureKind.SIGNATURE, "no method select_move(self, position, time_left_ms) is defined")
    if all(_takes(method) < 2 for method in methods):
        reason = f"line {methods[0].lineno}: select_move must take (position, time_left_ms)"
        return _refuse(FailureKind.SIGNATURE, reason)
    return None


def foreign_imports(code: str) -> set[str]:
    """Top-level modules outside the standard library that the source imports; it must parse."""
    return {module for module, _ in _imports(parse(code)) if module not in sys.stdlib_module_names}


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
                return " ".join(value.split())[:60]
    return ""


def _refuse(failure: FailureKind, reason: str) -> Refusal:
    return Refusal("static", failure, reason)


def _imports(tree: ast.AST) -> Iterator[tuple[str, int]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name.partition(".")[0], node.lineno
        elif isinstance(node, ast.ImportFrom):
            yield (node.module or "").partition(".")[0] if not node.level else ".", node.lineno


def _bound_names(tree: ast.Module) -> set[str]:
    """Names bound at the top level, also inside `if` and `try`."""
    names: set[str] = set()
    open_: list[ast.stmt] = list(tree.body)
    while open_:
        statement = open_.pop()
        if isinstance(statement, ast.Assign):
            names |= {_target(target) for target in statement.targets}
        elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
            names.add(_target(statement.target))
        elif isinstance(statement, ast.ClassDef | ast.FunctionDef):
            names.add(statement.name)
        elif isinstance(statement, ast.If | ast.Try | ast.With):
            open_ += statement.body + getattr(statement, "orelse", [])
    return names


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
