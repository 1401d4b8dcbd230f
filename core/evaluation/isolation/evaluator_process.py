"""The trusted process of a user's evaluator: `python -P evaluator_process.py FD`.

Standard library only; started by path, so that the evaluator's imports never meet our packages. It is told the
evaluator's file, loads it, hands it a candidate that is a proxy, and reports what it returned.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import math
import os
import socket
import sys
import threading
import traceback
from collections.abc import Mapping, Sequence
from typing import Any

_FORKED = "the evaluator calls the candidate from several processes"
_HERE = os.path.dirname(os.path.abspath(__file__))
_INSIDE = os.path.join(_HERE, "..", "..", "executor", "inside")


def _load_ours(name: str, folder: str) -> Any:
    """Load one of our files under a name that nothing of the user's can have."""
    spec = importlib.util.spec_from_file_location(f"_swarm_evo.{name}", os.path.join(folder, f"{name}.py"))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


class LinkedSession:
    """A session in the main process, reached over a socket. Its calls may come from any thread, not from a fork."""

    def __init__(self, channel: socket.socket, frames: Any, plain: Any, proxy: Any) -> None:
        self._channel, self._frames, self._plain, self._proxy = channel, frames, plain, proxy
        self._turn = threading.Lock()
        self._process = os.getpid()

    def call_rich(self, function: str, args: Sequence[Any], named: Mapping[str, Any], *, timeout: float) -> Any:
        wrapped = {"args": self._plain.wrap(list(args)), "named": self._plain.wrap(dict(named))}
        return self._plain.unwrap(self._ask({"call": function, "timeout": timeout, **wrapped}))

    def look(self, timeout: float) -> dict[str, Any]:
        found: dict[str, Any] = self._plain.unwrap(self._ask({"names": True, "timeout": timeout}))
        return found

    def _ask(self, request: dict[str, Any]) -> Any:
        if os.getpid() != self._process:
            # a fork shares the socket: answers would go to whoever reads first, so only this one word is said over it
            self._frames.send(self._channel, {"refused": _FORKED})
            raise self._proxy.NotPlain(_FORKED)
        with self._turn:
            self._frames.send(self._channel, request)
            received = self._frames.receive(self._channel)
        if received is None:
            os._exit(3)
        answer = received[0]
        if "failed" in answer:
            raise self._proxy.ProgramFailed(*answer["failed"])
        return answer["value"]


def main(channel: socket.socket) -> None:
    frames, plain = _load_ours("frames", _INSIDE), _load_ours("plain", _INSIDE)
    proxies = _load_ours("proxy", _HERE)
    received = frames.receive(channel)
    if received is None:
        return
    task = received[0]
    session = LinkedSession(channel, frames, plain, proxies)
    proxy = proxies.Proxy(session, timeout=task["call_timeout"])
    report: dict[str, Any] = {"value": None, "error": None}
    try:
        with proxies.installed(proxy, task["program"]):
            report["value"] = to_plain(load(task["evaluator"], task["function"])(task["program"]))
    except BaseException as error:  # noqa: BLE001 - the user's evaluator may raise anything, SystemExit too
        report["error"] = "".join(traceback.format_exception(error))[-4000:]
    failed = proxy.failed
    report["refused"] = proxy.refused
    report["failed"] = None if failed is None else [failed.failure, failed.message, failed.exc_type]
    frames.send(channel, {"report": report})


def load(path: str, function: str) -> Any:
    """The evaluator's function, its folder first on the path as if it had been started there."""
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    name = os.path.splitext(os.path.basename(path))[0]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return getattr(module, function)


def to_plain(value: Any) -> Any:
    """What an evaluator returned as JSON data: numbers, texts, mappings, and objects with `metrics` and `artifacts`."""
    if value is None or isinstance(value, bool | str | int):
        return value
    if isinstance(value, float) or (hasattr(value, "item") and not hasattr(value, "__len__")):
        number = float(value)
        return number if math.isfinite(number) else repr(number)
    if isinstance(value, Mapping):
        return {str(key): to_plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [to_plain(item) for item in value]
    if hasattr(value, "tolist"):
        return to_plain(value.tolist())
    if hasattr(value, "metrics"):
        return {"metrics": to_plain(value.metrics), "artifacts": to_plain(getattr(value, "artifacts", {}) or {})}
    if hasattr(value, "__dict__"):
        return to_plain(vars(value))
    return str(value)


if __name__ == "__main__":
    json.dumps(None)  # loaded before the evaluator can put a json.py of its own in front
    main(socket.socket(fileno=int(sys.argv[1])))
