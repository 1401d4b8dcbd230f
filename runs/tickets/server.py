"""The door for writers outside: a socket in the run's folder, open to this user alone; a line of JSON in, one out."""

from __future__ import annotations

import json
import os
import socket
import socketserver
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from runs.tickets.names import refused, whole
from utils.clean_text import one_line
from utils.errors import ConfigError, SwarmEvoError
from utils.logger_system import log_msg

SOCKET = "tickets.sock"
LONGEST_LINE = 32 * 1024 * 1024
"""Bytes of a request."""
_CROWDED = 0.02
"""Seconds after which whoever found the door crowded comes again."""
Answer = Callable[[Mapping[str, Any]], dict[str, Any]]


@contextmanager
def short_path(run_dir: Path) -> Iterator[str]:
    """A name of the socket that fits into the 108 bytes which the kernel has for one, however deep the run lies."""
    folder = os.open(run_dir, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{folder}/{SOCKET}"
    finally:
        os.close(folder)


class TicketServer:
    """Answers while it is open. Made by the process that holds the run, so that there is one."""

    def __init__(self, run_dir: Path, answer: Answer) -> None:
        self._path = run_dir / SOCKET
        self._path.unlink(missing_ok=True)
        with short_path(run_dir) as name:
            self._server = _Server(name, _handler(answer))
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True, name="tickets")
        self._thread.start()

    def close(self) -> None:
        """Answer who is there, and let nobody in any more."""
        self._path.unlink(missing_ok=True)
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Server(socketserver.ThreadingUnixStreamServer):
    daemon_threads = False
    request_queue_size = 64

    def server_bind(self) -> None:
        """For this user alone from its first moment on. By the process's umask, folders that other threads make
        meanwhile could be entered by nobody.
        """
        os.fchmod(self.socket.fileno(), 0o600)
        super().server_bind()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away in the middle is its own affair."""


def _handler(answer: Answer) -> type[socketserver.StreamRequestHandler]:
    class Handler(socketserver.StreamRequestHandler):
        timeout = 10.0

        def handle(self) -> None:
            line = self.rfile.readline(LONGEST_LINE + 1)
            if line.endswith(b"\n"):
                self.wfile.write(json.dumps(_answered(answer, line)).encode() + b"\n")

    return Handler


def _answered(answer: Answer, line: bytes) -> dict[str, Any]:
    """The answer to one line: whatever goes wrong, whoever asked hears it in one line."""
    try:
        request = json.loads(line)
        if not isinstance(request, dict):
            raise ValueError("not an object")
    except (ValueError, RecursionError) as error:
        return whole(refused(f"the request cannot be read: {error}"))
    verb = str(request.get("verb"))[:20]
    try:
        return answer(request)
    except ConfigError as error:
        return whole(refused(str(error)))
    except SwarmEvoError as error:
        log_msg("ERROR", f"{verb} could not be answered: {error}")
        return whole(refused(f"{verb} could not be answered: {error}", "wait"))
    except Exception as error:  # noqa: BLE001  # a problem's own code looks at programs, and may break
        said = one_line(f"{verb} broke inside: {type(error).__name__}: {error}", 500)
        log_msg("ERROR", f"{said}\n{traceback.format_exc()}")
        return whole(refused(f"{said} (the run's system.log has the whole of it)", "wait"))


def call(run_dir: Path, request: Mapping[str, Any], timeout: float) -> dict[str, Any] | None:
    """The answer of the process that holds the run; None where none does, or where it went away before it answered.

    A request that is too long to be read is refused here: whoever reads hangs up in the middle of it.
    """
    line = json.dumps(request).encode() + b"\n"
    if len(line) > LONGEST_LINE:
        much = f"a request of {len(line) >> 20} MB; at most {LONGEST_LINE >> 20} MB are read"
        return whole(refused(f"{much}: hand in less", str(request.get("verb"))))
    with suppress(OSError), short_path(run_dir) as name, socket.socket(socket.AF_UNIX) as client:
        if os.path.islink(name):  # a stranger's run leads to somebody else's socket
            return None
        _enter(client, name, timeout)
        client.settimeout(timeout)
        client.sendall(line)
        answer = client.makefile("rb").readline()
        if answer.endswith(b"\n"):
            found: dict[str, Any] = json.loads(answer)
            return found
    return None


def _enter(client: socket.socket, name: str, timeout: float) -> None:
    """Connect, where as many wait to be let in as the kernel holds as soon as one of them is; so long at most."""
    end = time.monotonic() + timeout
    client.setblocking(False)
    while True:
        try:
            client.connect(name)
        except BlockingIOError:
            if time.monotonic() > end:
                raise
            time.sleep(_CROWDED)
        else:
            return
