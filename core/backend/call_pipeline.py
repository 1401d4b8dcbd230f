"""The steps of every call: the run's record, the cache, the budget, retries, the provider, and the record again."""

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
from core.backend.clients import ClientPool
from core.backend.deadline import Heard
from core.backend.exchange import Reply, Request, Usage, request_hash
from core.backend.masking import mask
from core.backend.partial_reply import Listener, PartialReply
from core.backend.prices import cost_of
from core.backend.providers import spec_of
from core.backend.records import (
    REFUSED,
    UNWANTED,
    CallKey,
    blank_record,
    is_refusal,
    reply_fields,
    session_records,
)
from core.backend.retry import Retrier, RetryPolicy
from core.backend.settings import ModelSettings
from core.backend.usage import Amount, Ledger, likely_tokens, most_tokens
from core.contracts import CallLog, CallRecord, RulesWriter
from core.state.question import question_name
from core.state.task import derive_seed
from utils.clean_text import whole
from utils.errors import (
    BackendAddressError,
    BackendBusyError,
    BackendError,
    BudgetExhausted,
    LostReplyError,
    RefusedError,
    ReplyError,
    SwarmEvoError,
    TicketGone,
    UnrecordedError,
    UnwantedPromptError,
    WrongAddressError,
)

Notice = Callable[[str, float], None]
"""Called with (reason, seconds) before each wait for a retry."""
InForce = Callable[[CallRecord], CallRecord]
"""Of what `rules` wrote now, what goes into the record."""
External = Callable[[str, Request], Reply]
"""(ticket's name, request) → what a writer outside hands in; waits for it. Raises TicketGone if nobody will."""


class CallPipeline:
    """Makes exchanges so that none is paid twice and none passes the budget. Thread-safe.

    Args:
        log: the run's own record of calls.
        cache: answers of earlier runs; None for none.
        rules: the problem's repertoire, for `provider: rules`; None where it has none.
        offline: True for a replay: a call that is neither in the log nor in the cache is refused with BackendError.
        may_drift: such a call is a ReplyError instead, which its node can bear: scores that are measured anew may lead
            a replay to where its record has no answer.
        external: hands requests of `provider: external` to writers outside.
        listener: hears of streamed replies of nodes while they are written.
        in_force: what goes on from what `rules` wrote: in a replay what they wrote then, where they were others.
    """

    def __init__(
        self,
        log: CallLog,
        ledger: Ledger,
        cache: ReplyCache | None,
        rules: RulesWriter | None,
        retrier: Retrier,
        notice: Notice,
        offline: bool = False,
        may_drift: bool = False,
        external: External | None = None,
        listener: Listener | None = None,
        in_force: InForce | None = None,
    ) -> None:
        self._log = log
        self._ledger = ledger
        self._cache = cache
        self._rules = rules
        self._retrier = retrier
        self._notice = notice
        self._offline = offline
        self._may_drift = may_drift
        self._external = external
        self._listener = listener
        self._in_force = in_force
        self._single_flight = SingleFlight()
        self._clients = ClientPool(retrier)
        self._answered: set[tuple[str, str | None]] = set()

    def exchange(self, request: Request, settings: ModelSettings, key: CallKey, turn: int) -> CallRecord:
        """Return the record of this exchange, found or made; it is stored before it is returned.

        Args:
            key: where in the run the query is made.
            turn: which exchange of the query this is, from 0; more than one where arguments had to be asked for again.
        Raises:
            BackendError, BudgetExhausted, RunStopped, ConfigError: see `BoundQuery`.
        """
        digest, sample = request_hash(request, settings), key.sample(turn)
        is_outside = spec_of(settings).is_outside
        with self._single_flight.hold((digest, sample)):
            found = self._log.find_call(digest, sample)
            if found is not None:
                return found
            blank = blank_record(digest, sample, key, request, settings)
            hold = _Hold(self._log, sample)
            asked: list[CallRecord] = []
            if settings.provider == "rules":
                record = self._write(blank, request, key)
            elif is_outside and self._external is not None:
                record = self._hand_out(blank, request, key)
            else:
                cached = self._from_cache(blank, request, settings)
                record = cached or self._ask(blank, request, settings, hold, asked)
            self._log.save_call(record, hold.name, asked)
            is_kept = settings.provider != "rules" and not (is_outside or record.cached or is_refusal(record))
            if self._cache is not None and is_kept:
                self._cache.save(record)
            return record

    def look(self, blank: CallRecord, run: Callable[[], str]) -> CallRecord:
        """The answer of a function of ours that a model called: from the record, or made and stored now."""
        with self._single_flight.hold((blank.request_hash, blank.sample)):
            found = self._log.find_call(blank.request_hash, blank.sample)
            if found is not None:
                return found
            started = time.monotonic()
            answer = whole(run())
            record = blank.model_copy(update={"reply": answer, "seconds": _since(started)})
            self._log.save_call(record)
            return record

    def prepare(self, settings: ModelSettings) -> None:
        """Begin to load what a call of this model needs; nothing where no call will be made."""
        if not self._offline and spec_of(settings).package:
            self._clients.prepare(settings)

    def close(self) -> None:
        """Close the connections to the providers."""
        self._clients.close()

    def _write(self, blank: CallRecord, request: Request, key: CallKey) -> CallRecord:
        rng = random.Random(derive_seed(key.run_seed, key.node_id, key.role, key.attempt))
        started = time.monotonic()
        try:
            facts = reply_fields(backend_rules.write(request, self._rules, rng))
        except UnwantedPromptError as refusal:
            facts = {"reply": str(refusal), "finish_reason": UNWANTED}
        written = blank.model_copy(update={**facts, "seconds": _since(started)})
        return written if self._in_force is None else self._in_force(written)

    def _hand_out(self, blank: CallRecord, request: Request, key: CallKey) -> CallRecord:
        assert self._external is not None
        if key.attempt and not request.tools:  # the ticket would tell its one program again
            raise ReplyError("a writer outside is asked once for a program")
        started = time.monotonic()
        name = question_name(key.node_id, key.role, key.attempt) if request.tools else key.node_id
        try:
            reply = self._external(name, request)
        except TicketGone as error:
            if request.tools:  # a proposal goes with its ticket; a question is not answered
                raise ReplyError(str(error)) from error
            raise
        return blank.model_copy(update={**reply_fields(reply), "seconds": _since(started)})

    def _from_cache(self, blank: CallRecord, request: Request, settings: ModelSettings) -> CallRecord | None:
        """A cached answer costs nothing, but its tokens count: a rerun ends by tokens where the first run did."""
        found = self._cache.find(blank.request_hash, blank.sample) if self._cache is not None else None
        if found is None or is_refusal(found):
            return None
        worst = most_tokens(request, settings)
        held = self._ledger.reserve(Amount(worst.prompt + worst.completion))
        self._ledger.settle(held, Amount((found.prompt_tokens or 0) + (found.completion_tokens or 0)))
        kept = {"reply": found.reply, "finish_reason": found.finish_reason, "cached": True, "cost_usd": 0.0, "tries": 0}
        tokens = {"prompt_tokens": found.prompt_tokens, "completion_tokens": found.completion_tokens}
        return blank.model_copy(update=kept | tokens)

    def _ask(
        self, blank: CallRecord, request: Request, settings: ModelSettings, hold: _Hold, asked: list[CallRecord]
    ) -> CallRecord:
        """Ask the provider, with retries, each try under a reservation of its own.

        Args:
            asked: is given what an agent asked in its session.
        """
        if self._offline:
            missing = f"the call '{blank.sample}' is not in the record, and a replay asks no model"
            raise ReplyError(missing) if self._may_drift else UnrecordedError(missing)
        started = time.monotonic()
        tries = 0
        busy: BackendBusyError | None = None

        def attempt(number: int) -> tuple[Reply, Usage, float | None]:
            nonlocal tries, busy
            tries = number
            try:
                return self._try_once(request, settings, hold, blank)
            except BackendBusyError as error:
                busy = error
                raise

        facts: dict[str, Any]
        policy = RetryPolicy(settings.attempts, settings.backoff)
        try:
            reply, usage, cost = self._retrier.call(attempt, policy, self._notice)
        except RefusedError as refusal:
            if request.mode not in ("tool", "schema", "offer") or not refusal.is_about_form:
                raise
            # Part of the ladder: recorded, so that a resumed or replayed run takes the same step down.
            facts = {"reply": str(refusal), "finish_reason": f"{REFUSED}{refusal.status}"}
            facts |= {"prompt_tokens": 0, "completion_tokens": 0, "cost_usd": 0.0}
        except BudgetExhausted as over:
            if busy is None or _server(settings) in self._answered:
                raise
            raise BackendError(f"{over}; it has not answered once") from None  # no search took place: no good end
        except UnwantedPromptError as refusal:
            facts = {"reply": str(refusal), "finish_reason": UNWANTED}
            facts |= {"prompt_tokens": 0, "completion_tokens": 0, "cost_usd": 0.0}
        else:
            facts = {name: mask(text, settings) for name, text in reply_fields(reply).items()}
            facts |= {"prompt_tokens": usage.prompt, "completion_tokens": usage.completion}
            facts["cost_usd"] = cost
            for record in session_records(blank, reply):
                shown = {name: mask(getattr(record, name), settings) for name in ("user", "reply")}
                asked.append(record.model_copy(update=shown))
        return blank.model_copy(update={**facts, "seconds": _since(started), "tries": tries})

    def _heard(self, blank: CallRecord, settings: ModelSettings) -> Heard:
        if self._listener is None or not blank.node_id:
            return lambda piece: None
        return PartialReply(self._listener, blank.node_id, settings).add

    def _try_once(
        self, request: Request, settings: ModelSettings, hold: _Hold, blank: CallRecord
    ) -> tuple[Reply, Usage, float | None]:
        limiter = self._clients.limiter(settings)
        with limiter.permit():
            now = datetime.now(UTC)
            by_session = spec_of(settings).by_session
            worst = most_tokens(request, settings)
            most = Amount(worst.prompt + worst.completion, cost_of(settings, worst, now) or 0.0)
            held = self._ledger.reserve(_of_session(settings) if by_session else most)
            try:
                self._retrier.sleep(0)  # the room for it may have come too late
            except SwarmEvoError:
                self._ledger.settle(held, Amount())
                raise
            try:
                if held.usd or self._ledger.cap_tokens is not None:
                    hold.take(held)
                reply = self._clients.send(request, settings, self._heard(blank, settings))
            except BackendError as error:
                if isinstance(error, LostReplyError):
                    self._ledger.lose(held)
                else:
                    self._ledger.settle(held, Amount())
                    hold.drop()
                if isinstance(error, WrongAddressError) and _server(settings) not in self._answered:
                    raise BackendAddressError(str(error)) from None
                if isinstance(error, BackendBusyError) and error.retry_after:
                    limiter.pause(min(error.retry_after, 60.0))
                raise
            except BaseException:  # stopped or broken while the call was out: it may still be billed
                self._ledger.lose(held)
                raise
            self._answered.add(_server(settings))
            usage = reply.usage or (worst if reply.finish_reason == "oversize" else _guess(request, reply))
            cost = reply.usd if by_session else cost_of(settings, usage, now)
            self._ledger.settle(held, Amount(usage.prompt + usage.completion, cost or 0.0))
            return reply, usage, cost


class SingleFlight:
    """Lets equal calls run one at a time, so that the second finds the answer of the first in the record."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._holders: dict[tuple[str, str], tuple[threading.Lock, int]] = {}

    @contextmanager
    def hold(self, key: tuple[str, str]) -> Iterator[None]:
        """Wait until no other thread is inside with this key."""
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


class _Hold:
    """The stored reservation of a request in flight. If it is still there when the run is resumed, it counts as lost.

    Each try has a reservation of its own, so that a try that broke stays reserved while the next one is answered.
    """

    def __init__(self, log: CallLog, sample: str) -> None:
        self._log = log
        self._sample = sample
        self.name = ""
        """Name of the newest try's reservation; '' where nothing is reserved."""

    def take(self, worst: Amount) -> None:
        """Store the reservation; called before the request leaves."""
        self.name = f"{self._sample}/{time.time_ns()}"  # never that of a try of another process
        self._log.hold_call(self.name, worst.tokens, worst.usd)

    def drop(self) -> None:
        """Remove the reservation; called when the try is known to have cost nothing."""
        if self.name:
            self._log.drop_hold(self.name)
            self.name = ""


def _since(started: float) -> float:
    """Seconds up to now, to the microsecond: more digits tell nothing and are stored with every call."""
    return round(time.monotonic() - started, 6)


def _server(settings: ModelSettings) -> tuple[str, str | None]:
    """Whom a call of these settings asks: the provider too, since all have '' for their own address."""
    return settings.provider, settings.base_url or settings.command


def _of_session(settings: ModelSettings) -> Amount:
    """The most that a session of an agent takes."""
    return Amount(settings.session.tokens or 0, settings.session.usd or 0.0)


def _guess(request: Request, reply: Reply) -> Usage:
    """Estimate the tokens of a call whose server did not count them."""
    text = request.system + "".join(message.text for message in request.messages)
    return Usage(likely_tokens(text), likely_tokens(reply.text + reply.arguments))
