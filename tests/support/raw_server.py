"""Servers on loopback that answer byte for byte: every POST as a script says, or one request with what no server
that is well would send."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = tuple[int, str, bytes]
"""Status, content type, body."""
Script = Callable[[dict[str, Any]], Answer]


def whole(body: Any, status: int = 200) -> Answer:
    """A body of JSON."""
    return status, "application/json", json.dumps(body).encode()


def streamed(*events: Any) -> Answer:
    """Server-sent events, each of which holds JSON, and the end as OpenAI has it."""
    lines = [f"data: {json.dumps(event)}\n\n" for event in events]
    return 200, "text/event-stream", "".join([*lines, "data: [DONE]\n\n"]).encode()


class RawServer:
    """Use as a context manager. `asked` holds the bodies of the requests, oldest first, `paths` where they went, and
    `headers` theirs, by names in small letters."""

    def __init__(self, script: Script) -> None:
        self.asked: list[dict[str, Any]] = []
        self.paths: list[str] = []
        self.headers: list[dict[str, str]] = []
        self._script = script
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True)
        self.url = f"http://127.0.0.1:{self._http.server_port}"

    def __enter__(self) -> RawServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join(60)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = -1  # head and body in one packet

            def do_POST(self) -> None:
                request = json.loads(self.rfile.read(int(self.headers["content-length"])))
                server.asked.append(request)
                server.paths.append(self.path)
                server.headers.append({name.lower(): value for name, value in self.headers.items()})
                status, kind, body = server._script(request)
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        return Handler


@contextmanager
def answering_once(answer: bytes, until_left: bool = False) -> Iterator[str]:
    """The address of a server that reads one request to its end, sends these bytes and hangs up; `until_left`: it
    stays until the other side hangs up. A request of which a part is unread at the end would have the kernel reset
    the connection, and the answer be lost."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(60)

        def serve() -> None:
            try:
                connection, _ = listening.accept()
            except OSError:  # nobody came
                return
            with connection:
                connection.settimeout(60)
                read_request(connection)
                connection.sendall(answer)
                while until_left and connection.recv(65536):
                    pass

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            listening.shutdown(socket.SHUT_RDWR)  # wakes who waits for a request that never came
            thread.join(60)


def read_request(connection: socket.socket) -> None:
    """Head and body of one request; a client may send them in as many packets as it likes."""
    with connection.makefile("rb") as stream:
        size = 0
        while (line := stream.readline()).strip():
            name, _, value = line.partition(b":")
            if name.strip().lower() == b"content-length":
                size = int(value)
        stream.read(size)
