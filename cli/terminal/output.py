"""Output: lines for whoever reads them; who stops reading (`| head`) ends neither a step nor a run by an error."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import IO, TextIO

FINISHING = "what runs is finished, nothing more is begun"
OVER = "the search is over, and its final scoring is finished (`resume` scores what is stopped now)"


class Output:
    """Prints whole lines at once, until nobody reads any more. Thread-safe.

    Args:
        stream: stdout if None.
        on_gone: called once, when the reader has gone away.
    """

    def __init__(self, stream: TextIO | None = None, on_gone: Callable[[], None] = lambda: None) -> None:
        self._stream = stream or sys.stdout
        self._on_gone = on_gone
        self._gone = False
        self._turn = threading.Lock()

    def say(self, line: str) -> None:
        """Print one line."""
        if self._gone:
            return
        try:
            with self._turn:  # `print` writes text and line end apart: another thread's line would come between them
                self._stream.write(f"{line}\n")
                self._stream.flush()
        except BrokenPipeError:
            self._gone = True
            to_nowhere(self._stream)
            self._on_gone()


def say_finishing(search_is_over: bool) -> None:
    """Answer the first Ctrl-C, inside the signal's handler: no lock, no buffer."""
    told = OVER if search_is_over else FINISHING
    with suppress(OSError):  # nobody reads it any more, or the terminal was closed
        os.write(2, f"\n{told}; once more to stop now\n".encode())


def to_nowhere(stream: IO[str]) -> None:
    """Nobody reads this stream any more: what is still in its buffer would raise again when Python flushes it."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
