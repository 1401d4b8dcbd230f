"""How far a verifying replay is: a bar on a terminal, else a line every ten seconds; on stderr, as it is no result."""

from __future__ import annotations

import sys
import threading
import time

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from core.events import Event
from runs.view import SilentView

_EVERY = 10.0
"""Seconds between two lines where there is no terminal."""


class ReplayView(SilentView):
    """Counts what is committed again.

    Args:
        total: nodes of the recorded run.
    """

    def __init__(self, total: int) -> None:
        self._total = total
        self._done = 0
        self._lock = threading.Lock()
        self._told = time.monotonic()
        columns = (TextColumn("replayed"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        self._bar: Progress | None = None
        if sys.stderr.isatty():
            self._bar = Progress(*columns, console=Console(stderr=True), transient=True)
            self._task = self._bar.add_task("", total=total)
            self._bar.start()

    def emit(self, event: Event) -> None:
        if event.type != "node.committed":
            return
        with self._lock:
            self._done += 1
            if self._bar is not None:
                self._bar.update(self._task, completed=self._done)
            elif time.monotonic() - self._told >= _EVERY:
                self._told = time.monotonic()
                print(f"replayed {self._done:,} of {self._total:,}", file=sys.stderr, flush=True)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.stop()
