"""What a stop by the user leaves behind where it came."""

from __future__ import annotations

import traceback


def let_go(stop: BaseException) -> None:
    """Free what is held by the frames that a stop came from, while it is still on its way.

    One that comes between the beginning of a generator's `with` and its block leaves the generator with what it holds,
    the lock of the store and an open transaction say, until its frame is freed. Whoever waits for a thread that waits
    for that lock, as the end of a run does, would wait for ever.
    """
    traceback.clear_frames(stop.__traceback__)
