"""The candidate's side of a session: reads a frame of calls, makes them, writes a frame of answers.

Nothing here is trusted: the program shares the process and may replace any of it. The host checks every answer.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any, NoReturn

from . import candidate, plain

_CHANNEL = candidate.CHANNEL


def serve(prelude: str, source: str) -> NoReturn:
    module = ModuleType("solution")
    module.__dict__.update(__file__=candidate.FILE, __builtins__=__builtins__)
    sys.modules["solution"] = module
    try:
        if prelude:
            candidate.execute(prelude, candidate.PRELUDE, module)
        candidate.execute(source, candidate.FILE, module)
    except BaseException as error:  # noqa: BLE001 - whatever loading raised is told to the host
        candidate.show(error)
        _write({"error": candidate.describe(error)})
        candidate.finish(1)
    _write({"ready": True})
    while True:
        _answer(module, _read())


def _answer(module: ModuleType, request: dict[str, Any]) -> None:
    try:
        rich = request["rich"]
        if "names" in request:
            _write({"value": plain.wrap(_names(module))})
            return
        function = _find(module, request["call"])
        batch = request["batch"]
        if rich:
            answers = [plain.wrap(function(*plain.unwrap(args), **plain.unwrap(named))) for args, named in batch]
        else:
            answers = [function(*args) for args in batch]
        _write({"answers": answers})
    except SystemExit as error:
        _write({"error": candidate.describe(error)})
    except BaseException as error:  # noqa: BLE001 - whatever the program raised is its answer
        candidate.show(error)
        _write({"error": candidate.describe(error)})


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


def _read() -> dict[str, Any]:
    size = int.from_bytes(_exactly(4), "little")
    return json.loads(_exactly(size))  # type: ignore[no-any-return]


def _exactly(size: int) -> bytes:
    parts = []
    while size:
        part = os.read(_CHANNEL, min(size, 1 << 20))
        if not part:
            candidate.finish(0)
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def _write(message: dict[str, Any]) -> None:
    data = memoryview(plain.encode(message))
    data = memoryview(len(data).to_bytes(4, "little") + data)
    while data:
        data = data[os.write(_CHANNEL, data) :]
