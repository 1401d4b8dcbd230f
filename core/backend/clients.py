"""Connections to the providers: one client for each endpoint, its rate limit, and one attempt within its deadline."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from core.backend.deadline import Callers, Deadline, Heard, call_within
from core.backend.exchange import Reply, Request
from core.backend.faults import not_made, read_fault
from core.backend.provider import ProviderSpec
from core.backend.providers import spec_of
from core.backend.retry import Retrier
from core.backend.settings import ModelSettings
from utils.errors import BackendError, SwarmEvoError


class RateLimiter:
    """At most `concurrency` calls at once and `per_minute` starts a minute, evenly spaced. Thread-safe.

    Args:
        per_minute: None for no limit.
        retrier: its sleeps end when the run is stopped.
        clock: seconds, monotonic.
    """

    def __init__(
        self,
        concurrency: int,
        per_minute: float | None,
        retrier: Retrier,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._permits = threading.Semaphore(concurrency)
        self._spacing = 60.0 / per_minute if per_minute else 0.0
        self._retrier = retrier
        self._clock = clock
        self._lock = threading.Lock()
        self._next_start = 0.0

    @contextmanager
    def permit(self) -> Iterator[None]:
        """Wait until a call may start, and count it as running inside the `with` block. Raises as `Retrier.sleep`."""
        while not self._permits.acquire(timeout=0.2):
            self._retrier.check_waiting()
        try:
            self._retrier.sleep(self._start_time() - self._clock())
            yield
        finally:
            self._permits.release()

    def pause(self, seconds: float) -> None:
        """Let no call start for `seconds`: a server that is busy for one thread is busy for all."""
        with self._lock:
            self._next_start = max(self._next_start, self._clock() + seconds)

    def _start_time(self) -> float:
        with self._lock:
            start = max(self._clock(), self._next_start)
            self._next_start = start + self._spacing if self._spacing else self._next_start
            return start


class ClientPool:
    """The SDK clients and rate limiters of a run, made when they are first needed. Thread-safe."""

    def __init__(self, retrier: Retrier) -> None:
        self._retrier = retrier
        self._lock = threading.Lock()
        self._callers = Callers()
        self._clients: dict[tuple[Any, ...], Any] = {}
        self._limiters: dict[tuple[str, str], RateLimiter] = {}

    def limiter(self, settings: ModelSettings) -> RateLimiter:
        """The rate limiter of the endpoint. Its client is made first, since that may take seconds and fail."""
        self._client(settings)
        key = (settings.provider, settings.base_url)
        with self._lock:
            if key not in self._limiters:
                self._limiters[key] = RateLimiter(settings.concurrency, settings.requests_per_minute, self._retrier)
            return self._limiters[key]

    def prepare(self, settings: ModelSettings) -> None:
        """Begin to make the client in the background: an SDK takes a second to load. What goes wrong, a call tells."""

        def make() -> None:
            with suppress(Exception):
                self._client(settings)

        threading.Thread(target=make, name="llm-client", daemon=True).start()

    def send(self, request: Request, settings: ModelSettings, heard: Heard) -> Reply:
        """Make one attempt; `heard` is told its reply as it comes, where it is streamed.

        Raises only errors of our own tree and without a chain: the original may hold the key.
        """
        prefix = f"llm.{settings.role}"
        less = "" if settings.command else f", or lower {prefix}.max_tokens={settings.max_tokens}"
        advice = f" ({prefix}.timeout); raise it{less}"
        spec = spec_of(settings)
        client, deadline = self._client(settings), Deadline(settings.timeout + spec.grace, advice, heard)
        send = spec.query
        try:
            reply: object = call_within(
                deadline, lambda: send(client, request, settings, deadline), self._retrier.stop, settings.writer,
                self._callers,
            )  # fmt: skip
        except Exception as error:  # noqa: BLE001  # an SDK is an untrusted party: each lets other errors through
            fault = read_fault(error, settings)
        else:
            if isinstance(reply, Reply):
                return reply
            kind = type(reply).__name__
            fault = BackendError(f"{prefix}.provider={settings.provider}: query gives a {kind}, not a Reply")
        raise fault

    def close(self) -> None:
        """Close every client of an SDK, and let the threads of calls end."""
        self._callers.close()
        with self._lock:
            for client in self._clients.values():
                getattr(client, "close", lambda: None)()
            self._clients.clear()

    def _client(self, settings: ModelSettings) -> Any:
        spec = spec_of(settings)
        model = settings.model if spec.client_per_model else ""
        key = (settings.provider, model, settings.base_url, settings.key_text, settings.api_version, settings.region,
               settings.project, settings.command, settings.timeout)  # fmt: skip
        with self._lock:
            if key not in self._clients:
                self._clients[key] = _connect(spec, settings)
            return self._clients[key]


def _connect(spec: ProviderSpec, settings: ModelSettings) -> Any:
    spec.require(settings)
    try:
        return spec.connect(settings)
    except SwarmEvoError as error:
        fault = read_fault(error, settings)
    except Exception as error:  # noqa: BLE001  # a client refuses a bad address or a missing key in its own words
        fault = not_made(error, settings)
    raise fault
