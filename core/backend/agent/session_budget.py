"""What a coding agent's session takes: counted, and held below its limits while replies are under way."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field, replace
from typing import Any

from core.backend.agent.dialects import Asked, bounded, is_cut, reply_limit, tells_error, usage_of
from core.backend.agent.weighing import Weighing, parts_of
from core.backend.exchange import Usage
from core.backend.faults import UNHEARD_STATUS
from core.backend.prices import cost_of, is_free, is_priced
from core.backend.settings import ModelSettings
from utils.counts import counted
from utils.errors import BackendError

LEAST_REPLY = 64
"""Tokens below which a reply is not worth a request."""
ENOUGH = 4000
"""Tokens of a reply for which no request waits until others have given back what they do not take."""
_USUAL_REPLY = 32_000


@dataclass(slots=True)
class Spent:
    """What a session took so far."""

    turns: int = 0
    """Replies, and requests whose reply is under way: what a provider refuses (429, 5xx) is none."""
    usage: Usage = field(default_factory=lambda: Usage(0, 0))
    usd: float | None = 0.0
    """None once a reply had no price."""

    @property
    def tokens(self) -> int:
        return self.usage.prompt + self.usage.completion


class SessionBudget:
    """Lets requests out as long as turns, tokens and dollars are left, whatever their replies take. Thread-safe.

    An agent asks several things at once: what replies under way hold, and may not take, is no reason to refuse one.
    """

    def __init__(self, settings: ModelSettings) -> None:
        self.spent = Spent()
        self._weighing = Weighing()
        self._settings = settings
        self._reserved = Usage(0, 0)
        self._reserved_usd = 0.0
        self._lock = threading.Lock()
        self._settled = threading.Condition(self._lock)
        self._closed = False

    @property
    def waits(self) -> bool:
        """True while a reply is under way."""
        return self._reserved != Usage(0, 0)

    def close(self) -> None:
        """Let no request out any more, nor one that waits."""
        with self._lock:
            self._closed = True
            self._settled.notify_all()

    def count_open(self) -> None:
        """Replies that are under way count with the most they can take: nobody waits for them any more."""
        with self._lock:
            self.spent.usage = _plus(self.spent.usage, self._reserved)
            self.spent.usd = None if self.spent.usd is None else self.spent.usd + self._reserved_usd

    def admit(self, asked: Asked, size: int) -> tuple[dict[str, Any], Usage, float]:
        """The request as it may go out, and the most it can take; waits for replies under way where they hold the room.

        Args:
            size: its bytes.

        Raises:
            BackendError: it passes a limit, or the session is over.
        """
        limits = self._settings.session
        priced = self._priced(asked)
        wanted, parts = reply_limit(asked) or _USUAL_REPLY, parts_of(asked)
        with self._lock:
            size = self._weighing.most(asked, parts, size)
            while self.waits and not self._closed and not self._has_room(priced, wanted, size):
                self._settled.wait()
            most = self._most(priced, wanted, size)
            if self._closed:
                raise BackendError("the session is over")
            if limits.turns is not None and self._turns_are_used():
                raise BackendError(f"{counted(limits.turns, 'turn is', 'turns are')} used (llm.code.session.turns)")
            if most < min(LEAST_REPLY, wanted):
                raise BackendError("tokens or dollars of this session are used (llm.code.session)")
            body, worst = bounded(asked, most), Usage(size, most, written=size)
            usd = cost_of(priced, worst) or 0.0
            self._reserved = _plus(self._reserved, worst)
            self._reserved_usd += usd
            self.spent.turns += 1
        return body, worst, usd

    def _has_room(self, priced: ModelSettings, wanted: int, size: int) -> bool:
        """Now, for a reply that is not cut short."""
        return not self._turns_are_used() and self._most(priced, wanted, size) >= min(ENOUGH, wanted)

    def _turns_are_used(self) -> bool:
        """By those under way, too: one that the provider refuses gives its turn back once its refusal is passed on."""
        turns = self._settings.session.turns
        return turns is not None and self.spent.turns >= turns

    def _priced(self, asked: Asked) -> ModelSettings:
        """By which a request is paid. A price that is set is of the settings' model; others have published ones."""
        named = self._settings.model
        own = replace(self._settings, provider=asked.dialect.provider, model=asked.model or named)
        published = replace(own, price=None)
        is_other = not own.model.startswith(named) and not is_free(published)
        return published if is_other and is_priced(published) else own

    def _most(self, priced: ModelSettings, wanted: int, size: int) -> int:
        """Tokens that a reply may have now."""
        limits = self._settings.session
        most = min(wanted, self._room(limits.tokens, size))
        return most if limits.usd is None else self._affordable(priced, size, most, limits.usd)

    def _room(self, tokens: int | None, size: int) -> int:
        if tokens is None:
            return _USUAL_REPLY * 4
        return tokens - self.spent.tokens - self._reserved.prompt - self._reserved.completion - size

    def _affordable(self, priced: ModelSettings, size: int, most: int, cap: float) -> int:
        """Tokens of a reply that the rest of the dollars pays, beside a request of so many tokens at most."""
        fixed, each = cost_of(priced, Usage(size, 0, written=size)), cost_of(priced, Usage(0, 1_000_000))
        if fixed is None or each is None:
            raise BackendError(f"the price of {priced.model} is not known, so session.usd={cap:g} cannot be kept")
        left = cap - (self.spent.usd or 0.0) - self._reserved_usd - fixed
        return most if each == 0 else min(most, int(left / each * 1_000_000))

    def settle(self, asked: Asked, worst: Usage, usd: float, status: int, raw: bytes, *, broke: bool) -> None:
        """A reply came, or broke off: count what it says, or the worst where it does not say.

        Args:
            broke: the request was sent, and its answer did not come to its end: how long it became is not known. So
                does one that ends with an error, and one that a gateway behind ours waited for no longer.
        """
        told = usage_of(raw)
        broke = broke or status in UNHEARD_STATUS or (status == 200 and (tells_error(raw) or is_cut(raw)))
        used = told or (worst if broke or status == 200 else Usage(0, 0))
        if broke:
            used = replace(used, completion=max(used.completion, worst.completion))
        cost = cost_of(self._priced(asked), used)
        parts = parts_of(asked) if told and status == 200 and not broke else None
        with self._lock:
            if told and parts:
                self._weighing.learn(asked, parts, told.prompt)
            self._reserved = _plus(self._reserved, Usage(-worst.prompt, -worst.completion, written=-worst.written))
            self._reserved_usd -= usd
            self.spent.turns -= told is None and status >= 400 and not broke
            self.spent.usage = _plus(self.spent.usage, used)
            self.spent.usd = None if cost is None or self.spent.usd is None else self.spent.usd + cost
            self._settled.notify_all()


def _plus(one: Usage, two: Usage) -> Usage:
    return Usage(
        one.prompt + two.prompt, one.completion + two.completion, one.cached + two.cached, one.written + two.written
    )
