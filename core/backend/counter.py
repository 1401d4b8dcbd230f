"""The counter where every call is handed in: record, cache, budget, retry, provider, record again."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from core.backend import backend_rules
from core.backend.cache import ReplyCache
from core.backend.deadline import Deadline, call_within
from core.backend.exchange import Reply, Request, Usage, request_hash
from core.backend.faults import LostReplyError, RefusedError, UnwantedPromptError, mask, read_fault
from core.backend.gate import Gate
from core.backend.prices import cost_of
from core.backend.providers import PROVIDER_TO_CLIENT, PROVIDER_TO_QUERY, PROVIDERS, is_claude
from core.backend.records import REFUSED, UNWANTED, Place, blank_record, reply_fields
from core.backend.retry import Patience, RetryPolicy
from core.backend.settings import ModelSettings
from core.backend.usage import Amount, Ledger, likely_tokens, most_tokens
from core.contracts import CallLog, CallRecord, RulesWriter
from core.state.task import derive_seed
from utils.errors import BackendBusyError, BackendError, ConfigError

Notice = Callable[[str, float], None]
"""(reason, seconds): told of every wait before a retry."""


class Counter:
    """Makes one exchange so that it is never paid twice and never above the budget. Thread-safe."""

    def __init__(
        self,
        log: CallLog,
        ledger: Ledger,
        cache: ReplyCache | None,
        rules: RulesWriter | None,
        patience: Patience,
        notice: Notice,
        offline: bool = False,
    ) -> None:
        self._log = log
        self._ledger = ledger
        self._cache = cache
        self._rules = rules
        self._patience = patience
        self._notice = notice
        self._offline = offline
        self._flights = Flights()
        self._lock = threading.Lock()
        self._clients: dict[tuple[Any, ...], Any] = {}
        self._gates: dict[tuple[str, str], Gate] = {}

    def exchange(self, request: Request, settings: ModelSettings, place: Place, turn: int) -> CallRecord:
        """The record of this exchange, found or made; it is stored before it is returned."""
        digest, sample = request_hash(request, settings), place.sample(turn)
        with self._flights.hold((digest, sample)):
            found = self._log.find_call(digest, sample)
            if found is not None:
                return found
            blank = blank_record(digest, sample, place, request, settings)
            record = (
                self._write(blank, request, place)
                if settings.provider == "rules"
                else self._from_cache(blank, request, settings)
            )
            if record is None and self._offline:
                raise BackendError(f"the call '{sample}' is not in the record, and a replay asks no model")
            if record is None:
                record = self._ask(blank, request, settings)
            self._log.save_call(record)
            if self._cache is not None and settings.provider != "rules" and not record.cached:
                self._cache.save(record)
            return record

    def close(self) -> None:
        """Close the SDKs' clients."""
        with self._lock:
            for client in self._clients.values():
                getattr(client, "close", lambda: None)()
            self._clients.clear()

    def _write(self, blank: CallRecord, request: Request, place: Place) -> CallRecord:
        rng = random.Random(derive_seed(place.run_seed, place.node_id, place.role, place.attempt))
        started = time.monotonic()
        reply = backend_rules.write(request, self._rules, rng)
        return blank.model_copy(update={**reply_fields(reply), "seconds": time.monotonic() - started})

    def _from_cache(self, blank: CallRecord, request: Request, settings: ModelSettings) -> CallRecord | None:
        """A cached answer costs nothing, but its tokens count: a rerun ends by tokens where the first run did."""
        found = self._cache.find(blank.request_hash, blank.sample) if self._cache is not None else None
        if found is None:
            return None
        worst = most_tokens(request, settings)
        held = self._ledger.reserve(Amount(worst.prompt + worst.completion))
        self._ledger.settle(held, Amount((found.prompt_tokens or 0) + (found.completion_tokens or 0)))
        kept = {"reply": found.reply, "finish_reason": found.finish_reason, "cached": True, "cost_usd": 0.0, "tries": 0}
        tokens = {"prompt_tokens": found.prompt_tokens, "completion_tokens": found.completion_tokens}
        return blank.model_copy(update=kept | tokens)

    def _ask(self, blank: CallRecord, request: Request, settings: ModelSettings) -> CallRecord:
        """Ask the provider, with retries, each try under a reservation of its own."""
        started = time.monotonic()
        tries = 0

        def attempt(number: int) -> tuple[Reply, Usage, float | None]:
            nonlocal tries
            tries = number
            return self._try_once(request, settings)

        facts: dict[str, Any]
        policy = RetryPolicy(settings.attempts, settings.backoff)
        try:
            reply, usage, cost = self._patience.call(attempt, policy, self._notice)
        except RefusedError as refusal:
            if request.mode not in ("tool", "schema") or not refusal.is_about_form:
                raise
            # Part of the ladder: recorded, so that a resumed or replayed run takes the same step down.
            facts = {"reply": str(refusal), "finish_reason": f"{REFUSED}{refusal.status}"}
            facts |= {"prompt_tokens": 0, "completion_tokens": 0, "cost_usd": 0.0}
        except UnwantedPromptError as refusal:
            facts = {"reply": str(refusal), "finish_reason": UNWANTED}
            facts |= {"prompt_tokens": 0, "completion_tokens": 0, "cost_usd": 0.0}
        else:
            facts = {key: mask(text, settings) for key, text in reply_fields(reply).items()}
            facts |= {"prompt_tokens": usage.prompt, "completion_tokens": usage.completion}
            facts["cost_usd"] = cost
        return blank.model_copy(update={**facts, "seconds": time.monotonic() - started, "tries": tries})

    def _try_once(self, request: Request, settings: ModelSettings) -> tuple[Reply, Usage, float | None]:
        client, gate = self._client(settings), self._gate(settings)
        with gate.passage():
            now = datetime.now(UTC)
            worst = most_tokens(request, settings)
            held = self._ledger.reserve(Amount(worst.prompt + worst.completion, cost_of(settings, worst, now) or 0.0))
            try:
                reply = self._send(client, request, settings)
            except BackendError as error:
                if isinstance(error, LostReplyError):
                    self._ledger.lose(held)
                else:
                    self._ledger.settle(held, Amount())
                if isinstance(error, BackendBusyError) and error.retry_after:
                    gate.pause(min(error.retry_after, 60.0))
                raise
            except BaseException:  # stopped or broken while the call was out: it may still be billed
                self._ledger.lose(held)
                raise
            usage = reply.usage or (worst if reply.finish_reason == "oversize" else _guess(request, reply))
            cost = cost_of(settings, usage, now)
            self._ledger.settle(held, Amount(usage.prompt + usage.completion, cost or 0.0))
            return reply, usage, cost

    def _send(self, client: Any, request: Request, settings: ModelSettings) -> Reply:
        deadline = Deadline(settings.timeout)
        send = PROVIDER_TO_QUERY[settings.provider]
        try:
            return call_within(
                deadline, lambda: send(client, request, settings, deadline), self._patience.stop, settings.writer
            )
        except Exception as error:  # noqa: BLE001  # an SDK is an untrusted party: each lets other errors through
            fault = read_fault(error, settings)
        raise fault

    def _client(self, settings: ModelSettings) -> Any:
        if settings.provider not in PROVIDER_TO_QUERY:
            raise ConfigError(
                f"llm.{settings.role}.provider={settings.provider}: unknown provider; allowed: {', '.join(PROVIDERS)}"
            )
        key = (settings.provider, settings.base_url, settings.key_text, settings.api_version, settings.region,
               settings.project, settings.command, settings.timeout, is_claude(settings))  # fmt: skip
        with self._lock:
            if key not in self._clients:
                self._clients[key] = self._connect(settings)
            return self._clients[key]

    def _connect(self, settings: ModelSettings) -> Any:
        try:
            return PROVIDER_TO_CLIENT[settings.provider](settings)
        except Exception as error:  # noqa: BLE001  # a client refuses a bad address or missing key in its own words
            fault = read_fault(error, settings)
        raise fault

    def _gate(self, settings: ModelSettings) -> Gate:
        key = (settings.provider, settings.base_url)
        with self._lock:
            if key not in self._gates:
                self._gates[key] = Gate(settings.concurrency, settings.requests_per_minute, self._patience)
            return self._gates[key]


class Flights:
    """One flight at a time for each key: who comes second waits, and finds the first one's answer in the record."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._holders: dict[tuple[str, str], tuple[threading.Lock, int]] = {}

    @contextmanager
    def hold(self, key: tuple[str, str]) -> Iterator[None]:
        with self._lock:
            lock, holders = self._holders.get(key) or (threading.Lock(), 0)
            self._holders[key] = (lock, holders + 1)
        try:
            with lock:
                yield
        finally:
            with self._lock:
                lock, holders = self._holders[key]
                if holders == 1:
                    del self._holders[key]
                else:
                    self._holders[key] = (lock, holders - 1)


def _guess(request: Request, reply: Reply) -> Usage:
    """Tokens of a call whose server did not count them."""
    text = request.system + "".join(message.text for message in request.messages)
    return Usage(likely_tokens(text), likely_tokens(reply.text + reply.arguments))
