"""WorkBoard: hears what each open program waits for or does, and keeps `live/work.json` at what it heard last."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from core.contracts import JobState
from core.state.live_work import LONGEST, WORK_FILE, LiveWork, NodeWork, WorkState
from utils.file_utils import write_atomic

PAUSE = 0.4
"""Seconds between two writings, at least: however many jobs begin and end, the file costs the same."""
_STAGES: dict[str, WorkState] = {"reply": "waits_writer", "repair": "waits_writer", "review": "reviewed"}
"""By the stage that has begun; `prompt` and `code` take no time, all others reach a verdict."""
_AT_ONCE = ("prompt", "code")


@dataclass(slots=True)
class _Jobs:
    """Of one label."""

    waiting: int = 0
    running: int = 0
    since: float = 0.0


class WorkBoard:
    """Told by the threads that write, run and judge. It costs each of them a lock and a few dictionary entries.

    Args:
        clock: seconds since the epoch.
    """

    def __init__(self, run_dir: Path, clock: Callable[[], float] = time.time) -> None:
        self._path = run_dir / WORK_FILE
        self._path.unlink(missing_ok=True)  # of a process that was killed
        self._clock = clock
        self._lock = threading.Lock()
        self._stages: dict[str, NodeWork] = {}
        self._jobs: dict[str, _Jobs] = {}
        self._doing = ""
        self._news, self._closed = threading.Event(), threading.Event()
        self._writer: threading.Thread | None = None

    def stage(self, node_id: str, name: str) -> None:
        """A stage of a node has begun; '': the one that had begun is over."""
        if name in _AT_ONCE:
            return
        with self._lock:
            if name:
                self._stages[node_id] = NodeWork(state=_STAGES.get(name, "scored"), since=self._clock())
            else:
                self._stages.pop(node_id, None)
        self._changed()

    def asked(self, node_id: str) -> None:
        """A model is asked for the node's program now."""
        with self._lock:
            known = self._stages.get(node_id)
            if known is not None and known.state == "waits_writer":
                self._stages[node_id] = NodeWork(state="written", since=self._clock())
        self._changed()

    def job(self, label: str, state: JobState) -> None:
        """A job of that label waits, runs, or is over."""
        with self._lock:
            jobs = self._jobs.setdefault(label, _Jobs())
            if state == "waits":
                jobs.waiting += 1
            elif state == "runs":
                jobs.waiting, jobs.running = jobs.waiting - 1, jobs.running + 1
            elif state == "withdrawn":
                jobs.waiting -= 1
            else:
                jobs.running -= 1
                self._judged(label)
            jobs.since = self._clock()
            if not (jobs.waiting or jobs.running):
                del self._jobs[label]
        self._changed()

    def doing(self, text: str) -> None:
        """What goes on besides the programs, in words; '': nothing."""
        with self._lock:
            self._doing = text[:LONGEST]
        self._changed()

    def _judged(self, node_id: str) -> None:
        """Its job is over: from now on what it brought is looked at."""
        known = self._stages.get(node_id)
        if known is not None and known.state == "scored":
            self._stages[node_id] = NodeWork(state="scored", since=self._clock())

    def now(self) -> LiveWork:
        """What was heard last. A job tells more than the stage that it belongs to."""
        with self._lock:
            nodes = dict(self._stages)
            for label, jobs in self._jobs.items():
                if label:
                    nodes[label] = NodeWork(state="runs" if jobs.running else "waits_worker", since=jobs.since)
            running = sum(jobs.running for jobs in self._jobs.values())
            waiting = sum(jobs.waiting for jobs in self._jobs.values())
            doing = self._doing
        return LiveWork(running=running, waiting=waiting, nodes=nodes, doing=doing)

    def close(self) -> None:
        """Nothing is done any longer."""
        self._closed.set()
        self._news.set()
        if self._writer is not None:
            self._writer.join(timeout=5.0)
        with suppress(OSError):
            self._path.unlink(missing_ok=True)

    def _changed(self) -> None:
        if self._news.is_set():
            return
        self._news.set()
        if self._writer is None and not self._closed.is_set():
            with self._lock:
                if self._writer is None:
                    writer = threading.Thread(target=self._write, daemon=True, name="live-work")
                    writer.start()
                    self._writer = writer

    def _write(self) -> None:
        while self._news.wait() and not self._closed.is_set():
            self._news.clear()
            with suppress(OSError):  # a viewer sees an older one
                write_atomic(self._path, self.now().model_dump_json())
            if self._closed.wait(PAUSE):  # the last news may have been taken for those before
                return
