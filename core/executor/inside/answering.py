"""The candidate's side of a session: reads a frame of calls, makes them, writes a frame of answers.

Nothing here is trusted: the program shares the process and may replace any of it. The host checks every answer.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from types import CodeType, ModuleType
from typing import Any, NoReturn

from . import candidate, interpreter, packed, plain, reuse
from .messages import Job

_CHANNEL = candidate.CHANNEL
_HEADER = 4
_USUAL = 1 << 16


def serve(prelude: CodeType | None, job: Job) -> NoReturn:
    if job.lasting:
        _serve_again_and_again(prelude, job)
    module = _load(prelude, None, job)
    while True:
        _write(_answer(module, _request()))


def _serve_again_and_again(prelude: CodeType | None, job: Job) -> NoReturn:
    """Each use of the program is a fresh namespace in a process that is told to be as the first use found it."""
    found = reuse.Found()
    code = candidate.compiled(job.code, candidate.FILE)
    module = _load(prelude, code, job)
    found.note_imports(vars(module))
    while True:
        data = _request()
        if data == reuse.LEAVE:
            sys.modules.pop("solution", None)
            vars(module).clear()
            sys.stdout.flush()
            sys.stderr.flush()
            _write(plain.encode({"left": found.is_left()}))
        elif data.startswith(reuse.AGAIN):
            interpreter.seed(int(data[len(reuse.AGAIN) :]))
            module = _load(prelude, code, job)
        else:
            _write(_answer(module, data))


def _load(prelude: CodeType | None, code: CodeType | None, job: Job) -> ModuleType:
    """The program in a new namespace, and the host told so; what it raises ends the process."""
    module = ModuleType("solution")
    module.__dict__.update(__file__=candidate.FILE, __builtins__=__builtins__)
    sys.modules["solution"] = module
    try:
        if job.prelude:
            candidate.execute(job.prelude, candidate.PRELUDE, module, prelude)
        candidate.execute(job.code, candidate.FILE, module, code)
    except BaseException as error:  # noqa: BLE001 - whatever loading raised is told to the host
        candidate.show(error)
        _write(plain.encode({"error": candidate.describe(error)}))
        candidate.finish(1)
    _write(plain.encode({"ready": True}))
    return module


def _answer(module: ModuleType, data: bytes) -> bytes:
    """The answer's frame, in the form of the request's where that can say it."""
    try:
        request = packed.unpack(data) if packed.is_packed(data) else plain.decode(data)
        answer = _made(module, request)
        return (packed.pack(answer) if packed.is_packed(data) else None) or plain.encode(answer)
    except SystemExit as error:
        return plain.encode({"error": candidate.describe(error)})
    except BaseException as error:  # noqa: BLE001 - whatever the program raised is its answer
        candidate.show(error)
        return plain.encode({"error": candidate.describe(error)})


def _made(module: ModuleType, request: dict[str, Any]) -> dict[str, Any]:
    if "names" in request:
        return {"value": plain.wrap(_names(module))}
    function = _find(module, request["call"])
    batch = request["batch"]
    if request["rich"]:
        return {"answers": [plain.wrap(_called(function, args, named)) for args, named in batch]}
    return {"answers": [function(*args) for args in batch]}


def _called(function: Callable[..., Any], args: Any, named: Any) -> Any:
    """`named` is None where there are no named arguments."""
    return function(*plain.unwrap_given(args), **({} if named is None else plain.unwrap_given(named)))


def _names(module: ModuleType) -> dict[str, Any]:
    """What the program offers: values that are plain data, functions, classes."""
    found: dict[str, Any] = {}
    for name, value in list(vars(module).items()):
        if isinstance(value, ModuleType) or name in ("__builtins__", "__file__", "__loader__", "__spec__"):
            continue
        if isinstance(value, type):
            found[name] = {"class": True}
        elif callable(value):
            found[name] = {"callable": True}
        else:
            try:
                plain.wrap(value)
                found[name] = {"value": value}
            except (TypeError, ValueError, RecursionError):
                found[name] = {"object": type(value).__name__}
    return found


def _find(module: ModuleType, path: str) -> Callable[..., Any]:
    found: Any = module
    for name in path.split("."):
        found = getattr(found, name)
    return found  # type: ignore[no-any-return]


def _request() -> bytes:
    """The next request. Nobody sends a second one before the first is answered, and most come in one piece."""
    data = os.read(_CHANNEL, _USUAL)
    if len(data) < _HEADER:
        data += _exactly(_HEADER - len(data))
    size = int.from_bytes(data[:_HEADER], "little")
    rest = data[_HEADER:]
    return rest if len(rest) == size else rest + _exactly(size - len(rest))


def _exactly(size: int) -> bytes:
    parts = []
    while size:
        part = os.read(_CHANNEL, min(size, 1 << 20))
        if not part:
            candidate.finish(0)
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def _write(data: bytes) -> None:
    frame = len(data).to_bytes(_HEADER, "little") + data
    written = os.write(_CHANNEL, frame)
    while written < len(frame):
        written += os.write(_CHANNEL, memoryview(frame)[written:])
