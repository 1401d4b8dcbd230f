"""Calls of a candidate from other processes of its evaluator's: forks, and children that run the candidate's file.

Many evaluators try a program in a process of its own, to be rid of it after a time. What they import there stands in
for the program as it does in the evaluator's own process, to which each call goes over a socket: there is still one
that asks the program, and one that looks at what it answers. Plain data alone crosses here. Where the file is run as a
script, the program is, in its sandbox: what it prints and its exit status come back.

Standard library only: it is loaded by path into processes that hold user code and never see our packages.
"""

from __future__ import annotations

import builtins
import os
import select
import socket
import stat
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from types import ModuleType
from typing import Any, NoReturn

NAME = "calls"
"""Of the socket, in the folder of the program's file."""
_HEADER = 4
_BREATH_SECONDS = 0.05
_LIBRARIES = f"{os.path.dirname(os.path.abspath(os.__file__))}{os.sep}"
_GIVEN_SECONDS = 5.0
"""Until a script has all its input, or is no longer waited for: one that talks with its evaluator never has."""
FILE = """# The candidate is behind a proxy: this file stands in for it, and its functions call it.
import importlib.util as _util
_spec = _util.spec_from_file_location("_swarm_evo.elsewhere", {here!r})
_elsewhere = _util.module_from_spec(_spec)
_spec.loader.exec_module(_elsewhere)
if __name__ == "__main__":
    _elsewhere.run({address!r}, {plain!r}, {marker!r})
else:
    _elsewhere.fill(globals(), {address!r}, {plain!r})
"""
"""What stands in the program's file."""


class CandidateError(Exception):
    """An exception in the candidate whose type is not a built-in one."""

    __module__ = "builtins"


class Relay:
    """In the evaluator's own process: answers what the others ask.

    Args:
        folder: of the program's file.
        text: the program.
        fill: gives a module the program's names; → those that the user's own program has not.
        call: calls a function of the program.
        refuse: notes why the two cannot be kept apart; the exception to raise.
        give_up: notes that nobody waits for a call that is on its way while the next one comes; the exception to raise.
            A child that is killed leaves the program at work, which would be seen as slow in what it is asked later.
    """

    def __init__(
        self, folder: str, text: str, fill: Callable[[ModuleType], dict[str, Any]], call: Callable[..., Any],
        refuse: Callable[..., Exception], give_up: Callable[[], Exception], plain: Any,
    ) -> None:  # fmt: skip
        self.address = f"{folder}/{NAME}"
        self._text, self._call, self._refuse, self._plain = text, call, refuse, plain
        self.ask = Caller(self.address, plain).call
        """From a fork of the process."""
        self._give_up = give_up
        self._waiting: set[socket.socket] = set()
        """Whose call is on its way."""
        program = ModuleType("program")
        further = fill(program)
        named = {name: value for name, value in vars(program).items() if not name.startswith("__")}
        self._offered = {name: self._told(value) for name, value in named.items()}
        self._offered |= {name: {**self._told(value), "further": True} for name, value in further.items()}
        self._listening = socket.socket(socket.AF_UNIX)
        with _near(self.address) as near:
            self._listening.bind(near)
        self._listening.listen(64)
        threading.Thread(target=self._accept, daemon=True).start()

    def _told(self, value: Any) -> dict[str, Any]:
        if callable(value):
            return {"function": True}
        try:
            return {"value": self._plain.wrap_given(value)}
        except TypeError:
            return {"function": False}

    def _accept(self) -> None:
        while True:
            try:
                connection = self._listening.accept()[0]
            except OSError:  # no further file may be open for now; who asks waits
                time.sleep(_BREATH_SECONDS)
                continue
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with connection, suppress(OSError):
            while (request := _read(connection)) is not None:
                given_up = any(map(_is_gone, list(self._waiting)))
                self._waiting.add(connection)
                try:
                    answer = self._answer(request, given_up=given_up)
                finally:
                    self._waiting.remove(connection)
                _write(connection, answer)

    def _answer(self, request: bytes, *, given_up: bool) -> bytes:
        try:
            asked = self._plain.decode(request)
            if "names" in asked:
                return bytes(self._plain.encode({"names": self._offered}))
            if given_up:
                raise self._give_up()
            if "words" in asked:
                given = self._plain.unwrap_given(asked["given"])
                printed = self._call("__handles__.main", [self._text, asked["words"], given], {})
                return bytes(self._plain.encode({"value": self._plain.wrap(printed)}))
            if not self._offered[asked["call"]]["function"]:
                raise self._refuse(f"{asked['call']} of the candidate cannot cross", by_program=True)
            args, named = (self._plain.unwrap_given(asked[part]) for part in ("args", "named"))
            return bytes(self._plain.encode({"value": self._plain.wrap_given(self._call(asked["call"], args, named))}))
        except BaseException as error:  # noqa: BLE001 - the one that asks is told
            return bytes(self._plain.encode({"raised": [type(error).__name__, str(error)]}))


class Caller:
    """In another process: one connection to the evaluator's. A fork of that has one of its own."""

    def __init__(self, address: str, plain: Any) -> None:
        self._address, self._plain = address, plain
        self._process, self._turn = 0, threading.Lock()
        self._connection: socket.socket | None = None

    def names(self) -> dict[str, Any]:
        return dict(self._asked({"names": True})["names"])

    def call(self, name: str, args: Sequence[Any], named: Mapping[str, Any]) -> Any:
        """The program's answer, or its exception."""
        sent = {"call": name, "args": self._plain.wrap_given(list(args)), "named": self._plain.wrap_given(dict(named))}
        return self._answer(sent)

    def main(self, words: Sequence[str], given: bytes) -> dict[str, Any]:
        """The program run as a script: what it printed on either stream, and its exit status."""
        return dict(self._answer({"words": list(words), "given": self._plain.wrap(given)}))

    def _answer(self, sent: dict[str, Any]) -> Any:
        told = self._asked(sent)
        if "value" in told:
            return self._plain.unwrap_given(told["value"])
        kind, text = told["raised"]
        known = getattr(builtins, kind, CandidateError)
        raise (known if issubclass(known, Exception) else CandidateError)(text)

    def _asked(self, request: dict[str, Any]) -> dict[str, Any]:
        if self._process != os.getpid():
            self._process, self._turn = os.getpid(), threading.Lock()
            self._connection = socket.socket(socket.AF_UNIX)
            with _near(self._address) as near:
                self._connection.connect(near)
        assert self._connection is not None
        with self._turn:
            _write(self._connection, self._plain.encode(request))
            answer = _read(self._connection)
        if answer is None:
            raise CandidateError("the evaluator's own process is gone")
        return dict(self._plain.decode(answer))


def fill(namespace: dict[str, Any], address: str, plain: str) -> None:
    """Give a module the program's names, in a process that runs the program's file.

    Args:
        plain: path of the module of that name.
    """
    data = _begun(plain)
    caller = Caller(address, data)
    for name in ("_util", "_spec", "_elsewhere"):
        namespace.pop(name, None)
    taken: dict[str, Any] = {}
    modules = [module for module in list(sys.modules.values()) if _is_users(module)]
    spaces = [namespace, vars(builtins), *(getattr(module, "__dict__", {}) for module in modules)]
    for name, what in caller.names().items():
        value = data.unwrap_given(what["value"]) if "value" in what else _function(caller, name, namespace["__name__"])
        is_copied = what.get("function", True) and not ("further" in what and any(name in space for space in spaces))
        (namespace if is_copied else taken)[name] = value

    def found(name: str) -> Any:
        if name in taken:
            return taken[name]
        raise AttributeError(f"module {namespace['__name__']!r} has no attribute {name!r}")

    if taken:
        namespace["__getattr__"] = found


def _is_users(module: Any) -> bool:
    """Whether it is none of the interpreter's or of an installed package."""
    file = getattr(module, "__file__", None) or _LIBRARIES
    is_library = file.startswith(_LIBRARIES) or "/site-packages/" in file
    return module is sys.modules.get("__main__") or not is_library


def run(address: str, plain: str, marker: str) -> NoReturn:
    """In place of the program's file, run as a script.

    Args:
        marker: a file to make where the program cannot be run so.
    """
    data, given = _begun(plain), _given()
    if given is None:
        with open(marker, "w"):
            pass
        raise SystemExit("the candidate of this evaluator is behind a proxy and cannot be talked with as a script")
    told = Caller(address, data).main(sys.argv[1:], given)
    for stream, printed in ((sys.stdout, told["out"]), (sys.stderr, told["err"])):
        binary = getattr(stream, "buffer", None)  # whoever runs it within a process of its own may catch only text
        stream.write(printed.decode("utf-8", "replace")) if binary is None else binary.write(printed)
        stream.flush()
    raise SystemExit(told["status"])


def _given() -> bytes | None:
    """All that is on the standard input; None where that does not end."""
    try:
        mode = os.fstat(0).st_mode
    except OSError:  # it is closed
        return b""
    parts: list[bytes] = []
    while stat.S_ISREG(mode) or stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode):  # `asyncio` hands over a socket
        if not select.select([0], [], [], _GIVEN_SECONDS)[0]:
            return None
        parts.append(os.read(0, 1 << 20))
        if not parts[-1]:
            break
    return b"".join(parts)


def _begun(plain: str) -> Any:
    """The module `plain`, in a process that from here on quotes no line of the evaluator's."""
    _loaded("hidden_lines", os.path.join(os.path.dirname(os.path.abspath(__file__)), "hidden_lines.py")).hide_lines()
    return _loaded("plain", plain)


def _loaded(name: str, path: str) -> Any:
    from importlib.util import module_from_spec, spec_from_file_location

    spec = spec_from_file_location(f"_swarm_evo.{name}", path)
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _function(caller: Caller, name: str, module: str) -> Callable[..., Any]:
    def forward(*args: Any, **named: Any) -> Any:
        return caller.call(name, args, named)

    forward.__name__ = forward.__qualname__ = name
    forward.__module__ = module  # by which it is found again in another process
    return forward


@contextmanager
def _near(address: str) -> Iterator[str]:
    """A name for a socket by its folder's descriptor: a whole path may be longer than a socket's can be."""
    folder = os.open(os.path.dirname(address), os.O_PATH | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{folder}/{NAME}"
    finally:
        os.close(folder)


def _is_gone(connection: socket.socket) -> bool:
    """Whether nobody is at the other end, who would say nothing while waiting."""
    with suppress(OSError):
        return not connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
    return False


def _read(connection: socket.socket) -> bytes | None:
    """None at the end."""
    header = _exactly(connection, _HEADER)
    return None if header is None else _exactly(connection, int.from_bytes(header, "little"))


def _exactly(connection: socket.socket, size: int) -> bytes | None:
    parts = []
    while size:
        part = connection.recv(min(size, 1 << 20))
        if not part:
            return None
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def _write(connection: socket.socket, data: bytes) -> None:
    connection.sendall(len(data).to_bytes(_HEADER, "little") + data)
