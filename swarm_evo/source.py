"""A function of the user as text or bytes that mean the same in another process."""

from __future__ import annotations

import ast
import builtins
import dis
import inspect
import math
import sys
import textwrap
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from swarm_evo.errors import SearchError

START, END = "# EVOLVE-BLOCK-START", "# EVOLVE-BLOCK-END"
ITSELF = object()
"""In place of the function that is searched, which its module may know by an older value."""
LAZY = "from __future__ import annotations"
"""Annotations stay texts: what they name may be there for checkers of types alone."""
PLAIN = (bool, int, complex, str, bytes, type(None))
_PICKLING = threading.RLock()
"""Which modules go by value is the whole process's: one function at a time is pickled."""
BRACKETS: dict[Any, str] = {list: "[{}]", tuple: "({},)", set: "{{{}}}", frozenset: "frozenset([{}])", dict: "{{{}}}"}


def pickled(function: Callable[..., Any]) -> bytes:
    """The function by value, with those of the user's own modules that it uses.

    Raises:
        SearchError: something that it needs cannot be sent.
    """
    parts = (function, type(function), getattr(function, "origin", None))
    named = {getattr(part, "__module__", None) or "" for part in parts}
    own = _own_modules()
    try:
        return _by_value(function, own)
    except Exception:  # noqa: BLE001 - a module that it merely uses may hold a lock, a socket: its name may do
        pass
    try:
        return _by_value(function, [module for module in own if module.__name__ in named])
    except Exception as error:  # whatever the user's objects raise
        given = getattr(function, "origin", function)
        raise SearchError(f"{given!r} cannot be sent to another process: {error}") from error


def _own_modules() -> list[ModuleType]:
    """Modules of the user's that no other process can import by name; what the main one holds goes by value anyway."""
    named = [(name, module) for name, module in list(sys.modules.items()) if name != "__main__"]
    loaded = [module for name, module in named if isinstance(module, ModuleType) and module.__name__ == name]
    return [module for module in loaded if not _is_installed(module)]


def _by_value(function: Callable[..., Any], modules: Iterable[ModuleType]) -> bytes:
    """The function pickled, and what it uses of these modules with it."""
    import cloudpickle

    with _PICKLING:
        known = cloudpickle.list_registry_pickle_by_value()  # what the user registered stays so
        ours = [module for module in modules if module.__name__ not in known]
        try:
            for module in ours:
                cloudpickle.register_pickle_by_value(module)
            return bytes(cloudpickle.dumps(function))
        finally:
            for module in ours:
                if module.__name__ in cloudpickle.list_registry_pickle_by_value():
                    cloudpickle.unregister_pickle_by_value(module)


def program_of(given: Callable[..., Any] | str) -> tuple[str, str]:
    """(program with an EVOLVE-BLOCK, name of its function).

    Args:
        given: a function: modules, plain values and functions that it uses come along; or a source text, whose last
            function is meant.

    Raises:
        SearchError: there is no source, or it uses something that has none.
    """
    if isinstance(given, str):
        return _marked(given, ""), _last_function(given)
    if not isinstance(given, FunctionType):
        raise SearchError(f"evolve({given!r}): a function of Python or a source text is needed")
    if given.__name__ == "<lambda>":
        raise SearchError("evolve: a lambda has no name to call it by; give a function made by `def`, or a source text")
    source = _source(given)
    return _marked(source, "\n".join([LAZY, *_needed(given, {given.__name__: ITSELF})])), given.__name__


def _marked(source: str, head: str) -> str:
    if START not in source:
        source = f"{START}\n{source.strip()}\n{END}"
    return "\n\n".join(part for part in (head, source) if part) + "\n"


def _last_function(source: str) -> str:
    try:
        names = [node.name for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)]
    except SyntaxError as error:
        raise SearchError(f"evolve: the source text does not parse: {error}") from error
    if not names:
        raise SearchError("evolve: the source text defines no function")
    return names[-1]


def _source(function: FunctionType) -> str:
    """Its text without decorators."""
    text, node = _definition(function)
    return "\n".join(text.rstrip("\n").split("\n")[node.lineno - 1 :]) + "\n"


def _definition(function: FunctionType) -> tuple[str, ast.FunctionDef]:
    """Its text as it stands in its file, and the tree of that."""
    try:
        text = textwrap.dedent(inspect.getsource(function))
        node = ast.parse(text).body[0]
    except (OSError, TypeError, SyntaxError, IndexError) as error:
        raise SearchError(f"{function.__name__}: its source cannot be read; give it as a text") from error
    if not isinstance(node, ast.FunctionDef):
        raise SearchError(f"{function.__name__}: a function made by `def` is needed, or a source text")
    return text, node


def _needed(function: FunctionType, known: dict[str, Any]) -> list[str]:
    """Imports, plain values and helper functions that its globals name, each once; what only annotations name is left
    out where it cannot come along.

    Args:
        known: name → value of what the program has above it already.
    """
    if function.__code__.co_freevars:
        names = ", ".join(function.__code__.co_freevars)
        raise SearchError(f"{function.__name__} uses variables of the function around it: {names}; make them arguments")
    arguments = _definition(function)[1].args
    wanted = _names(function.__code__) | _named([*arguments.defaults, *filter(None, arguments.kw_defaults)])
    found: list[str] = []
    for name in sorted(wanted | _named(_annotations(function))):
        if name not in function.__globals__ or _is_everywhere(name, function.__globals__[name]):
            continue
        if known.get(name) is ITSELF:
            continue
        with suppress(*() if name in wanted else (SearchError,)):
            if _is_new(function, name, function.__globals__[name], known):
                found += _one(function, name, function.__globals__[name], known)
    return found


def _is_everywhere(name: str, value: Any) -> bool:
    """True for a built-in that the module has not replaced, and for what every module has (`__name__`)."""
    return hasattr(builtins, name) and (name.startswith("__") or getattr(builtins, name) is value)


def _is_new(function: FunctionType, name: str, value: Any, known: dict[str, Any]) -> bool:
    """Whether the program has no such name yet; from here on it has. SearchError: it has another thing of that name."""
    if name not in known:
        known[name] = value
        return True
    text = _plain_text(value)
    if known[name] is value or (text is not None and text == _plain_text(known[name])):
        return False
    raise SearchError(
        f"{function.__name__} uses {name!r}, which means something else in a function beside it: "
        "rename one of them, or pass the program as a text"
    )


def _one(function: FunctionType, name: str, value: Any, known: dict[str, Any]) -> list[str]:
    if isinstance(value, ModuleType):
        return [f"import {value.__name__}" + (f" as {name}" if value.__name__ != name else "")]
    if (text := _plain_text(value)) is not None:
        return [f"{name} = {text}"]
    module = sys.modules.get(getattr(value, "__module__", "") or "")
    if isinstance(value, FunctionType) and (module is None or not _is_installed(module)):
        alias = [f"{name} = {value.__name__}"] if value.__name__ != name else []
        if alias and not _is_new(function, value.__name__, value, known):
            return alias
        return [*_needed(value, known), _source(value), *alias]
    own = str(getattr(value, "__name__", ""))
    if module is not None and own and getattr(module, own, None) is value and _is_installed(module):
        return [f"from {module.__name__} import {own}" + (f" as {name}" if own != name else "")]
    raise SearchError(f"{function.__name__} uses {name!r}, which has no source text: pass the program as a text")


def _names(code: Any) -> set[str]:
    """Names that it reads of its module; an attribute of that name is none."""
    inner = [_names(constant) for constant in code.co_consts if hasattr(constant, "co_names")]
    read = {step.argval for step in dis.get_instructions(code) if "GLOBAL" in step.opname or step.opname == "LOAD_NAME"}
    return read.union(*inner)


def _annotations(function: FunctionType) -> list[ast.expr]:
    node = _definition(function)[1]
    parts = [part for part in ast.walk(node.args) if isinstance(part, ast.arg)]
    return [kind for kind in (node.returns, *(part.annotation for part in parts)) if kind is not None]


def _named(expressions: Iterable[ast.expr]) -> set[str]:
    """Names that these read: defaults are asked when the function is made, and are no part of its code."""
    nodes = (node for expression in expressions for node in ast.walk(expression))
    return {node.id for node in nodes if isinstance(node, ast.Name)}


def _plain_text(value: Any) -> str | None:
    """A value as Python that means the same wherever it stands, and the same text in every process; None for what has
    none, as an enumeration's member, which is a number for whoever only looks at its kind."""
    if isinstance(value, float):  # NumPy's are some
        return repr(float(value)) if math.isfinite(value) else f'float("{float(value)!r}")'
    if type(value) in PLAIN:
        return repr(value)
    brackets = BRACKETS.get(type(value))
    if brackets is None:
        return None
    parts = [_pair_text(pair) for pair in value.items()] if isinstance(value, dict) else list(map(_plain_text, value))
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    if not known:
        return f"{type(value).__name__}()"
    return brackets.format(", ".join(sorted(known) if isinstance(value, set | frozenset) else known))


def _pair_text(pair: tuple[Any, Any]) -> str | None:
    key, item = map(_plain_text, pair)
    return None if key is None or item is None else f"{key}: {item}"


def _is_installed(module: ModuleType) -> bool:
    """True for what another process of this Python can import by name. A notebook's main module has no file, and what
    `result.function` loaded has neither file nor finder.
    """
    path = getattr(module, "__file__", None) or ""
    homes = (sys.prefix, sys.base_prefix)
    if module.__name__ in sys.builtin_module_names or any(Path(path).is_relative_to(home) for home in homes):
        return True
    return not path and getattr(module, "__spec__", None) is not None
