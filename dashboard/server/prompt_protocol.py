"""PromptProtocol: a connection whose request does not arrive is dropped, so that idle ones use up nothing."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol

REQUEST_SECONDS = 10.0
"""How long the head and the body of a request may take to arrive; a page asks at once."""

_Http: Any = AutoHTTPProtocol


class PromptProtocol(_Http):  # type: ignore[misc]
    """uvicorn's HTTP protocol with a limit on the time that a request takes to arrive; its own are for answers."""

    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._watch()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_watching()
        super().connection_lost(exc)

    def _is_waiting(self) -> bool:
        """True while no request is there as a whole; a connection that became a WebSocket is no longer ours."""
        if self.transport.get_protocol() is not self:
            return False
        return self.cycle is None or self.cycle.response_complete or bool(self.cycle.more_body)

    def _watch(self) -> None:
        if not self._is_waiting():
            self._stop_watching()
        elif self._late is None:
            self._late = self.loop.call_later(REQUEST_SECONDS, self._drop)

    def _stop_watching(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def _drop(self) -> None:
        self._late = None
        if self._is_waiting():
            self.transport.close()
