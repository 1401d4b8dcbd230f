"""Threads that work side by side: as many as the machine has room for."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from utils.counts import counted
from utils.logger_system import log_msg


class Pool(ThreadPoolExecutor):
    """A pool that goes on with the threads it has where the machine gives no further one (`ulimit -u`, `pids.max`):
    what waits is done by these, later. With no thread at all `submit` raises RuntimeError, as Python's own does.
    """

    _is_told = False

    def _adjust_thread_count(self) -> None:  # by then what was submitted waits for whichever thread is the next
        try:
            super()._adjust_thread_count()
        except RuntimeError:
            if not self._threads:
                raise
            if not self._is_told:
                self._is_told = True
                at_once = counted(len(self._threads), "thread")
                log_msg("WARNING", f"no room for another thread (ulimit -u, pids.max): the work goes on with {at_once}")


@contextmanager
def threads(count: int, name: str) -> Iterator[Pool]:
    """A pool that waits for its threads, unless the user wants to stop now: then what they do is given up."""
    pool = Pool(count, thread_name_prefix=name)
    wait = True
    try:
        yield pool
    except (KeyboardInterrupt, GeneratorExit):  # the latter where the stop came to who asks a generator for more
        wait = False
        raise
    finally:
        pool.shutdown(wait=wait, cancel_futures=True)
