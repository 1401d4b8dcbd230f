"""The ledger of a run: tokens and dollars spent and reserved, which never pass the caps."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from core.backend.exchange import Request, Usage
from core.backend.settings import ModelSettings
from utils.errors import BudgetExhausted, Interrupted

FRAMING_TOKENS = 512
"""Upper bound of what providers add on their own: roles, separators, the hidden prompt that explains tools."""

_BROKE = " for calls that broke off and may have been billed"


@dataclass(frozen=True, slots=True)
class Amount:
    """Tokens and dollars."""

    tokens: int = 0
    usd: float = 0.0

    def __add__(self, other: Amount) -> Amount:
        return Amount(self.tokens + other.tokens, self.usd + other.usd)

    def __sub__(self, other: Amount) -> Amount:
        return Amount(self.tokens - other.tokens, self.usd - other.usd)


class Ledger:
    """Spent + lost + reserved stays at or below the caps, for any number of threads.

    spent     what answered calls cost, by the server's own count
    lost      worst case of calls that broke after they were sent: nobody knows what the provider bills for them
    reserved  worst case of calls in flight

    Args:
        tokens: cap, prompt and completion together; None for no cap.
        usd: cap in dollars; None for no cap.
        ending: set when the user wants the end: who waits for room then is not begun.
        machine_usd: → dollars that the machines have taken so far; the cap is for them and the calls together.
    """

    def __init__(
        self,
        tokens: int | None = None,
        usd: float | None = None,
        ending: threading.Event | None = None,
        machine_usd: Callable[[], float] = lambda: 0.0,
    ) -> None:
        self.cap_tokens = tokens
        self.cap_usd = usd
        self._ending = ending or threading.Event()
        self._machine_usd = machine_usd
        self._room = threading.Condition()
        self._spent = Amount()
        self._lost = Amount()
        self._reserved = Amount()

    @property
    def spent(self) -> Amount:
        with self._room:
            return self._spent

    @property
    def lost(self) -> Amount:
        with self._room:
            return self._lost

    def restore(
        self,
        bills: Iterable[tuple[int | None, int | None, float | None]],
        held: Iterable[tuple[int, float]] = (),
    ) -> None:
        """Count what a run did before it is resumed.

        Args:
            bills: (prompt tokens, completion tokens, dollars) of its answered calls.
            held: (tokens, dollars) at most of its calls whose answers were never stored: they are lost.
        """
        with self._room:
            for prompt, completion, usd in bills:
                self._spent += Amount((prompt or 0) + (completion or 0), usd or 0.0)
            for tokens, dollars in held:
                self._lost += Amount(tokens, dollars)

    def reserve(self, worst: Amount) -> Amount:
        """Hold `worst`; waits while calls in flight hold the room that may come free again.

        Raises:
            BudgetExhausted: it does not fit, even if every call in flight turned out to cost nothing.
            Interrupted: the user wants the end while it waits.
        """
        with self._room:
            while not self._fits(self._spent + self._lost + self._reserved + worst):
                if not self._fits(self._spent + self._lost + worst):
                    raise BudgetExhausted(self._why(worst))
                self._room.wait(0.2)
                if self._ending.is_set():
                    raise Interrupted("interrupted")
            self._reserved += worst
        return worst

    def settle(self, reserved: Amount, actual: Amount) -> None:
        """The call ended: give the reservation back and count what it really took."""
        with self._room:
            self._reserved -= reserved
            self._spent += actual
            self._room.notify_all()

    def lose(self, reserved: Amount) -> None:
        """The call broke after it was sent: its worst case stays held."""
        with self._room:
            self._reserved -= reserved
            self._lost += reserved
            self._room.notify_all()

    def _fits(self, total: Amount) -> bool:
        # A reservation of nothing fits where the cap is just used up: a free call beside those that are paid for.
        tokens_ok = self.cap_tokens is None or total.tokens <= self.cap_tokens
        return tokens_ok and (self.cap_usd is None or total.usd + self._machine_usd() <= self.cap_usd + 1e-12)

    def _why(self, worst: Amount) -> str:
        spent, lost = self._spent, self._lost
        if self.cap_tokens is not None and spent.tokens + lost.tokens + worst.tokens > self.cap_tokens:
            held = f" and {lost.tokens} held{_BROKE}" if lost.tokens else ""
            used = f"{spent.tokens} used{held}, the next call may take {worst.tokens}"
            return f"budget.tokens={self.cap_tokens} is reached: {used}"
        machine = self._machine_usd()
        parts = [f"${spent.usd:.4f} used"]
        parts += [f"${machine:.4f} for the machines"] if machine else []
        parts += [f"${lost.usd:.4f} held{_BROKE}"] if lost.usd else []
        return f"budget.usd={self.cap_usd} is reached: {' and '.join(parts)}, the next call may cost ${worst.usd:.4f}"


def most_tokens(request: Request, settings: ModelSettings) -> Usage:
    """The most a call can take: a token is at least one byte of UTF-8, and the reply is capped by `max_tokens`.

    All of the prompt may be written into the provider's cache, which is dearer where a provider has a price for it.
    """
    text = len(request.system.encode("utf-8", "replace"))
    text += sum(len(message.text.encode("utf-8", "replace")) + 16 for message in request.messages)
    text += sum(len(message.called.text) + 32 for message in request.messages if message.called)
    if request.mode != "text":
        text += sum(len(str(tool.parameters)) + len(tool.description) + 64 for tool in request.tools)
    prompt = text + FRAMING_TOKENS
    return Usage(prompt, settings.max_tokens, written=prompt)


def likely_tokens(text: str) -> int:
    """Tokens of a text whose count nobody told us: four bytes each, a common mean for English and code."""
    return tokens_of_bytes(len(text.encode("utf-8", "replace")))


def tokens_of_bytes(size: int) -> int:
    """As `likely_tokens`, of a text of so many bytes."""
    return -(-size // 4)
