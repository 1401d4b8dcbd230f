"""The user's second Ctrl-C where it does most harm."""

from __future__ import annotations

import dis
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

_RETURN = dis.opmap["RETURN_VALUE"]


@contextmanager
def stopped_before_its_block(caller: str, number: int = 1) -> Iterator[None]:
    """KeyboardInterrupt in this thread, between the beginning of the `number`-th generator's `with` in a function of
    that name and its block: what the generator holds then, nobody lets go of."""
    left = number

    def entered(frame: FrameType, event: str, found: Any) -> Any:
        leaves = event == "opcode" and frame.f_code.co_code[frame.f_lasti] == _RETURN
        if leaves or (event == "return" and sys.version_info >= (3, 12)):  # which ends before its opcodes are traced
            sys.settrace(None)
            raise KeyboardInterrupt  # as from a signal's handler: between two steps of that frame
        return entered

    def called(frame: FrameType, event: str, found: Any) -> Any:
        nonlocal left
        code, back = frame.f_code, frame.f_back
        if code.co_name == "__enter__" and "contextlib" in code.co_filename and back and back.f_code.co_name == caller:
            left -= 1
            frame.f_trace_opcodes = left == 0
            return entered if left == 0 else None
        return None

    before = sys.gettrace()
    sys.settrace(called)
    try:
        yield
    finally:
        sys.settrace(before)
