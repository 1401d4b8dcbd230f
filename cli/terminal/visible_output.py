"""Output on which names, programs and replies of strangers are seen and never obeyed, whoever prints them."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TextIO, cast

from utils.clean_text import visible


class VisibleStream:
    """A text stream that writes out what a terminal would obey (`\\u001b`). Rich's colours go past it."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        self.stream.write(visible(text))
        return len(text)

    def flush(self) -> None:
        self.stream.flush()

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


class Remarks(VisibleStream):
    """Standard error: nothing ends because nobody reads it any more (`2>&1 | head`)."""

    def write(self, text: str) -> int:
        with suppress(BrokenPipeError):
            super().write(text)
        return len(text)

    def flush(self) -> None:
        with suppress(BrokenPipeError):
            super().flush()


@contextmanager
def visible_output() -> Iterator[None]:
    """Print through `VisibleStream` inside the block, on stdout and on stderr."""
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = cast(TextIO, VisibleStream(sys.stdout)), cast(TextIO, Remarks(sys.stderr))
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before
