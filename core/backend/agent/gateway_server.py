"""The HTTP that an agent speaks with its gateway: bounded requests of the session's own, replies as they come."""

from __future__ import annotations

import http.client
import json
import secrets
import socket
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

from core.backend.agent.dialects import Asked, understood
from core.backend.agent.route import Route
from core.backend.agent.session_access import SessionAccess
from core.backend.exchange import Exchanged, Usage
from utils.errors import BackendError
from utils.json_cost import TooDear, check_cost

LARGEST_BODY = 32 * 1024 * 1024
"""Bytes of a request, and what is kept of a reply."""
_SMALL = 1024 * 1024
"""Bytes of a request that is read at once with others."""
MOST_PARSED = 64 * 1024 * 1024
"""Bytes that a request may become when it is read: more than any model's context, as text."""
AT_ONCE = 64
"""Connections; a further one is closed."""
_KEPT = (
    "content-type",
    "accept",
    "anthropic-version",
    "anthropic-beta",
    "openai-beta",
    "user-agent",
    "x-goog-api-client",
)


class GatewayServer(ThreadingHTTPServer):
    """An agent is as untrusted as its program: what it may hold of this process's threads and memory is bounded."""

    block_on_close = False

    def __init__(self, listener: socket.socket, gateway: SessionAccess) -> None:
        super().__init__(listener.getsockname()[:2], _Handler, bind_and_activate=False)
        self.gateway = gateway
        self.one_large = threading.Lock()
        """Held while a large request is read: what is read is counted, and refused where it is too much."""
        self._places = threading.BoundedSemaphore(AT_ONCE)
        self.socket.close()
        self.socket = listener
        listener.listen(64)

    def verify_request(self, request: Any, client_address: Any) -> bool:
        return self._places.acquire(blocking=False)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._places.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """An agent that went away in the middle is its own affair."""


_OWN = ("/check", "/give_up")
"""Paths that are no model's: they count, or end the session, so that no look at an address may do it."""


class _Handler(BaseHTTPRequestHandler):
    server: GatewayServer
    timeout = 60.0

    def do_GET(self) -> None:
        self._serve(b"")

    def do_HEAD(self) -> None:
        self._refuse(200, "")

    def do_POST(self) -> None:
        size = self.headers.get("content-length", "")
        if not size.isdigit() or int(size) > LARGEST_BODY:
            self._refuse(413, "a request has a length, of at most 32 MiB")
            return
        if int(size) <= _SMALL:
            raw = self.rfile.read(int(size))
        elif self._may_ask():
            with self.server.one_large:
                raw = self.rfile.read(int(size))
        else:
            return
        if len(raw) == int(size):  # else the agent hung up in the middle: half a request is none
            self._serve(raw)

    def do_CONNECT(self) -> None:
        self._refuse(403, "the gateway leads to one model and nowhere else")

    def log_message(self, *_: Any) -> None:
        pass

    def _serve(self, raw: bytes) -> None:
        path = urlsplit(self.path).path
        if not self._may_ask():
            return
        try:
            check_cost(raw, MOST_PARSED)
        except TooDear as error:
            self._refuse(413, str(error))
            return
        if path == "/mcp":
            self._answer_mcp(raw)
            return
        if path in _OWN and self.command != "POST":
            self._refuse(405, "this is asked with POST")
            return
        asked = understood(path, raw)
        own = self.server.gateway.own(path, asked.body if asked else _object(raw))
        if own is not None:
            self._send(200, json.dumps(own).encode())
        elif asked is None:
            self._refuse(404, f"no model answers at {path}")
        else:
            self._pass_on(asked, raw)

    def _may_ask(self) -> bool:
        """Who may not is told why."""
        if not self.path.startswith("/") or not self.server.gateway.is_ours(self.headers.get("host", "")):
            self._refuse(403, "the gateway leads to one model and nowhere else")
        elif not _has_token(dict(self.headers), self.path, self.server.gateway.token):
            self._refuse(401, "the session's token is missing or wrong")
        else:
            return True
        return False

    def _answer_mcp(self, raw: bytes) -> None:
        if self.command != "POST":
            self._refuse(405, "one message a POST; nothing is sent by itself")
            return
        found = self.server.gateway.by_mcp(raw)
        self._send(200 if found else 202, found.encode())

    def _pass_on(self, asked: Asked, raw: bytes) -> None:
        began, body, worst, usd = time.monotonic(), asked.body, Usage(0, 0), 0.0
        gateway, ends = self.server.gateway, self.server.gateway.is_first(asked)
        try:
            route, headers = gateway.upstream(asked)
            ends = True  # a limit that is reached always does
            if not asked.free:
                body, worst, usd = gateway.admit(asked, len(raw))
        except BackendError as error:
            if ends:
                gateway.end(str(error))
            self._refuse(403, str(error))
            return
        sent = json.dumps(body).encode() if self.command == "POST" else b""
        status, reply, broke = self._stream(asked, route, headers, sent)
        if not asked.free:
            kept = Exchanged(asked.model, self.path, body, reply.decode("utf-8", "replace"), status,
                             time.monotonic() - began)  # fmt: skip
            gateway.settle(asked, worst, usd, kept, reply, broke=broke)

    def _stream(self, asked: Asked, route: Route, headers: dict[str, str], body: bytes) -> tuple[int, bytes, bool]:
        """Pass the reply on as it comes, a refusal as a whole; read it to its end, also when the agent is gone.

        Returns (status, reply, whether it may be billed without having come to its end).
        """
        kept = {name: value for name, value in self.headers.items() if name.lower() in _KEPT}
        connection = route.connection(self.server.gateway.seconds)
        reached = False
        try:
            connection.connect()
            reached = True
            asked_at = self.path.partition("#")[0]  # of a fragment nobody here took note; a provider may
            target = route.target(asked_at.replace(self.server.gateway.token, ""))
            connection.request(self.command, target, body or None, route.of_request({**kept, **headers}))
            answer = connection.getresponse()
        except (OSError, ValueError, http.client.HTTPException) as error:
            connection.close()
            self._refuse(502, f"the model cannot be reached: {type(error).__name__}")
            return 502, b"", reached
        refused = answer.status >= 400
        reply, heard, broke = b"", not refused, False
        with suppress(OSError):
            self.send_response(answer.status)
            for name in ("content-type", "retry-after", "request-id"):
                if value := answer.getheader(name):
                    self.send_header(name, value)
            self.send_header("connection", "close")
            self.end_headers()
        try:
            while piece := answer.read1(65536):
                reply += piece if len(reply) < LARGEST_BODY else b""
                if heard:
                    try:
                        self.wfile.write(piece)
                        self.wfile.flush()
                    except OSError:
                        heard = False
        except (OSError, http.client.HTTPException):
            broke = True
        finally:
            connection.close()
        reply = self.server.gateway.masked(asked, reply)
        if refused:
            with suppress(OSError):
                self.wfile.write(reply)
        # what is left of a length that was announced never came
        return answer.status, reply, answer.status == 200 and (broke or bool(answer.length))

    def _refuse(self, status: int, message: str) -> None:
        error = {"type": "permission_error", "message": f"swarm-evo gateway: {message}"}
        self._send(status, json.dumps({"type": "error", "error": error}).encode())

    def _send(self, status: int, body: bytes) -> None:
        with suppress(OSError):
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.send_header("connection", "close")
            self.end_headers()
            self.wfile.write(body if self.command != "HEAD" else b"")


def _has_token(given: Mapping[str, str], path: str, token: str) -> bool:
    headers = {name.lower(): value for name, value in given.items()}
    told = [headers.get(name) or "" for name in ("x-api-key", "x-goog-api-key")]
    told.append((headers.get("authorization") or "").removeprefix("Bearer ").strip())
    told.append(path.rpartition("key=")[2].partition("&")[0])
    return any(secrets.compare_digest(one.encode(), token.encode()) for one in told)


def _object(raw: bytes) -> dict[str, Any]:
    try:
        found = json.loads(raw or b"{}")
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
