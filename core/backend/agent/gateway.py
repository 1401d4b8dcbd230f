"""The gateway: all that an agent can reach. It holds the key, counts, caps and records, and answers `check`."""

from __future__ import annotations

import socket
import threading
import time

from core.backend.agent.dialects import VARIABLES
from core.backend.agent.gateway_server import GatewayServer
from core.backend.agent.session_access import Check, Key, SessionAccess
from core.backend.settings import ModelSettings

_LAST_REPLIES = 15.0
"""Seconds in which replies that were under way at the end are awaited."""


class Gateway(SessionAccess):
    """Serves one session at a listening socket, from a thread of its own. Thread-safe.

    Args:
        settings, token, key_of, check: as for `SessionAccess`.
    """

    def __init__(
        self, listener: socket.socket, settings: ModelSettings, token: str, key_of: Key, check: Check | None
    ) -> None:
        super().__init__(int(listener.getsockname()[1]), settings, token, key_of, check)
        self._server = GatewayServer(listener, self)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True, name="gateway")
        self._thread.start()

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
