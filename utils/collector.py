"""Python's cyclic garbage collector, told that a search makes few cycles."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

EVERY = 50_000
"""New objects between two looks at the young ones; Python's default is 700, which is half of one program's tree."""


@contextmanager
def no_collections() -> Iterator[None]:
    """Do not collect inside: of many nodes that are read none is garbage, and each look goes through all of them.

    Where there were many, no later look goes through them either: they stay as long as the process.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if gc.get_count()[0] > EVERY:
            gc.freeze()
        if was_on:
            gc.enable()


@contextmanager
def rare_collections() -> Iterator[None]:
    """Collect seldom inside: trees of programs come and go by reference counts, and the collector finds nothing.

    With the default it takes a sixth of a step's time, and the more the longer the journal is.
    """
    before = gc.get_threshold()
    gc.set_threshold(EVERY, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
