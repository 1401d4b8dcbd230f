"""Output on which names, programs and replies of strangers are seen and never obeyed, whoever prints them."""

from __future__ import annotations

import errno
import io
import os
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TextIO, cast

from cli.terminal.ascii_words import in_words
from utils.clean_text import visible


class NamedStream:
    """A text stream of which an error of the system's (a full disk behind it) says that it is about this stream.

    What the stream's encoding lacks is told in words (`...`) where it is ours, else written out (`\\u0436`). A terminal
    that was closed is as a pipe that nobody reads any more.
    """

    def __init__(self, stream: TextIO, name: str) -> None:
        self._stream, self._name = stream, name
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")

    def write(self, text: str) -> int:
        with self._named():
            return self._stream.write(in_words(text, self._stream.encoding))

    def flush(self) -> None:
        with self._named():
            self._stream.flush()

    @contextmanager
    def _named(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            if error.errno == errno.EIO and stat.S_ISCHR(os.fstat(self._stream.fileno()).st_mode):
                raise BrokenPipeError(errno.EPIPE, "the terminal was closed") from error
            error.filename = error.filename or self._name
            raise

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class VisibleStream:
    """A text stream that writes out what a terminal would obey (`\\u001b`). Rich's colours go past it."""

    def __init__(self, stream: TextIO, name: str = "standard output") -> None:
        self.stream = cast(TextIO, NamedStream(stream, name))

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
    _reopen_closed()
    before = sys.stdout, sys.stderr
    sys.stdout = cast(TextIO, VisibleStream(sys.stdout))
    sys.stderr = cast(TextIO, Remarks(sys.stderr, "standard error"))
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def _reopen_closed() -> None:
    """Standard streams that were closed (`>&-`, some daemons) lead nowhere.

    Left closed, their numbers would be given to the next files that are opened: the store, or a child's pipe.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number, which is this one
    sys.stdin = sys.stdin or open(os.devnull, encoding="utf-8")  # noqa: SIM115
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
