"""A deadline for a whole call. An SDK's own timeout is per read, so a server that sends byte by byte never meets it."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from contextvars import Context
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from utils.errors import LostReplyError, RunStopped
from utils.patience import Patience

T = TypeVar("T")
Heard = Callable[[str], None]
"""Told each piece of a streamed reply as it comes."""


@dataclass(slots=True)
class Deadline:
    """How long one attempt may still take, and who hears of its reply meanwhile. A stream checks it at every chunk.

    Time in which this process stood still is nobody's while the attempt is waited for by `call_within`.
    """

    seconds: float
    advice: str = ""
    """What the user can change if it is too short; the end of the message."""
    heard: Heard = lambda piece: None
    cut: bool = False
    """True when nobody waits for the answer any longer."""
    patience: Patience = field(init=False)

    def __post_init__(self) -> None:
        self.patience = Patience(self.seconds)

    @property
    def left(self) -> float:
        return self.patience.left

    @property
    def text(self) -> str:
        """The message when it passes."""
        return f"no complete reply within {self.seconds:g} s{self.advice}"

    def check(self) -> None:
        """Raise TimeoutError if the time is over or nobody waits any longer."""
        if self.cut or self.left <= 0:
            raise TimeoutError(self.text)


class _Outcome(Generic[T]):
    """Of one call: made in a thread, waited for in another."""

    def __init__(self, call: Callable[[], T]) -> None:
        self._call = call
        self.done = threading.Event()
        self.value: T | None = None
        self.error: BaseException | None = None

    def find(self) -> None:
        try:
            self.value = Context().run(self._call)  # the next call in this thread finds nothing of it
        except BaseException as error:  # noqa: BLE001  # handed to the waiting thread, whatever it is
            self.error = error


class Callers:
    """Daemon threads that make calls; one that is through with its call makes a later one. Thread-safe.

    To begin a thread for each call takes as long as what a quick model needs for its answer.
    """

    def __init__(self) -> None:
        self._idle: list[queue.SimpleQueue[_Outcome[Any] | None]] = []
        self._lock = threading.Lock()
        self._closed = False

    def begin(self, call: Callable[[], T]) -> _Outcome[T]:
        outcome = _Outcome(call)
        with self._lock:
            todo = self._idle.pop() if self._idle else None
        if todo is None:
            todo = queue.SimpleQueue()
            threading.Thread(target=self._work, args=(todo,), name="llm-call", daemon=True).start()
        todo.put(outcome)
        return outcome

    def close(self) -> None:
        """Threads end when their calls do."""
        with self._lock:
            self._closed, idle = True, self._idle
            self._idle = []
        for todo in idle:
            todo.put(None)

    def _work(self, todo: queue.SimpleQueue[_Outcome[Any] | None]) -> None:
        while (outcome := todo.get()) is not None:
            outcome.find()
            with self._lock:
                kept = not self._closed
                self._idle += [todo] if kept else []
            outcome.done.set()
            del outcome  # its answer is not kept until the next call
            if not kept:
                return


def call_within(deadline: Deadline, call: Callable[[], T], stop: threading.Event, name: str, callers: Callers) -> T:
    """Return `call()`, or give it up when the deadline passes or `stop` is set.

    The call runs in a thread of `callers`; given up, it ends by its own read timeout and its result is dropped.

    Raises:
        LostReplyError: the deadline passed.
        RunStopped: `stop` was set.
    """
    outcome = callers.begin(call)
    while not deadline.patience.look(outcome.done.wait):
        if stop.is_set():
            deadline.cut = True
            raise RunStopped("stopped during a call of a model")
        if deadline.left <= 0:
            deadline.cut = True
            raise LostReplyError(f"{name}: {deadline.text}")
    if outcome.error is not None:
        if deadline.left <= 0:  # an SDK's own limit, which ends with ours, says less
            raise LostReplyError(f"{name}: {deadline.text}") from outcome.error
        raise outcome.error
    return outcome.value  # type: ignore[return-value]
