"""Static checks before running: early, readable failures. The sandbox is what protects, not these."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence

from core.state.failure import FailureKind
from utils.syntax import parse

SAFE_MODULES = frozenset({
    "abc", "array", "bisect", "cmath", "collections", "copy", "dataclasses", "decimal", "enum", "fractions",
    "functools", "heapq", "itertools", "math", "numbers", "operator", "random", "re", "statistics", "string",
    "typing", "__future__",
})  # fmt: skip
"""What a heuristic may import: modules that compute and touch nothing else."""

MAX_BYTES = 200_000
_MAX_NESTING = 100

Refusal = tuple[FailureKind, str]


def is_import_allowed(module_name: str, allowed: Collection[str] = SAFE_MODULES) -> bool:
    """True if `module_name` or a package above it is in `allowed`: `collections.abc` by `collections`."""
    parts = module_name.split(".")
    return any(".".join(parts[:length]) in allowed for length in range(1, len(parts) + 1))


def check_program(
    code: str,
    required: Mapping[str, Sequence[str] | None] | None = None,
    allowed_modules: Collection[str] | None = SAFE_MODULES,
    max_bytes: int = MAX_BYTES,
) -> Refusal | None:
    """The first thing wrong with a program, or None.

    Args:
        required: function name → its parameter names in order, or None where any will do (also for objects). More
            parameters are fine if they have defaults.
        allowed_modules: None allows every import.
        max_bytes: of the source in UTF-8.

    Returns:
        (SYNTAX | IMPORT_BLOCKED | SIGNATURE | NO_CODE, one line that names the place and what is allowed).
    """
    if not code.strip():
        return FailureKind.NO_CODE, "the program is empty"
    size = len(code.encode("utf-8", "surrogatepass"))
    if size > max_bytes:
        return FailureKind.SYNTAX, f"the program has {size:,} bytes, at most {max_bytes:,} are run"
    tree = _parse(code)
    if isinstance(tree, str):
        return FailureKind.SYNTAX, tree
    if allowed_modules is not None:
        for line, module in imports(tree):
            if not is_import_allowed(module, allowed_modules):
                allowed = ", ".join(sorted(allowed_modules))
                return (
                    FailureKind.IMPORT_BLOCKED,
                    f"line {line}: import of {module!r} is not allowed; allowed: {allowed}",
                )
    for name, parameters in (required or {}).items():
        wrong = _wrong_definition(tree, name, parameters)
        if wrong:
            return FailureKind.SIGNATURE, wrong
    return None


def _parse(code: str) -> ast.Module | str:
    """The tree, or the reason why there is none. Source that could exhaust the parser is refused first."""
    if _deepest_bracket(code) > _MAX_NESTING:
        return f"brackets are nested more than {_MAX_NESTING} deep"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an invalid escape in a candidate's string is not our warning
            return parse(code)
    except SyntaxError as error:
        return f"line {error.lineno or 0}: {error.msg}"
    except (ValueError, RecursionError, MemoryError) as error:
        return f"cannot be parsed: {type(error).__name__}: {error}"


def _deepest_bracket(code: str) -> int:
    depth = deepest = 0
    for character in code:
        if character in "([{":
            depth += 1
            deepest = max(deepest, depth)
        elif character in ")]}" and depth:
            depth -= 1
    return deepest


def imports(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """(line, module) of every import, at any depth; `__import__("x")` and `import_module("x")` too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            yield node.lineno, "." * node.level + (node.module or "")
        elif isinstance(node, ast.Call):
            name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
            first = node.args[0] if node.args else None
            if name in ("__import__", "import_module"):
                known = isinstance(first, ast.Constant) and isinstance(first.value, str)
                yield node.lineno, first.value if known else f"{name}(…)"  # type: ignore[union-attr]


def _wrong_definition(tree: ast.Module, name: str, parameters: Sequence[str] | None) -> str:
    """'' if the last top-level definition of `name` takes `parameters`."""
    found: ast.stmt | None = None
    for node in tree.body:
        if name in _defined_names(node):
            found = node
    wanted = f"{name}({', '.join(parameters)})" if parameters is not None else name
    if found is None:
        return f"{wanted} is not defined at the top level of the program"
    if parameters is None:
        return ""
    if not isinstance(found, ast.FunctionDef | ast.AsyncFunctionDef):
        return ""  # an object of that name may be callable: running it will tell
    arguments = found.args
    names = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]
    needed = len(names) - len(arguments.defaults)
    fits = names[: len(parameters)] == list(parameters) and needed <= len(parameters)
    missing_keyword = any(default is None for default in arguments.kw_defaults)
    if (fits or (arguments.vararg and names == list(parameters)[: len(names)])) and not missing_keyword:
        return ""
    return f"line {found.lineno}: {name}({', '.join(names)}) should be {wanted}"


def _defined_names(node: ast.stmt) -> set[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {node.name}
    if isinstance(node, ast.Assign):
        return {target.id for target in node.targets if isinstance(target, ast.Name)}
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return {node.target.id}
    if isinstance(node, ast.Import | ast.ImportFrom):
        return {(alias.asname or alias.name).split(".")[0] for alias in node.names}
    return set()
