"""A function of the user as text or bytes that mean the same in another process."""

from __future__ import annotations

import ast
import builtins
import inspect
import sys
import textwrap
from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any

from swarm_evo.errors import SearchError

START, END = "# EVOLVE-BLOCK-START", "# EVOLVE-BLOCK-END"
PLAIN = (bool, int, float, complex, str, bytes, type(None))


def pickled(function: Callable[..., Any]) -> bytes:
    """The function by value, with the module that it comes from where that is the user's own.

    Raises:
        SearchError: something that it needs cannot be sent.
    """
    import cloudpickle

    parts = (function, type(function), getattr(function, "origin", None))
    named = {getattr(part, "__module__", None) or "" for part in parts}
    modules = [sys.modules[name] for name in sorted(named - {"", "__main__", "builtins"}) if name in sys.modules]
    own = [module for module in modules if not _is_installed(module)]
    for module in own:
        cloudpickle.register_pickle_by_value(module)
    try:
        return bytes(cloudpickle.dumps(function))
    except Exception as error:  # whatever the user's objects raise
        raise SearchError(f"{function!r} cannot be sent to another process: {error}") from error
    finally:
        for module in own:
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
        return _marked(given, "")[0], _last_function(given)
    if not isinstance(given, FunctionType):
        raise SearchError(f"evolve({given!r}): a function of Python or a source text is needed")
    if given.__name__ == "<lambda>":
        raise SearchError("evolve: a lambda has no name to call it by; give a function made by `def`, or a source text")
    source = _source(given)
    return _marked(source, "\n".join(_needed(given, {given.__name__})))[0], given.__name__


def _marked(source: str, head: str) -> tuple[str]:
    if START not in source:
        source = f"{START}\n{source.strip()}\n{END}"
    return ("\n\n".join(part for part in (head, source) if part) + "\n",)


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
    try:
        text = textwrap.dedent(inspect.getsource(function))
        node = ast.parse(text).body[0]
    except (OSError, TypeError, SyntaxError, IndexError) as error:
        raise SearchError(f"{function.__name__}: its source cannot be read; give it as a text") from error
    if not isinstance(node, ast.FunctionDef):
        raise SearchError(f"{function.__name__}: a function made by `def` is needed, or a source text")
    return "\n".join(text.rstrip("\n").split("\n")[node.lineno - 1 :]) + "\n"


def _needed(function: FunctionType, known: set[str]) -> list[str]:
    """Imports, plain values and helper functions that its globals name, each once."""
    if function.__code__.co_freevars:
        names = ", ".join(function.__code__.co_freevars)
        raise SearchError(f"{function.__name__} uses variables of the function around it: {names}; make them arguments")
    found: list[str] = []
    for name in sorted(_names(function.__code__)):
        if name in known or name not in function.__globals__:
            continue
        known.add(name)
        found += _one(function, name, function.__globals__[name], known)
    return found


def _one(function: FunctionType, name: str, value: Any, known: set[str]) -> list[str]:
    if isinstance(value, ModuleType):
        return [f"import {value.__name__}" + (f" as {name}" if value.__name__ != name else "")]
    if isinstance(value, PLAIN) or _is_plain(value):
        return [f"{name} = {value!r}"]
    module = sys.modules.get(getattr(value, "__module__", "") or "")
    if isinstance(value, FunctionType) and (module is None or not _is_installed(module)):
        return [*_needed(value, known), _source(value)]
    own = str(getattr(value, "__name__", ""))
    if module is not None and own and getattr(module, own, None) is value:
        return [f"from {module.__name__} import {own}" + (f" as {name}" if own != name else "")]
    raise SearchError(f"{function.__name__} uses {name!r}, which has no source text: pass the program as a text")


def _names(code: Any) -> set[str]:
    inner = [_names(constant) for constant in code.co_consts if hasattr(constant, "co_names")]
    return set(code.co_names).union(*inner) - set(dir(builtins))


def _is_plain(value: Any) -> bool:
    """True for lists, tuples, sets and dicts whose text means the same."""
    if isinstance(value, list | tuple | set | frozenset):
        return all(isinstance(item, PLAIN) or _is_plain(item) for item in value)
    if isinstance(value, dict):
        return all(_is_plain(list(pair)) for pair in value.items())
    return False


def _is_installed(module: ModuleType) -> bool:
    """True for what another process of this Python can import by name."""
    path = getattr(module, "__file__", None) or ""
    return module.__name__ in sys.builtin_module_names or path.startswith((sys.prefix, sys.base_prefix)) or not path
