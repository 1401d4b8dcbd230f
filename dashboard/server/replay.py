"""Replay: stored events again, on a simulated clock, as the frames of a live run."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from datetime import datetime
from pathlib import Path

from dashboard.server.fanout import FRAME_EVENTS, events_frame, status_frame
from dashboard.server.tailer import EventFile

SLOWEST, FASTEST = 0.1, 10_000.0
"""Bounds of a replay's speed."""
LONGEST_PAUSE = 1.5
"""Wall-clock seconds between two events at most: nights between a run and its resume are not worth waiting for."""
_AT_ONCE = 0.02
"""Events due within so many seconds travel in one frame."""


class Replay:
    """One client's replay of a run: the events after `after`, each as long after the one before as it was, ÷ speed.

    Args:
        speed: how many times faster than it was; changed while it goes on by `command`.
    """

    def __init__(self, run_dir: Path, *, after: int = 0, speed: float = 10.0) -> None:
        self.run_dir = run_dir
        self.after = after
        self.speed = speed
        self._running = asyncio.Event()
        self._running.set()
        self._changed = asyncio.Event()

    def command(self, *, speed: float | None = None, paused: bool | None = None) -> None:
        """Take effect at once, also in the middle of a pause between two events."""
        if speed is not None:
            self.speed = speed
        if paused is not None:
            (self._running.clear if paused else self._running.set)()
        self._changed.set()

    async def frames(self) -> AsyncGenerator[str, None]:
        """Frames of events, then one of kind `end`."""
        file = EventFile(self.run_dir)
        try:
            last = file.last_seq()
            yield status_frame(False, last)
            async with aclosing(self._timed(file)) as timed:
                async for frame in timed:
                    yield frame
            yield f'{{"kind":"end","last_seq":{last}}}'
        finally:
            file.close()

    async def _timed(self, file: EventFile) -> AsyncGenerator[str, None]:
        due: list[tuple[int, str]] = []
        before: datetime | None = None
        waited = 0.0
        cursor = self.after
        while page := await asyncio.to_thread(file.timed_page, cursor, FRAME_EVENTS):
            cursor = page[-1][0]
            for seq, event, at in page:
                now = datetime.fromisoformat(at)
                waited += 0.0 if before is None else max(0.0, (now - before).total_seconds())
                before = now
                if due and (waited / self.speed >= _AT_ONCE or len(due) >= FRAME_EVENTS):
                    yield events_frame(due)[1]
                    due = []
                    await self._pause(waited)
                    waited = 0.0
                due.append((seq, event))
        if due:
            yield events_frame(due)[1]

    async def _pause(self, run_seconds: float) -> None:
        """Let `run_seconds` of the run's time go by; pausing and another speed count from now."""
        loop = asyncio.get_running_loop()
        while True:
            await self._running.wait()
            self._changed.clear()
            speed, started = self.speed, loop.time()
            try:
                async with asyncio.timeout(min(run_seconds / speed, LONGEST_PAUSE)):  # wait_for may lose a cancellation
                    await self._changed.wait()
            except TimeoutError:
                return
            run_seconds = max(0.0, run_seconds - (loop.time() - started) * speed)
