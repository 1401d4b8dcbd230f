"""A candidate's module that is not there: an evaluator imports it, its calls go to a session.

For evaluators that were written to import their candidate. They run in a trusted process of their own; this gives them
a module object whose functions forward, whose constants are copies, and whose classes make handles. Plain data crosses
(None, bool, int, float, str, bytes, complex, list, tuple, set, dict, numpy arrays of numbers); code never does. What
cannot cross raises `NotPlain`: then the caller falls back to running both in the sandbox, labelled `unisolated`.

Standard library only: it is loaded by path into processes that hold user code and never see our packages.

    with sandbox.session(code, limits=limits, prelude=HANDLES) as session:
        with installed(Proxy(DirectSession(session), timeout=10.0), "/x/candidate.py"):
            evaluator.evaluate("/x/candidate.py")
"""

from __future__ import annotations

import builtins
import importlib.abc
import importlib.machinery
import importlib.util
import io
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import ModuleType
from typing import Any, Protocol


class RichSession(Protocol):
    """What a proxy needs of a session: answers or ProgramFailed."""

    def call_rich(self, function: str, args: Sequence[Any], named: Mapping[str, Any], *, timeout: float) -> Any: ...

    def look(self, timeout: float) -> dict[str, Any]: ...


class ProgramFailed(Exception):
    """The program behind the proxy failed.

    Args:
        failure: value of a FailureKind.
        exc_type: name of the exception's type where the program ended a call by one; the session then lives on.
    """

    def __init__(self, failure: str, message: str, exc_type: str | None) -> None:
        super().__init__(message)
        self.failure, self.message, self.exc_type = failure, message, exc_type


class NotPlain(Exception):
    """The evaluator and its candidate want to share something that is not plain data."""


class CandidateError(Exception):
    """An exception in the candidate whose type is not a built-in one."""


_BUILT_IN = {
    kind.__name__: kind
    for kind in (
        ArithmeticError, AssertionError, AttributeError, FloatingPointError, ImportError, IndexError, KeyError,
        LookupError, MemoryError, NameError, NotImplementedError, OSError, OverflowError, RecursionError, RuntimeError,
        StopIteration, TimeoutError, TypeError, UnboundLocalError, UnicodeError, ValueError, ZeroDivisionError,
    )
}  # fmt: skip


class Proxy:
    """Builds the module's stand-in from what the program offers.

    Args:
        timeout: seconds for each call.
        deadline: `time.monotonic()` after which no call is made any more, or None.
    """

    def __init__(self, session: RichSession, *, timeout: float, deadline: float | None = None) -> None:
        self._session = session
        self._timeout = timeout
        self._deadline = deadline
        self.refused: str | None = None
        """Why the two cannot be kept apart; set although the evaluator may have swallowed the exception."""
        self.failed: ProgramFailed | None = None
        """The breach that ended the program, likewise."""

    def module(self, name: str, path: str | None = None) -> ModuleType:
        """The stand-in, as a fresh module object. Raises ProgramFailed when the program cannot be loaded."""
        module = ModuleType(name)
        if path is not None:
            module.__file__ = path
        self.fill(module)
        return module

    def fill(self, module: ModuleType) -> None:
        """Give `module` the program's names. The program is loaded by this call."""
        try:
            names = self._session.look(self._left())
        except ProgramFailed as failed:
            self.failed = failed
            raise
        for name, what in names.items():
            if name.startswith("__") or not name.isidentifier():
                continue
            if "value" in what:
                setattr(module, name, what["value"])
            elif what.get("callable"):
                setattr(module, name, self._function(name))
            elif what.get("class"):
                setattr(module, name, self._class(name))
            else:
                setattr(module, name, _Opaque(self, name, str(what.get("object"))[:100]))

    def call(self, function: str, args: Sequence[Any], named: Mapping[str, Any]) -> Any:
        try:
            return self._session.call_rich(function, args, named, timeout=self._left())
        except TypeError as error:
            raise self._refused(f"an argument of {function} cannot cross: {error}") from error
        except ProgramFailed as failed:
            raise self._told(function, failed) from failed

    def _told(self, function: str, failed: ProgramFailed) -> Exception:
        """The failure as the evaluator expects it: only exceptions of the program's own are for it to handle."""
        if failed.exc_type == "TypeError" and "is not plain data" in failed.message:
            return self._refused(f"the answer of {function} cannot cross: {failed.message}")
        if failed.exc_type is None or failed.failure != "runtime":
            self.failed = failed
            return failed
        kind = _BUILT_IN.get(failed.exc_type, CandidateError)
        return kind(failed.message.partition(": ")[2])

    def _refused(self, reason: str) -> NotPlain:
        self.refused = self.refused or reason
        return NotPlain(reason)

    def _left(self) -> float:
        if self._deadline is None:
            return self._timeout
        return max(0.001, min(self._timeout, self._deadline - time.monotonic()))

    def _function(self, name: str) -> Callable[..., Any]:
        def forward(*args: Any, **named: Any) -> Any:
            return self.call(name, args, named)

        forward.__name__ = forward.__qualname__ = name
        return forward

    def _class(self, name: str) -> Callable[..., Any]:
        """Calling it makes an object over there and a handle here."""

        def make(*args: Any, **named: Any) -> _Handle:
            return _Handle(self, str(self.call("__handles__.new", [name, list(args), dict(named)], {})))

        make.__name__ = make.__qualname__ = name
        return make


class _Handle:
    """An object of the program's: methods are forwarded, attributes are fetched and set as plain data."""

    def __init__(self, proxy: Proxy, key: str) -> None:
        object.__setattr__(self, "_proxy", proxy)
        object.__setattr__(self, "_key", key)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        proxy, key = self._proxy, self._key
        kind, value = proxy.call("__handles__.look", [key, name], {})
        if kind == "value":
            return value
        return lambda *args, **named: proxy.call("__handles__.use", [key, name, list(args), dict(named)], {})

    def __setattr__(self, name: str, value: Any) -> None:
        self._proxy.call("__handles__.set", [self._key, name, value], {})

    def __call__(self, *args: Any, **named: Any) -> Any:
        return self._proxy.call("__handles__.use", [self._key, "__call__", list(args), dict(named)], {})


class _Opaque:
    """A name whose value cannot cross; using it says so."""

    def __init__(self, proxy: Proxy, name: str, kind: str) -> None:
        self._about = (proxy, name, kind)

    def __getattr__(self, attribute: str) -> Any:
        proxy, name, kind = self._about
        raise proxy._refused(f"{name} of the candidate is a {kind}, which cannot cross")


HANDLES = """
class __Handles:
    def __init__(self):
        self.objects = []
    def new(self, name, args, named):
        self.objects.append(globals()[name](*args, **named))
        return str(len(self.objects) - 1)
    def use(self, key, name, args, named):
        return getattr(self.objects[int(key)], name)(*args, **named)
    def look(self, key, name):
        value = getattr(self.objects[int(key)], name)
        return ("callable", None) if callable(value) else ("value", value)
    def set(self, key, name, value):
        setattr(self.objects[int(key)], name, value)
__handles__ = __Handles()
"""
"""Prelude of a session behind a proxy: keeps the program's objects by number."""


class _Loader(importlib.abc.Loader):
    def __init__(self, proxy: Proxy) -> None:
        self._proxy = proxy

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        self._proxy.fill(module)

    def get_code(self, name: str) -> Any:  # runpy.run_path and friends come here
        raise self._proxy._refused("the evaluator wants the candidate's code object, not its functions")


class _Finder(importlib.abc.MetaPathFinder):
    def __init__(self, names: Sequence[str], loader: _Loader, path: str) -> None:
        self._names, self._loader, self._path = frozenset(names), loader, path

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        if fullname not in self._names:
            return None
        return importlib.machinery.ModuleSpec(fullname, self._loader, origin=self._path)


@contextmanager
def installed(proxy: Proxy, path: str, names: Sequence[str] = ()) -> Iterator[None]:
    """Make every way of importing the candidate give its stand-in, within this process.

    Covers `importlib.util.spec_from_file_location(any name, path)`, `SourceFileLoader(any name, path)` and plain
    imports of `names` or of the file's own name. Reading the file is refused: its text must not be executed here.

    Args:
        path: the candidate's file as the evaluator is told it.
    """
    loader = _Loader(proxy)
    stem = os.path.splitext(os.path.basename(path))[0]
    finder = _Finder([*names, stem], loader, path)
    real = os.path.realpath(path)
    location: Any = importlib.util.spec_from_file_location
    load: Any = importlib.machinery.SourceFileLoader.exec_module

    def spec_from_file(name: str, location_: Any = None, **options: Any) -> Any:
        if location_ is not None and os.path.realpath(os.fspath(location_)) == real:
            spec = importlib.machinery.ModuleSpec(name, loader, origin=path)
            spec.has_location = True
            return spec
        return location(name, location_, **options)

    def exec_file(self: importlib.machinery.SourceFileLoader, module: ModuleType) -> None:
        if os.path.realpath(self.path) == real:
            proxy.fill(module)
        else:
            load(self, module)

    opened = builtins.open

    def open_other(file: Any, *args: Any, **options: Any) -> Any:
        if isinstance(file, (str, os.PathLike)) and os.path.realpath(os.fspath(file)) == real:
            raise proxy._refused("the evaluator reads the candidate's source text")
        return opened(file, *args, **options)

    patches: list[tuple[Any, str, Any]] = [
        (importlib.util, "spec_from_file_location", spec_from_file),
        (importlib.machinery.SourceFileLoader, "exec_module", exec_file),
        (builtins, "open", open_other),
        (io, "open", open_other),
    ]
    before = [getattr(owner, name) for owner, name, _ in patches]
    sys.meta_path.insert(0, finder)
    for owner, name, new in patches:
        setattr(owner, name, new)
    try:
        yield
    finally:
        for (owner, name, _), old in zip(patches, before, strict=True):
            setattr(owner, name, old)
        sys.meta_path.remove(finder)
