"""Who may talk to the server: Host, Origin and token checks on every request, and the headers of every answer."""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from contextlib import suppress
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs, urlsplit

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

COOKIE = "swarm_evo_token"
HEALTH = "/api/health"
"""Open to all: whether the server answers is no secret, and who watches over it has no token."""
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
HEADERS = {
    "content-security-policy": (
        "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:;"
        " object-src 'none'; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


LARGEST_BODY = 1 << 20
"""Bytes of a request: the longest that the page sends has some kilobytes."""


class BodyLimit:
    """ASGI middleware: a request with a longer body than `LARGEST_BODY` is refused before it lies in memory."""

    def __init__(self, app: App) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        told = dict(scope["headers"]).get(b"content-length", b"0")
        if not told.isdigit() or len(told) > 18 or int(told) > LARGEST_BODY:
            await _answer(send, 413, _TOO_LONG)
            return
        read = 0

        async def counted() -> MutableMapping[str, Any]:
            nonlocal read
            message = await receive()
            read += len(message.get("body", b""))
            if read > LARGEST_BODY:
                raise _BodyTooLongError
            return message

        async def unless_too_long(message: MutableMapping[str, Any]) -> None:
            if read <= LARGEST_BODY:  # else it says no more than that the body could not be read
                await send(message)

        with suppress(_BodyTooLongError):
            await self.app(scope, counted, unless_too_long)
        if read > LARGEST_BODY:
            await _answer(send, 413, _TOO_LONG)


class _BodyTooLongError(Exception):
    """What is read of a request is more than any of ours has."""


_TOO_LONG = f"a request may have {LARGEST_BODY:,} bytes"


class Guard:
    """ASGI middleware.

    1. The Host header must name this server, so that a foreign name that resolves to it (DNS rebinding) gets nothing.
    2. A WebSocket or a request that changes something, sent by a page of another origin, is refused.
    3. With a token, everything but the page's own files and `/api/health` needs it: as bearer, as cookie, or once as
       `?token=`. The cookie is the port's own: browsers send cookies to every port of a host.

    Args:
        hosts: names of the server besides the loopback names; None allows any (only with a token).
    """

    def __init__(self, app: App, *, token: str | None, hosts: Iterable[str] | None) -> None:
        self.app = app
        self.token = token
        self.hosts = None if hosts is None else LOOPBACK | {host.lower() for host in hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        refusal = self._refusal(scope, headers)
        if refusal and scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 4403, "reason": refusal[1]})
        elif refusal:
            await _answer(send, *refusal)
        elif self._offers_token(scope):
            await _set_cookie(send, _cookie_name(headers), str(self.token), scope["path"])
        else:
            await self.app(_as_get(scope), receive, _with_headers(send))

    def _refusal(self, scope: Scope, headers: dict[str, str]) -> tuple[int, str] | None:
        host = headers.get("host", "")
        if self.hosts is not None and _name(host) not in self.hosts:
            return 403, "this Host name is not served here"
        changes = scope["type"] == "websocket" or scope["method"] not in ("GET", "HEAD", "OPTIONS")
        if changes and not _same_origin(headers, host):
            return 403, "requests of other origins are refused"
        if self.token and _needs_token(scope) and not self._has_token(headers) and not self._offers_token(scope):
            return 401, "a token is needed: open the address that `serve` printed, or send Authorization: Bearer"
        return None

    def _has_token(self, headers: dict[str, str]) -> bool:
        scheme, _, given = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer" and self._equal(given.strip()):
            return True
        try:
            cookie = SimpleCookie(headers.get("cookie", "")).get(_cookie_name(headers))
        except CookieError:
            return False
        return cookie is not None and self._equal(cookie.value)

    def _offers_token(self, scope: Scope) -> bool:
        """The page's address with a right `?token=`: answered by a cookie and the address without it."""
        page = scope["type"] == "http" and scope["method"] == "GET" and scope["path"] == "/"
        if not self.token or not page:
            return False
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        return self._equal(given)

    def _equal(self, given: str) -> bool:
        return hmac.compare_digest(given.encode(), str(self.token).encode())


def _as_get(scope: Scope) -> Scope:
    """HEAD as the GET that it asks about, as watchers of a service send it; the server leaves the body out."""
    return {**scope, "method": "GET"} if scope.get("method") == "HEAD" else scope


def _needs_token(scope: Scope) -> bool:
    path: str = scope["path"]
    return scope["type"] == "websocket" or (path.startswith("/api") and path != HEALTH)


def _cookie_name(headers: dict[str, str]) -> str:
    port = headers.get("host", "").rpartition(":")[2]
    return f"{COOKIE}_{port}" if port.isdigit() else COOKIE


def _same_origin(headers: dict[str, str], host: str) -> bool:
    """True for our own page, and for programs, which send no Origin; browsers always do."""
    if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        return False
    origin = headers.get("origin")
    if origin is None:
        return True
    try:
        parts = urlsplit(origin)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and parts.netloc.lower() == host.lower()


def _name(host: str) -> str:
    """The Host header without its port."""
    try:
        return (urlsplit(f"//{host}").hostname or "").lower()
    except ValueError:
        return ""


def _with_headers(send: Send) -> Send:
    async def wrapped(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            extra = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
            message = {**message, "headers": [*message["headers"], *extra]}
        await send(message)

    return wrapped


async def _answer(send: Send, status: int, reason: str) -> None:
    body = b'{"detail":"%s"}' % reason.encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await _with_headers(send)({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def _set_cookie(send: Send, cookie_name: str, token: str, path: str) -> None:
    cookie = SimpleCookie()
    cookie[cookie_name] = token
    for name, value in (("path", "/"), ("httponly", True), ("samesite", "Strict")):
        cookie[cookie_name][name] = value
    headers = [(b"location", path.encode()), (b"set-cookie", cookie[cookie_name].OutputString().encode("latin-1"))]
    await _with_headers(send)({"type": "http.response.start", "status": 303, "headers": headers})
    await send({"type": "http.response.body", "body": b""})
