"""An address that speaks OpenAI's chat completions or responses, asked over HTTP without an SDK.

OpenAI's own takes half a second of CPU to load and as much a call as the whole way through HTTP. What is asked and what
is answered is plain JSON; retries and deadlines are ours in any case.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from core.backend.answer_size import LARGEST_ANSWER, too_large
from core.backend.deadline import Deadline
from core.backend.network import direct, key_keeper
from core.backend.settings import ModelSettings

_MOST_CONNECTIONS, _MOST_IDLE = 1000, 100
_LONGEST_LINE = LARGEST_ANSWER
"""Bytes of a line of a stream; an event holds a piece of a reply."""
_MOST_REDIRECTS = 20
_END = b"[DONE]"


class ServerFault(ValueError):
    """What a server says in place of a reply.

    Args:
        body: its JSON, or its text.
        status: of HTTP; None where the reply had begun.
        headers: of the response.
        url: who says it, which may be another server than the one that was asked.
    """

    def __init__(
        self, body: Any, status: int | None = None, headers: Mapping[str, str] | None = None, url: str = ""
    ) -> None:
        super().__init__(f"{body}" if status is None else f"Error code: {status} - {body}")
        self.body = body.get("error", body) if isinstance(body, dict) else body
        code = self.body.get("code") if isinstance(self.body, dict) else None
        self.code = int(code) if isinstance(code, str) and code.isdecimal() else code
        self.status_code = status
        self.headers = headers or {}
        self.url = url


class ChatEndpoint:
    """Thread-safe.

    Args:
        url: where requests are posted to.
        headers: of each request; the key is among them. Where a server sends us elsewhere they are left out.
        settings: `timeout` and whether the address is this machine's, where no proxy is asked.
    """

    def __init__(self, url: str, headers: Mapping[str, str], settings: ModelSettings) -> None:
        import httpx2

        self._new_request, self._new_timeout = httpx2.Request, httpx2.Timeout
        self._url = httpx2.URL(url)
        self._http = httpx2.Client(
            headers={"Accept": "application/json", "Content-Type": "application/json", **headers},
            timeout=settings.timeout, follow_redirects=False,
            limits=httpx2.Limits(max_connections=_MOST_CONNECTIONS, max_keepalive_connections=_MOST_IDLE),
            event_hooks={"request": [key_keeper(url, headers)]}, **(direct(url) if settings.is_local else {}),
        )  # fmt: skip

    def post(self, body: Mapping[str, Any], deadline: Deadline) -> bytes:
        """The whole answer.

        Raises:
            ServerFault: the server refuses.
            ValueError: it is larger than any reply.
            TimeoutError: it goes on after the deadline.
            Exception: httpx2's, where the connection fails.
        """
        response, pieces = self._sent(body, deadline)
        try:
            return _whole(response, pieces)
        finally:
            response.close()

    @contextmanager
    def stream(self, body: Mapping[str, Any], deadline: Deadline) -> Iterator[Iterator[bytes]]:
        """What the events of the answer hold, one after the other; one that is cut off is not among them. The whole
        answer, where a server does not stream and says so.

        Raises as `post`, but for the size of the whole.
        """
        response, pieces = self._sent(body, deadline)
        try:
            if not response.is_success:
                _whole(response, pieces)
            is_json = response.headers.get("content-type", "").startswith("application/json")
            yield iter([_whole(response, pieces)]) if is_json else events(pieces)
        finally:
            response.close()

    def close(self) -> None:
        """End all connections."""
        self._http.close()

    def _sent(self, body: Mapping[str, Any], deadline: Deadline) -> tuple[Any, Iterator[bytes]]:
        """The response of whoever answers at last, and what it holds, unpacked piece by piece as somebody asks for it.

        Of a server that sends us elsewhere nothing more is read: HTTP's client would read it whole.
        """
        request = self._request(body, deadline.left)
        for _ in range(_MOST_REDIRECTS):
            response = self._http.send(request, stream=True)
            if response.next_request is None:
                return response, _within(deadline, response.iter_bytes())
            response.close()
            request = response.next_request
        raise ServerFault(f"more than {_MOST_REDIRECTS} redirects")

    def _request(self, body: Mapping[str, Any], seconds: float) -> Any:
        content = json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        timeout = self._new_timeout(max(seconds, 0.001)).as_dict()
        return self._new_request(
            "POST", self._url, headers=self._http.headers, content=content.encode("utf-8", "replace"),
            extensions={"timeout": timeout},
        )  # fmt: skip


def joined(base_url: str, path: str, query: str = "") -> str:
    """The address of `path` below a base, whose own query stays. A base that ends with it already is meant so."""
    parts = urlsplit(base_url)
    both = "&".join(filter(None, (parts.query, query)))
    below = parts.path.rstrip("/").removesuffix(f"/{path}")
    return urlunsplit((parts.scheme, parts.netloc, f"{below}/{path}", both, ""))


def events(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The data of server-sent events, up to `[DONE]`. ValueError for a line that does not end."""
    data: list[bytes] = []
    for line in _lines(pieces):
        if line.startswith(b"data:"):
            data.append(line[5:].removeprefix(b" "))
        elif not line and data:
            event, data = b"\n".join(data), []
            if event.startswith(_END):
                return
            yield event


def _lines(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Lines that are whole, without their ends."""
    rest = bytearray()
    for piece in pieces:
        searched = len(rest)
        rest += piece
        while (end := rest.find(b"\n", searched)) >= 0:
            yield bytes(rest[:end]).rstrip(b"\r")
            del rest[: end + 1]
            searched = 0
        if len(rest) > _LONGEST_LINE:
            raise ValueError(f"a line of more than {_LONGEST_LINE >> 20} MB in a stream")


def _within(deadline: Deadline, pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The pieces, as long as there is time: what sends byte by byte, or nothing but comments, meets no other limit."""
    for piece in pieces:
        deadline.check()
        yield piece


def _whole(response: Any, pieces: Iterable[bytes]) -> bytes:
    """An answer that is no stream. Raises ServerFault for a refusal, ValueError for more than any reply."""
    content = bytearray()
    for piece in pieces:
        content += piece
        if len(content) > LARGEST_ANSWER:
            raise too_large(LARGEST_ANSWER)
    if response.is_success:
        return bytes(content)
    text = content.decode("utf-8", "replace").strip()
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        body = text or response.reason_phrase
    raise ServerFault(body, response.status_code, response.headers, str(response.url))
