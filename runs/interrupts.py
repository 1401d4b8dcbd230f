"""Signals that end a search in good order, or at once where they come twice, or stop it for a while."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from math import inf
from types import FrameType

ECHO_SECONDS = 0.25
"""A signal so soon after another is the same wish: timeout(1) signals a process and then its whole group, a service
manager or a terminal every process of a group of which one passes it on, as a SIGTERM, and either may come first."""


_NUDGE = signal.SIGURG
"""Tells the main thread that there are signals to be handled. Who has no handler of it is not disturbed by one."""
_END = 0
"""The number of no signal."""


class Wishes:
    """Tells what is asked for once more from the echo of what was asked for. Two SIGINT are two: keys send those.

    Args:
        clock: seconds, never backwards.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._last = -inf
        self._number = 0

    def is_echo(self, number: int) -> bool:
        """Whether the signal that has come belongs to the one before; called once for each."""
        now = self._clock()
        by_keys = number == self._number == signal.SIGINT
        if now - self._last < ECHO_SECONDS and not by_keys:
            return True
        self._last, self._number = now, number
        return False


def interrupt_on_terminate() -> None:
    """From here on SIGTERM ends this process as Ctrl-C does, with all that is closed on the way: else what a verb had
    begun (engines, folders, the runs of a sweep) would outlive it. One that is ignored stays so."""
    wishes = Wishes()

    def on_terminate(number: int, frame: FrameType | None) -> None:
        if not wishes.is_echo(number):
            raise KeyboardInterrupt

    if signal.getsignal(signal.SIGTERM) is not signal.SIG_IGN:
        signal.signal(signal.SIGTERM, on_terminate)


@contextmanager
def paused_together(groups: Callable[[], Sequence[int]]) -> Iterator[None]:
    """Ctrl-Z (SIGTSTP) stops these process groups with this process inside, and goes on with them when it goes on."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def on_stop(number: int, frame: FrameType | None) -> None:
        stopped = groups()
        for group in stopped:
            _signal_group(group, signal.SIGSTOP)
        os.kill(os.getpid(), signal.SIGSTOP)
        for group in stopped:  # here this process was told to go on
            _signal_group(group, signal.SIGCONT)

    before = signal.getsignal(signal.SIGTSTP)
    if before is signal.SIG_DFL:
        signal.signal(signal.SIGTSTP, on_stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTSTP, before)


def _signal_group(group: int, number: int) -> None:
    with suppress(ProcessLookupError):  # it has just ended, by itself or by somebody who killed it meanwhile
        os.killpg(group, number)


@contextmanager
def _heard() -> Iterator[None]:
    """Inside, the main thread handles every signal, also one that another thread took from the system.

    Of two that come in the same instant the system may give both to a thread that the second woke. Python notes them
    there, and has them handled when the main thread next runs: one that waits goes on waiting, and neither is heard. So
    each number is also written into a pipe, whose reader sends the main thread a signal of its own.
    """
    main = threading.get_ident()
    read, write = os.pipe()
    os.set_blocking(write, False)

    def nudge() -> None:
        while _END not in (numbers := os.read(read, 64)):
            if set(numbers) != {_NUDGE}:
                signal.pthread_kill(main, _NUDGE)

    handler = signal.signal(_NUDGE, lambda number, frame: None)
    before = signal.set_wakeup_fd(write, warn_on_full_buffer=False)
    reader = threading.Thread(target=nudge, daemon=True, name="signals")
    try:
        reader.start()
        yield
    finally:
        signal.set_wakeup_fd(before)
        if reader.ident is not None:
            os.write(write, bytes([_END]))
            reader.join()
        signal.signal(_NUDGE, handler)
        os.close(read)
        os.close(write)


class Interrupts:
    """What the user asked for by signals; both events can also be set by hand.

    Args:
        on_finish: told of the first signal and whether the search is over, inside its handler: it may take no lock
            that the main thread takes elsewhere.
        on_now: told of the second, in the same way.
        clock: as for `Wishes`.
    """

    def __init__(
        self,
        on_finish: Callable[[bool], None] = lambda search_is_over: None,
        on_now: Callable[[], None] = lambda: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.finish = threading.Event()
        """Finish what is in flight, begin nothing more."""
        self.now = threading.Event()
        """Give up what is in flight."""
        self.search_is_over = False
        """Set by who leads the run: what is left is the final scoring, which a first signal does not stop."""
        self._on_finish = on_finish
        self._on_now = on_now
        self._wishes = Wishes(clock)

    @contextmanager
    def handled(self) -> Iterator[None]:
        """SIGINT, SIGTERM and SIGHUP (its terminal was closed) set the events inside; only a process's main thread can
        handle them, others run as they are. One but SIGTERM that was ignored when the process began stays so: SIGINT is
        meant for whoever is in front, and nohup means it."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
        for number, handler in before.items():
            if number == signal.SIGTERM or handler is not signal.SIG_IGN:
                signal.signal(number, self._on_signal)
        try:
            with _heard():
                yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        if self._wishes.is_echo(number):
            return
        if not self.finish.is_set():
            self.finish.set()
            self._on_finish(self.search_is_over)
            return
        self.now.set()
        self._on_now()
        raise KeyboardInterrupt
