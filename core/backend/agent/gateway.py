"""The gateway: all that an agent can reach. It holds the key, counts, caps and records, and answers `check`."""

from __future__ import annotations

import http.client
import json
import secrets
import socket
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

from core.backend.agent.dialects import VARIABLES, Asked, understood
from core.backend.agent.own_tools import TOOLS
from core.backend.agent.route import Route
from core.backend.agent.session_budget import SessionBudget, Spent
from core.backend.exchange import Exchanged, Usage
from core.backend.hosts import key_names
from core.backend.masking import tells
from core.backend.network import check_address, host_of, is_loopback, shown_url
from core.backend.settings import ModelSettings
from utils.errors import BackendError
from utils.json_cost import TooDear, check_cost
from utils.mcp_protocol import answered
from utils.secrets import MASK

LARGEST_BODY = 32 * 1024 * 1024
"""Bytes of a request, and what is kept of a reply."""
_SMALL = 1024 * 1024
"""Bytes of a request that is read at once with others."""
MOST_PARSED = 64 * 1024 * 1024
"""Bytes that a request may become when it is read: more than any model's context, as text."""
AT_ONCE = 64
"""Connections; a further one is closed."""
MOST_CHECKS = 5
_LAST_REPLIES = 15.0
"""Seconds in which replies that were under way at the end are awaited."""
_KEPT = (
    "content-type",
    "accept",
    "anthropic-version",
    "anthropic-beta",
    "openai-beta",
    "user-agent",
    "x-goog-api-client",
)
Check = Callable[[], dict[str, Any]]
"""→ `{ok, problems, warnings}` of the files as they lie."""
Key = Callable[[str], str]
"""Provider → its key, '' where there is none."""


class Gateway:
    """Serves one session at a listening socket. Thread-safe.

    Args:
        key_of: asked when a request of that provider comes; the agent never sees what it says.
        check: looks at the files as they lie; None where nobody can.
    """

    def __init__(
        self, listener: socket.socket, settings: ModelSettings, token: str, key_of: Key, check: Check | None
    ) -> None:
        self.token = token
        self.over = threading.Event()
        """Set when a limit is reached or the agent gives up: the session is to end."""
        self.why = ""
        """Which limit it was, or the agent's own words."""
        self.broken = ""
        """Why no request can ever be passed on: a fault of the configuration, not of the agent."""
        self.budget = SessionBudget(settings)
        self.seconds = settings.timeout
        """That a model may take for one reply: it ends with the session at the latest."""
        self.exchanges: list[Exchanged] = []
        self._settings, self._key_of, self._check = settings, key_of, check
        self._checks = 0
        self._lock = threading.Lock()
        self.port = int(listener.getsockname()[1])
        self._server = _Server(listener, self)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True, name="gateway")
        self._thread.start()

    @property
    def spent(self) -> Spent:
        """What the session took so far."""
        return self.budget.spent

    @staticmethod
    def environment(url: str, token: str) -> dict[str, str]:
        """Where agents look for a model and a key."""
        found = {name: token if path is None else url + path for name, path in VARIABLES.items()}
        return {**found, "SWARM_EVO_URL": url, "SWARM_EVO_TOKEN": token}

    def close(self) -> None:
        """Let nobody in any more; replies under way are read to their end, or counted with the most they can take."""
        self.budget.close()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
        until = time.monotonic() + _LAST_REPLIES
        while self.budget.waits and time.monotonic() < until:
            time.sleep(0.02)
        self.budget.count_open()

    # ------------------------------------------------------------ what a handler asks

    def is_ours(self, host: str) -> bool:
        """A page or a program elsewhere may know the port, not the name."""
        return host in (f"127.0.0.1:{self.port}", f"localhost:{self.port}")

    def own(self, path: str, body: Mapping[str, Any]) -> dict[str, Any] | None:
        """`check` and `give_up`; None for what is a model's."""
        if path == "/give_up":
            self.end(f"the agent gave up: {str(body.get('reason', ''))[:300]}")
            return {"state": "given_up"}
        if path != "/check":
            return None
        with self._lock:
            self._checks += 1
            if self._checks > MOST_CHECKS:
                return {"error": f"all {MOST_CHECKS} checks of this ticket are used; write the program and end"}
        return self._check() if self._check else {"ok": True, "problems": [], "warnings": []}

    def by_mcp(self, message: bytes) -> str:
        """The same two as tools: the answer to one message, '' where it wants none."""
        return answered(TOOLS, lambda name, arguments, _: self.own(f"/{name}", arguments) or {}, message, version="1")

    def end(self, why: str) -> None:
        self.why = self.why or why
        self.over.set()
        self.budget.close()

    def admit(self, asked: Asked, size: int) -> tuple[dict[str, Any], Usage, float]:
        """The request as it may go out, and the most it can take. Raises BackendError where it passes a limit."""
        if self.over.is_set():
            raise BackendError(self.why)
        return self.budget.admit(asked, size)

    def settle(self, asked: Asked, worst: Usage, usd: float, kept: Exchanged, raw: bytes, *, broke: bool) -> None:
        """As `SessionBudget.settle`, and keep what was said."""
        with self._lock:
            self.exchanges.append(kept)
        self.budget.settle(asked, worst, usd, kept.status, raw, broke=broke)  # last: then nobody waits for it any more

    def is_first(self, asked: Asked) -> bool:
        """True for a request that costs something while no other one has: what stops it stops the session."""
        return not asked.free and not self.spent.turns

    def masked(self, asked: Asked, reply: bytes) -> bytes:
        """What a provider said, without the key, which some quote where they refuse it."""
        key = self._key_of(asked.dialect.provider)
        return reply.replace(key.encode(), MASK.encode()) if tells(key) else reply

    def upstream(self, asked: Asked) -> tuple[Route, dict[str, str]]:
        """(way to the model, headers with the key): always the configured one, whatever the agent asks for.

        Raises:
            BackendError: there is no key for it, or no way. An agent's side question to another provider may be
                refused so.
        """
        address = self._settings.base_url or asked.dialect.address
        key = self._key_of(asked.dialect.provider)
        if not key and not is_loopback(host_of(address)):
            from core.backend.providers import PROVIDERS  # they import this

            names = (*key_names(PROVIDERS.get(asked.dialect.provider), self._settings.base_url), "llm.code.api_key")
            raise self._no_way(asked, f"the gateway has no key for {shown_url(address)}: set {' or '.join(names)}")
        check_address(address)
        try:
            route = Route.to(address.rstrip("/").removesuffix("/v1"))
        except BackendError as error:
            raise self._no_way(asked, str(error)) from error
        return route, asked.dialect.headers(key) if key else {}

    def _no_way(self, asked: Asked, why: str) -> BackendError:
        self.broken = why if self.is_first(asked) else self.broken
        return BackendError(why)


class _Server(ThreadingHTTPServer):
    """An agent is as untrusted as its program: what it may hold of this process's threads and memory is bounded."""

    block_on_close = False

    def __init__(self, listener: socket.socket, gateway: Gateway) -> None:
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
    server: _Server
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
