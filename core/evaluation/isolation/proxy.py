"""A candidate's module that is not there: an evaluator imports it, and its calls cross to the sandbox.

For evaluators that were written to import their candidate. They run in a trusted process of their own; this gives them
a module object whose functions forward, whose constants are copies, and whose classes make handles. Plain data crosses
(None, bool, int, float, str, bytes, complex, list, tuple, set, dict, numpy arrays of numbers, tensors of PyTorch); code
never does. What cannot cross raises `NotPlain`, and `Proxy.refused` says whose doing it was.

What is a class, what an object of it can be asked by Python itself (`==`, `len`, `+`) and which of its methods answer
with objects is a matter of the user's own program: all else is asked for plain data, whatever a candidate makes of it.
Else a candidate could answer with objects that compare and count as they like. Numbers cross as `usual_numbers` has
them: what the user's own program has none of is an exception of the program's.

Standard library only: it is loaded by path into processes that hold user code and never see our packages.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import ModuleType
from typing import Any, Protocol


class Ask(Protocol):
    """Calls a function of the program: see `Channel.call`."""

    def __call__(self, function: str, args: Sequence[Any], named: Mapping[str, Any]) -> Any: ...


class Forms(Protocol):
    """The module `usual_forms`."""

    def forms_of(self, answer: Any, place: str) -> Sequence[str]: ...

    def known_of(self, marks: Sequence[str]) -> Mapping[str, Any]: ...

    def in_form(self, answer: Any, place: str, known: Mapping[str, Any]) -> Any: ...


Usual = Callable[[Any, Callable[[str], bool]], Any]
"""An answer as the evaluator may have it, by what the user's own program is known to have."""
Made = Callable[[Any], Any]
"""An answer with the objects that its data stand for: see `plain.with_tensors`."""


class NotPlain(Exception):
    """The evaluator and its candidate want to share something that is not plain data."""

    __module__ = "builtins"  # a traceback then shows its bare name


class CandidateError(Exception):
    """An exception in the candidate whose type is not a built-in one, or one that would end more than the call."""

    __module__ = "builtins"


_BUILT_IN = {
    kind.__name__: kind
    for kind in (
        ArithmeticError, AssertionError, AttributeError, FloatingPointError, ImportError, IndexError, KeyError,
        LookupError, MemoryError, ModuleNotFoundError, NameError, NotImplementedError, OSError, OverflowError,
        RecursionError, RuntimeError, TimeoutError, TypeError, UnboundLocalError, UnicodeError, ValueError,
        ZeroDivisionError,
    )
}  # fmt: skip
"""StopIteration is not among them: raised by a candidate it would end a loop of the evaluator's (`map`, `next`) early
and leave out cases. It becomes RuntimeError, as Python makes it in generators."""
_NOT_PLAIN = "is not plain data"
_NAME = "import:"
"""Begins the mark of a name that the user's own program has."""


class Proxy:
    """Builds the module's stand-in from what the program offers.

    Args:
        ask: calls the program.
        raised: the exception type of `ask` for what the program raised; it has `kind` and `text`.
        usual: of the module `usual_numbers`.
        forms: the module `usual_forms`.
        made: `plain.with_tensors`.
    """

    def __init__(self, ask: Ask, raised: type[Exception], usual: Usual, forms: Forms, made: Made) -> None:
        self._ask, self._raised, self._usual, self._forms, self._made = ask, raised, usual, forms, made
        self._names: Mapping[str, Mapping[str, Any]] = {}
        self._classes: frozenset[str] | None = None
        self._known: Mapping[str, Any] = {}
        """Of `usual_forms`."""
        self._knows_names = False
        """Whether it is known which names the user's own program has."""
        self.taken: Sequence[Mapping[str, Any]] = ()
        """The names of the evaluator's modules, and of Python's own functions."""
        self._seen: set[str] = set()
        self._kinds: dict[str, type[Handle]] = {}
        self._handles: weakref.WeakValueDictionary[str, Handle] = weakref.WeakValueDictionary()
        self.refused = ""
        """Why the two cannot be kept apart; set although the evaluator may have swallowed the exception."""
        self.by_program = False
        """Its answer was what could not cross, not what the evaluator wants to do with it."""
        self.forward: Callable[[str, Sequence[Any], Mapping[str, Any]], Any] = self.call
        """What functions of the module do."""
        self.raised_last: Exception | None = None
        """What the evaluator was handed of the program's newest exception."""

    def expect(self, classes: Sequence[str] | None) -> None:
        """Before `begin`, maybe in the process that this one is forked from.

        Args:
            classes: what `Proxy.classes` said of the user's own program; None: this is that program.
        """
        told = None if classes is None else frozenset(classes)
        if told != self._classes:
            self._classes, self._known = told, self._forms.known_of(sorted(told or ()))
            self._knows_names = any(mark.startswith(_NAME) for mark in told or ())

    def begin(self, names: Mapping[str, Mapping[str, Any]]) -> None:
        """Say which program it is.

        Args:
            names: as `SandboxSession.look` gives them: name → {"value": …} | {"callable": True} | {"class": True} | ….
        """
        self._names = names

    @property
    def classes(self) -> list[str]:
        """What objects there are and what they do: `C` a class, `C.__len__` a special method that it has, `C.f=` a
        method that answered with data, `C.f()` one that answered with an object, `import:f` a name; kinds of
        `usual_numbers`, and forms of `usual_forms`."""
        found = {name for name, what in self._names.items() if what.get("class") and not name.startswith("__")}
        return sorted(found | self._seen)

    def fill(self, module: ModuleType) -> dict[str, Any]:
        """Give `module` the program's names. One that the user's own program has not and the evaluator has is found by
        who asks the module for it, and copied by nobody: `from program import *` would put it in that one's place.

        Returns all that the user's own program has not.
        """
        further: dict[str, Any] = {}
        for name, what in self._names.items():
            if name.startswith("__") or not name.isidentifier():
                continue
            is_usual = self._knows(f"{_NAME}{name}") or not self._knows_names
            (vars(module) if is_usual else further)[name] = self._named(name, what)
        taken = {name: value for name, value in further.items() if any(name in names for names in self.taken)}
        vars(module).update((name, value) for name, value in further.items() if name not in taken)
        if taken:
            vars(module)["__getattr__"] = _finder(module.__name__, taken)
        return further

    def _named(self, name: str, what: Mapping[str, Any]) -> Any:
        """What stands for a name of the program's."""
        if "value" in what:
            return self._constant(name, what["value"])
        if what.get("class") and self._knows(name):
            return self._class(name)
        if what.get("callable") or what.get("class"):
            return self._function(name)
        return _Opaque(self, f"{name} of the candidate is a {str(what.get('object'))[:100]}, which cannot cross")

    def _constant(self, name: str, value: Any) -> Any:
        """A value of the program's; one that no answer may hold cannot be used."""
        try:
            return self._formed(value, name)
        except (TypeError, ValueError, OverflowError, RecursionError, ImportError) as error:
            return _Opaque(self, f"{name} of the candidate cannot cross: it holds {error}")

    def _knows(self, what: str) -> bool:
        """Whether the user's own program has that; if this is that program, it has from now on."""
        if self._classes is None:
            self._seen.add(what)
        return self._classes is None or what in self._classes

    def call(self, function: str, args: Sequence[Any], named: Mapping[str, Any]) -> Any:
        """Ask, and raise what the program raised as the evaluator expects it."""
        if self._kinds and any(isinstance(value, Handle) for value in (*args, *named.values())):
            sent = [_keyed(value) for value in args], {name: _keyed(value) for name, value in named.items()}
            function, args, named = "__handles__.call", [function, *sent], {}
        try:
            answer = self._ask(function, args, named)
        except self._raised as error:
            self.raised_last = self._told(_asked(function, args), error)
            raise self.raised_last from None
        except TypeError as error:
            raise self.refuse(f"an argument of {_asked(function, args)} cannot cross: {error}") from error
        place = _asked(function, args)
        return self._crossed(answer, "" if function in _TOLD_LATER else place, place)

    def _crossed(self, answer: Any, place: str, what: str) -> Any:
        """The answer, or the program's exception where it holds what the user's own program's does not."""
        try:
            return self._formed(answer, place)
        except (TypeError, ValueError, OverflowError, RecursionError, ImportError) as error:
            self.raised_last = type(error)(f"{what} answered with {error}")
            raise self.raised_last from None

    def _formed(self, value: Any, place: str) -> Any:
        """Of '' as the place only its numbers are looked at."""
        if place and self._classes is None:
            self._seen.update(self._forms.forms_of(value, place))
        value = self._usual(value, self._knows)
        if not place or type(value) is float:  # as most answers are
            return value
        return self._made(value if self._classes is None else self._forms.in_form(value, place, self._known))

    def refuse(self, reason: str, *, by_program: bool = False) -> NotPlain:
        """Note why the two cannot be kept apart; the first reason is the one that counts."""
        if not self.refused:
            self.refused, self.by_program = reason, by_program
        return NotPlain(reason)

    def _told(self, function: str, error: Any) -> Exception:
        """The program's exception as the evaluator expects it."""
        kind, text = str(error.kind), str(error.text)
        if kind == "TypeError" and _NOT_PLAIN in text:
            return self.refuse(f"the answer of {function} cannot cross: {text}", by_program=True)
        if kind in ("StopIteration", "StopAsyncIteration"):
            return RuntimeError(f"the program raised {kind}")
        known = _BUILT_IN.get(kind)
        return known(text) if known is not None else CandidateError(f"{kind}: {text}" if text else kind)

    def _function(self, name: str) -> Callable[..., Any]:
        def forward(*args: Any, **named: Any) -> Any:
            return self.forward(name, args, named)

        forward.__name__ = forward.__qualname__ = name
        return forward

    def _class(self, name: str) -> Callable[..., Any]:
        """Calling it makes an object over there and a handle here."""

        def make(*args: Any, **named: Any) -> Any:
            return self.use("__handles__.new", [name, list(args), dict(named)], f"{name}.__new__")

        make.__name__ = make.__qualname__ = name
        return make

    # ------------------------------------------------------------ handles

    def use(self, function: str, arguments: Sequence[Any], what: str) -> Any:
        """Something done with an object of the program's: data, or a handle where that is another such object.

        Args:
            what: `Class.method`, by which the user's own program is known to answer with objects or not.
        """
        return self.told(self.call(function, [_keyed_deeply(value) for value in arguments], {}), what)

    def told(self, found: Sequence[Any], what: str) -> Any:
        """What the program's side means by ("value", data), ("handle", class, key) or ("not implemented",)."""
        if found[0] == "value":
            self._knows(f"{what}=")
            return self._crossed(found[1], what, what)
        if found[0] != "handle":
            return NotImplemented
        kind = str(found[1])
        only_data = self._classes is not None and f"{what}=" in self._classes
        if not self._knows(kind) or (not self._knows(f"{what}()") and only_data):
            raise self.refuse(
                f"the answer of {what} cannot cross: {kind} is not plain data, as your own program's is",
                by_program=True,
            )
        return self._handle(kind, str(found[2]))

    def _handle(self, kind: str, key: str) -> Handle:
        found = self._handles.get(key)
        if found is None:
            found = self._kind(kind)(self, key)
            self._handles[key] = found
        return found

    def _kind(self, kind: str) -> type[Handle]:
        """The handle class of a class of the program's: it has just the special methods that class has."""
        if kind not in self._kinds:
            has = self.call("__handles__.special", [kind, list(SPECIAL)], {})
            methods = {name: _special(name) for name in SPECIAL if name in has and self._knows(f"{kind}.{name}")}
            if "__eq__" in methods and "__hash__" not in methods:
                methods["__hash__"] = object.__hash__
            self._kinds[kind] = type(kind, (Handle,), methods)
        return self._kinds[kind]


SPECIAL = (
    "__len__", "__iter__", "__next__", "__getitem__", "__setitem__", "__delitem__", "__contains__", "__reversed__",
    "__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__bool__", "__int__", "__float__", "__complex__",
    "__index__", "__round__", "__abs__", "__neg__", "__pos__", "__invert__", "__str__", "__repr__", "__hash__",
    "__call__", "__enter__", "__exit__", "__array__",
    *(f"__{side}{name}__" for name in (
        "add", "sub", "mul", "matmul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor", "lshift", "rshift",
    ) for side in ("", "r", "i")),
)  # fmt: skip
"""What Python asks of an object by its type: forwarded where the program's class defines it."""


class Handle:
    """An object of the program's: methods are forwarded, attributes are fetched and set as plain data."""

    def __init__(self, proxy: Proxy, key: str) -> None:
        object.__setattr__(self, "_proxy", proxy)
        object.__setattr__(self, "_key", key)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        proxy, key, what = self._proxy, self._key, f"{type(self).__name__}.{name}"
        found = proxy.call("__handles__.look", [key, name], {})
        if found[0] == "callable":
            return lambda *args, **named: proxy.use("__handles__.use", [key, name, list(args), dict(named)], what)
        return proxy.told(found, what)

    def __setattr__(self, name: str, value: Any) -> None:
        self._proxy.call("__handles__.set", [self._key, name, _keyed(value)], {})


def _finder(module: str, taken: Mapping[str, Any]) -> Callable[[str], Any]:
    """A module's `__getattr__`."""

    def found(name: str) -> Any:
        if name in taken:
            return taken[name]
        raise AttributeError(f"module {module!r} has no attribute {name!r}")

    return found


def _special(name: str) -> Callable[..., Any]:
    """A special method that forwards."""
    if name == "__iter__":
        return lambda self: _items(self)
    if name == "__next__":
        return lambda self: _next(self)
    if name == "__array__":
        return lambda self, dtype=None, copy=None: _array(self, dtype)

    def forward(self: Handle, *args: Any) -> Any:
        what = f"{type(self).__name__}.{name}"
        return self._proxy.use("__handles__.use", [self._key, name, list(args), {}], what)

    forward.__name__ = name
    return forward


def _items(handle: Handle) -> Iterator[Any]:
    """The items one by one: the program's iterator says by a flag that there are no more, never by an exception."""
    what = f"{type(handle).__name__}.__iter__"
    iterator = handle._proxy.call("__handles__.iterate", [handle._key], {})
    while True:
        more, item = _step(handle._proxy, str(iterator), what)
        if not more:
            return
        yield item


def _next(handle: Handle) -> Any:
    more, item = _step(handle._proxy, handle._key, f"{type(handle).__name__}.__next__")
    if not more:
        raise StopIteration
    return item


def _step(proxy: Proxy, key: str, what: str) -> tuple[bool, Any]:
    found = proxy.call("__handles__.step", [key], {})
    if found is None:
        return False, None
    return True, proxy.told(found, what)


def _array(handle: Handle, dtype: Any) -> Any:
    import numpy

    what = f"{type(handle).__name__}.__array__"
    return numpy.asarray(handle._proxy.use("__handles__.use", [handle._key, "__array__", [], {}], what), dtype=dtype)


def _keyed(value: Any) -> Any:
    """A handle as the program's side knows it; all else as it is."""
    return {"__handle__": value._key} if isinstance(value, Handle) else value


def _keyed_deeply(value: Any) -> Any:
    if isinstance(value, list):
        return [_keyed(item) for item in value]
    return {name: _keyed(item) for name, item in value.items()} if isinstance(value, dict) else _keyed(value)


_TOLD_LATER = frozenset(f"__handles__.{name}" for name in ("new", "use", "look", "iterate", "step", "special", "set"))
"""Calls whose answers say what they mean before it is known where that belongs (`Proxy.told`)."""
_NAMED = {"__handles__.call": 0, "__handles__.new": 0, "__handles__.use": 1, "__handles__.look": 1}
"""Calls of the program's side of handles → which argument names what is asked."""


def _asked(function: str, args: Sequence[Any]) -> str:
    """What of the program is asked, as its writer calls it."""
    return str(args[_NAMED[function]]) if function in _NAMED else function


class _Opaque:
    """A name whose value cannot cross; using it says so."""

    def __init__(self, proxy: Proxy, reason: str) -> None:
        self._about = (proxy, reason)

    def __getattr__(self, attribute: str) -> Any:
        proxy, reason = self._about
        raise proxy.refuse(reason, by_program=True)
