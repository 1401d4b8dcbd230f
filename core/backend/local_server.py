"""A server on this machine that speaks OpenAI's chat completions, asked without an SDK.

Such a server answers in milliseconds, where the SDK takes half a second of CPU to load and as much as a program's
whole prompt a call. It has no proxy, no certificate and no address that moves: plain HTTP is all there is to do.
"""

from __future__ import annotations

import json
import select
import threading
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from http.client import HTTPConnection, HTTPResponse
from socket import SHUT_RDWR
from typing import Any
from urllib.parse import urlsplit

from core.backend.deadline import Deadline
from core.backend.settings import ModelSettings
from core.backend.stream import LARGEST_REPLY

_IDLE_SECONDS = 5.0
"""After so long a server may have closed a connection that nobody uses."""
_MOST_BYTES = 16 * LARGEST_REPLY
"""Of an answer, and of an event of a stream."""
_PIECE = 1 << 16


class ServerFault(ValueError):
    """What a server says in the place of a reply, with the fields by which `faults` reads an SDK's error.

    Args:
        status_code: None where the reply had begun.
    """

    def __init__(self, text: str, status_code: int | None, response: HTTPResponse | None = None) -> None:
        super().__init__(text if status_code is None else f"Error code: {status_code} - {text}")
        self.status_code = status_code
        self.response = response
        try:
            self.body = json.loads(text)
        except (ValueError, RecursionError):
            self.body = None
        error = self.body.get("error") if isinstance(self.body, dict) else None
        self.code = error.get("code") if isinstance(error, dict) else None


class LocalServer:
    """Connections to one server, each used by one call at a time. Thread-safe."""

    def __init__(self, settings: ModelSettings) -> None:
        parts = urlsplit(settings.base_url)
        self._host, self._port = parts.hostname or "", parts.port
        self._path = f"{parts.path.rstrip('/')}/chat/completions"
        self._headers = {
            "Authorization": f"Bearer {settings.key_text or 'none'}", "Content-Type": "application/json",
            "Accept": "application/json", "User-Agent": "swarm-evo",
        }  # fmt: skip
        self._lock = threading.Lock()
        self._idle: list[tuple[HTTPConnection, float]] = []
        """With the time since when."""
        self._used: set[HTTPConnection] = set()
        self._closed = False

    def answer(self, body: dict[str, Any], deadline: Deadline) -> bytes:
        """The whole answer to a request."""
        with self._asked(body, deadline) as response:
            return _whole(response, deadline)

    def events(self, body: dict[str, Any], deadline: Deadline) -> Generator[bytes]:
        """What the events of a stream hold, up to `[DONE]`. One that is cut off is not among them."""
        with self._asked(body, deadline) as response:
            data: list[bytes] = []
            while line := response.readline(_MOST_BYTES):
                if not line.endswith(b"\n") and len(line) == _MOST_BYTES:
                    raise ValueError(f"a line of more than {_MOST_BYTES >> 20} MB in a stream")
                line = line.rstrip(b"\r\n")
                if line.startswith(b"data:"):
                    data.append(line[5:].removeprefix(b" "))
                elif not line and data:
                    event, data = b"\n".join(data), []
                    if event == b"[DONE]":
                        break
                    yield event
            _whole(response, deadline)

    def close(self) -> None:
        """End all connections: a call under way ends with them."""
        with self._lock:
            self._closed, idle, used = True, self._idle, list(self._used)
            self._idle = []
        for connection, _ in idle:
            connection.close()
        for connection in used:
            with suppress(OSError, AttributeError):  # it has no socket yet, or none any more
                connection.sock.shutdown(SHUT_RDWR)

    @contextmanager
    def _asked(self, body: dict[str, Any], deadline: Deadline) -> Iterator[HTTPResponse]:
        connection = self._connection(deadline)
        is_kept = False
        try:
            connection.request("POST", self._path, json.dumps(body).encode(), self._headers)
            response = connection.getresponse()
            if not 200 <= response.status < 300:
                told = _whole(response, deadline).decode("utf-8", "replace")
                raise ServerFault(told or response.reason, response.status, response)
            yield response
            is_kept = response.isclosed() and not response.will_close
        finally:
            with self._lock:
                self._used.discard(connection)
                is_kept = is_kept and not self._closed
                self._idle += [(connection, time.monotonic())] if is_kept else []
            if not is_kept:
                connection.close()

    def _connection(self, deadline: Deadline) -> HTTPConnection:
        """One that is open and idle, or a new one; no step of its call takes longer than the deadline leaves."""
        seconds = max(0.001, deadline.left)
        with self._lock:
            while self._idle:
                connection, since = self._idle.pop()
                if time.monotonic() - since < _IDLE_SECONDS and not _is_over(connection):
                    connection.sock.settimeout(seconds)
                    break
                connection.close()
            else:
                connection = HTTPConnection(self._host, self._port, timeout=seconds)
            self._used.add(connection)
        return connection


def _is_over(connection: HTTPConnection) -> bool:
    """True if the server has closed it, or says what nobody asked for."""
    poll = select.poll()
    poll.register(connection.sock, select.POLLIN)
    return bool(poll.poll(0))


def _whole(response: HTTPResponse, deadline: Deadline) -> bytes:
    """What is left of an answer. ValueError for one that does not end."""
    found = bytearray()
    while piece := response.read(_PIECE):
        deadline.check()
        found += piece
        if len(found) > _MOST_BYTES:
            raise ValueError(f"an answer of more than {_MOST_BYTES >> 20} MB")
    return bytes(found)
