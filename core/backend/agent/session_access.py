"""What an agent's session may ask: its own two requests, and a model's within its limits; what was asked is kept."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any

from core.backend.agent.dialects import Asked
from core.backend.agent.own_tools import TOOLS
from core.backend.agent.route import Route
from core.backend.agent.session_budget import SessionBudget, Spent
from core.backend.exchange import Exchanged, Usage
from core.backend.hosts import key_names
from core.backend.masking import tells
from core.backend.network import check_address, host_of, is_loopback, shown_url
from core.backend.settings import ModelSettings
from utils.errors import BackendError
from utils.mcp_protocol import answered
from utils.secrets import MASK

MOST_CHECKS = 5
Check = Callable[[], dict[str, Any]]
"""→ `{ok, problems, warnings}` of the files as they lie."""
Key = Callable[[str], str]
"""Provider → its key, '' where there is none."""


class SessionAccess:
    """Who asks for what in one session, and what comes of it. Thread-safe.

    Args:
        port: of this machine, at which it is asked.
        token: the session's own; it is no provider's key.
        key_of: asked when a request of that provider comes; the agent never sees what it says.
        check: looks at the files as they lie; None where nobody can.
    """

    def __init__(self, port: int, settings: ModelSettings, token: str, key_of: Key, check: Check | None) -> None:
        self.port, self.token = port, token
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

    @property
    def spent(self) -> Spent:
        """What the session took so far."""
        return self.budget.spent

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
