"""The user's second Ctrl-C where it does most harm."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any


@contextmanager
def stopped_before_its_block(caller: str, number: int = 1) -> Iterator[None]:
    """KeyboardInterrupt in this thread, between the beginning of the `number`-th generator's `with` in a function of
    that name and its block: what the generator holds then, nobody lets go of."""
    left = number

    def entered(frame: FrameType, event: str, found: Any) -> Any:
        if event == "return":
            sys.settrace(None)
            raise KeyboardInterrupt  # as from a signal's handler, before the value reaches the caller
        return entered

    def called(frame: FrameType, event: str, found: Any) -> Any:
        nonlocal left
        code, back = frame.f_code, frame.f_back
        if code.co_name == "__enter__" and "contextlib" in code.co_filename and back and back.f_code.co_name == caller:
            left -= 1
            return entered if left == 0 else None
        return None

    before = sys.gettrace()
    sys.settrace(called)
    try:
        yield
    finally:
        sys.settrace(before)
