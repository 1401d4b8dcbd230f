"""Threads for one block of work, which end with it."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager


@contextmanager
def threads(count: int, name: str) -> Iterator[ThreadPoolExecutor]:
    """A pool that waits for its threads, unless the user wants to stop now: then what they do is given up."""
    pool = ThreadPoolExecutor(count, thread_name_prefix=name)
    wait = True
    try:
        yield pool
    except (KeyboardInterrupt, GeneratorExit):  # the latter where the stop came to who asks a generator for more
        wait = False
        raise
    finally:
        pool.shutdown(wait=wait, cancel_futures=True)
