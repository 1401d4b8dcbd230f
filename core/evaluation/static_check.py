"""What is known of a Python program before it runs: that it parses, what it imports, which function it defines.

These are early refusals that a writer can read and repair. The sandbox is what protects, not these.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from core.contracts import Evaluation
from core.state.failure import FailureKind
from utils.counts import counted
from utils.syntax import parse_shared, syntax_error

MAX_BYTES = 200_000
"""Of a program's source in UTF-8."""
_OWN_SCOPES = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
"""What they bind is theirs."""


@dataclass(frozen=True, slots=True)
class Imports:
    """Which modules a program may import."""

    modules: frozenset[str]
    """With all that lies below them: `collections` allows `collections.abc`."""
    standard: bool = False
    """The standard library is allowed too."""
    without: frozenset[str] = frozenset()
    """What of the standard library is not."""

    @classmethod
    def only(cls, *modules: str) -> Imports:
        return cls(frozenset(modules))

    def allows(self, module: str) -> bool:
        """True for a dotted name that may be imported; `__future__` always may."""
        top = module.partition(".")[0]
        parts = module.split(".")
        if top == "__future__" or any(".".join(parts[:length]) in self.modules for length in range(1, len(parts) + 1)):
            return True
        return self.standard and top in sys.stdlib_module_names and top not in self.without

    def __str__(self) -> str:
        """What is allowed, in words."""
        names = ", ".join(sorted(self.modules)) or "none"
        if not self.standard:
            return names
        return f"the standard library without {', '.join(sorted(self.without))}, and packages: {names}"


def check_program(
    code: str, imports: Imports | None = None, *, function: str = "", arguments: int | None = None
) -> Evaluation | None:
    """The first thing that is wrong with a program, or None.

    Args:
        imports: None allows every import.
        function: a name that must be defined at the top level.
        arguments: how many positional arguments it is called with; None asks nothing of its parameters.

    Returns:
        A verdict with NO_CODE, SYNTAX, IMPORT_BLOCKED or SIGNATURE and a line that names the place and what is allowed.
    """
    if not code.strip():
        return refusal(FailureKind.NO_CODE, "the program is empty")
    size = len(code.encode("utf-8", "surrogatepass"))
    if size > MAX_BYTES:
        return refusal(FailureKind.SYNTAX, f"the program has {size} bytes, at most {MAX_BYTES} are run")
    unsound = syntax_refusal(code)
    if unsound is not None:
        return unsound
    tree = parse_shared(code)
    blocked = blocked_import(tree, imports) if imports is not None else ""
    if blocked:
        return refusal(FailureKind.IMPORT_BLOCKED, blocked)
    wrong = wrong_definition(tree, function, arguments) if function else ""
    return refusal(FailureKind.SIGNATURE, wrong) if wrong else None


def syntax_refusal(code: str) -> Evaluation | None:
    """A program that does not parse is refused before it takes a sandbox; None for one that does."""
    fault = syntax_error(code)
    return refusal(FailureKind.SYNTAX, fault) if fault else None


def refusal(failure: FailureKind, message: str) -> Evaluation:
    """The verdict on a program that is not run; its message is one line."""
    return Evaluation(failure=failure, message=" ".join(message.split())[:500])


def blocked_import(tree: ast.AST, imports: Imports) -> str:
    """What is said of the first import that is not allowed; '' if all are."""
    for line, module in imported(tree):
        if not imports.allows(module):
            return f"line {line}: import of {module!r} is not allowed; allowed: {imports}"
    return ""


def imported(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """(line, module) of every import, at any depth; `__import__("x")` and `import_module("x")` too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.lineno, "." * node.level + (node.module or "")
        elif isinstance(node, ast.Call):
            name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
            if name in ("__import__", "import_module"):
                yield node.lineno, _first_text(node) or f"{name}(…)"


def _first_text(call: ast.Call) -> str:
    """The first argument where it is written as a text, else ''."""
    first = call.args[0] if call.args else None
    return first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else ""


def wrong_definition(tree: ast.Module, name: str, arguments: int | None) -> str:
    """Why the last top-level definition of `name` cannot be called with so many arguments; '' if it can.

    An object or an imported function of that name may be callable: running it will tell.
    """
    found = [node for node in tree.body if name in bound_names(node)]
    if not found:
        return f"{name} is not defined at the top level of the program"
    last = found[-1]
    if arguments is None or not isinstance(last, ast.FunctionDef):
        return ""
    least, most = positional(last.args)
    if least <= arguments <= most:
        return ""
    return f"line {last.lineno}: {name} is called with {counted(arguments, 'argument')}; it takes {_range(least, most)}"


def positional(arguments: ast.arguments) -> tuple[int, float]:
    """(fewest, most) positional arguments of a call; (inf, -inf) where a keyword is needed as well."""
    if any(default is None for default in arguments.kw_defaults):
        return sys.maxsize, -1
    count = len(arguments.posonlyargs) + len(arguments.args)
    return count - len(arguments.defaults), float("inf") if arguments.vararg else count


def _range(least: int, most: float) -> str:
    if least > most:
        return "keyword arguments that nobody gives it"
    return str(least) if least == most else f"{least} to {most:g}" if most != float("inf") else f"at least {least}"


def bound_names(node: ast.stmt, *, imported: bool = True) -> set[str]:
    """Names that a top-level statement binds, also inside of its blocks; not those of functions and classes in it.

    Args:
        imported: names of imports too.
    """
    names: set[str] = set()
    open_: list[ast.AST] = [node]
    while open_:
        one = open_.pop()
        if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(one.name)
        elif isinstance(one, ast.Import | ast.ImportFrom):
            names |= {(alias.asname or alias.name).split(".")[0] for alias in one.names if imported}
        elif isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store):
            names.add(one.id)
        elif not isinstance(one, _OWN_SCOPES) and not (isinstance(one, ast.AnnAssign) and one.value is None):
            open_ += ast.iter_child_nodes(one)
    return names
