"""A deadline for a whole call. An SDK's own timeout is per read, so a server that sends byte by byte never meets it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from utils.errors import LostReplyError, RunStopped

T = TypeVar("T")
Heard = Callable[[str], None]
"""Told each piece of a streamed reply as it comes."""
_POLL = 0.25
"""Seconds between two looks at `stop` while a call is running."""


@dataclass(slots=True)
class Deadline:
    """How long one attempt may still take, and who hears of its reply meanwhile. A stream checks it at every chunk."""

    seconds: float
    advice: str = ""
    """What the user can change if it is too short; the end of the message."""
    heard: Heard = lambda piece: None
    started: float = field(default_factory=time.monotonic)
    cut: bool = False
    """True when nobody waits for the answer any longer."""

    @property
    def left(self) -> float:
        return self.started + self.seconds - time.monotonic()

    @property
    def text(self) -> str:
        """The message when it passes."""
        return f"no complete reply within {self.seconds:g} s{self.advice}"

    def check(self) -> None:
        """Raise TimeoutError if the time is over or nobody waits any longer."""
        if self.cut or self.left <= 0:
            raise TimeoutError(self.text)


class _Outcome(Generic[T]):
    def __init__(self) -> None:
        self.done = threading.Event()
        self.value: T | None = None
        self.error: BaseException | None = None


def call_within(deadline: Deadline, call: Callable[[], T], stop: threading.Event, name: str) -> T:
    """Return `call()`, or give it up when the deadline passes or `stop` is set.

    The call runs in a daemon thread of its own; given up, it ends by its own read timeout and its result is dropped.

    Raises:
        LostReplyError: the deadline passed.
        RunStopped: `stop` was set.
    """
    outcome: _Outcome[T] = _Outcome()

    def run() -> None:
        try:
            outcome.value = call()
        except BaseException as error:  # noqa: BLE001  # handed to the waiting thread, whatever it is
            outcome.error = error
        outcome.done.set()

    threading.Thread(target=run, name="llm-call", daemon=True).start()
    while not outcome.done.wait(max(0.0, min(_POLL, deadline.left))):
        if stop.is_set():
            deadline.cut = True
            raise RunStopped("stopped during a call of a model")
        if deadline.left <= 0:
            deadline.cut = True
            raise LostReplyError(f"{name}: {deadline.text}")
    if outcome.error is not None:
        raise outcome.error
    return outcome.value  # type: ignore[return-value]
