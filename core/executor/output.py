"""What a program prints: kept up to a cap, passed on as it comes."""

from __future__ import annotations

import codecs
import os
from collections.abc import Callable
from contextlib import ExitStack

from utils.clean_text import clean


class Output:
    """stdout and stderr of one job in the order they came.

    Args:
        cap: bytes that are kept; more than that is a breach.
        on_output: called with each new piece of text, from the thread that reads.
        rename: (host path, shown path): where no mount hides the host's folders, their names are replaced.
    """

    def __init__(
        self, cap: int, on_output: Callable[[str], None] | None = None, rename: tuple[str, str] | None = None
    ) -> None:
        self.cap = cap
        self.total = 0
        self._kept: list[bytes] = []
        self._size = 0
        self._on_output = on_output
        self._rename = rename
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    @property
    def over(self) -> bool:
        return self.total > self.cap

    def add(self, data: bytes) -> None:
        self.total += len(data)
        kept = data[: max(0, self.cap - self._size)]
        if not kept:
            return
        self._kept.append(kept)
        self._size += len(kept)
        if self._on_output is not None:
            self._on_output(self._shown(self._decoder.decode(kept)))

    def text(self) -> str:
        """What was kept, with a line that says what was not."""
        text = self._shown(b"".join(self._kept).decode("utf-8", "replace"))
        left_out = self.total - self._size
        return text if left_out <= 0 else f"{text}\n[… output stopped at {self.cap:,} bytes]\n"

    def _shown(self, text: str) -> str:
        text = clean(text)
        return text if self._rename is None else text.replace(*self._rename)


def drain(fd: int, output: Output) -> None:
    """Read what is left in a pipe, without waiting for more."""
    os.set_blocking(fd, False)
    try:
        while not output.over and (data := os.read(fd, 65536)):
            output.add(data)
    except BlockingIOError:
        pass


def pipe(read: ExitStack, write: ExitStack) -> tuple[int, int]:
    """The ends of a pipe, which these stacks close."""
    ends = os.pipe()
    for stack, end in zip((read, write), ends, strict=True):
        stack.callback(os.close, end)
    return ends


def nothing(stack: ExitStack) -> int:
    """An empty standard input, which the stack closes."""
    null = os.open(os.devnull, os.O_RDONLY)
    stack.callback(os.close, null)
    return null
