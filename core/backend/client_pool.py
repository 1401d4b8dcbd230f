"""ClientPool to the providers: one client for each endpoint, its limits, and one attempt within its deadline."""

from __future__ import annotations

import threading
from typing import Any

from core.backend.deadline import Deadline, call_within
from core.backend.exchange import Reply, Request
from core.backend.faults import read_fault
from core.backend.providers import PROVIDER_TO_CLIENT, PROVIDER_TO_QUERY, PROVIDERS, is_claude
from core.backend.rate_limiter import RateLimiter
from core.backend.retry import Retrier
from core.backend.settings import ModelSettings
from utils.errors import ConfigError


class ClientPool:
    """Clients and gates of a run, made when they are first needed. Thread-safe."""

    def __init__(self, patience: Retrier) -> None:
        self._patience = patience
        self._lock = threading.Lock()
        self._clients: dict[tuple[Any, ...], Any] = {}
        self._gates: dict[tuple[str, str], RateLimiter] = {}

    def gate(self, settings: ModelSettings) -> RateLimiter:
        """The gate of the endpoint; its client is made first, since that may take seconds and fail."""
        self._client(settings)
        key = (settings.provider, settings.base_url)
        with self._lock:
            if key not in self._gates:
                self._gates[key] = RateLimiter(settings.concurrency, settings.requests_per_minute, self._patience)
            return self._gates[key]

    def send(self, request: Request, settings: ModelSettings) -> Reply:
        """One attempt. Raises errors of ours only, without a chain: the original may hold the key."""
        prefix = f"llm.{settings.role}"
        advice = f" ({prefix}.timeout); raise it, or lower {prefix}.max_tokens={settings.max_tokens}"
        client, deadline = self._client(settings), Deadline(settings.timeout, advice)
        send = PROVIDER_TO_QUERY[settings.provider]
        try:
            return call_within(
                deadline, lambda: send(client, request, settings, deadline), self._patience.stop, settings.writer
            )
        except Exception as error:  # noqa: BLE001  # an SDK is an untrusted party: each lets other errors through
            fault = read_fault(error, settings)
        raise fault

    def close(self) -> None:
        """Close the SDKs' clients."""
        with self._lock:
            for client in self._clients.values():
                getattr(client, "close", lambda: None)()
            self._clients.clear()

    def _client(self, settings: ModelSettings) -> Any:
        if settings.provider not in PROVIDER_TO_QUERY:
            raise ConfigError(
                f"llm.{settings.role}.provider={settings.provider}: unknown provider; allowed: {', '.join(PROVIDERS)}"
            )
        key = (settings.provider, settings.base_url, settings.key_text, settings.api_version, settings.region,
               settings.project, settings.command, settings.timeout, is_claude(settings))  # fmt: skip
        with self._lock:
            if key not in self._clients:
                self._clients[key] = _connect(settings)
            return self._clients[key]


def _connect(settings: ModelSettings) -> Any:
    try:
        return PROVIDER_TO_CLIENT[settings.provider](settings)
    except Exception as error:  # noqa: BLE001  # a client refuses a bad address or a missing key in its own words
        fault = read_fault(error, settings)
    raise fault
