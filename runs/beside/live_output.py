"""What goes on right now, as small files that viewers tail: `logs/<run>/live/<node>.out` is what a running candidate
prints, `<node>.reply` what a model has written so far of an open reply, `work.json` what each open program waits for or
does. None is stored."""

from __future__ import annotations

import shutil
import threading
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from core.events import Event, LLMCalled, NodeCommitted
from runs.beside.work_board import WorkBoard

CAP = 256 * 1024
"""Bytes of a file; a candidate's whole output and a whole reply are with their node."""
OUTPUT, REPLY = ".out", ".reply"


class LiveOutput:
    """Written by the threads of workers and calls. An output goes when its node is committed, a reply when it is whole.

    Names are node ids of ours.

    Attributes:
        work: hears what each open program waits for or does.
    """

    def __init__(self, run_dir: Path) -> None:
        self._folder = run_dir / "live"
        shutil.rmtree(self._folder, ignore_errors=True)  # of a process that was killed: nothing of it goes on
        self._files: dict[str, BinaryIO] = {}
        self._lock = threading.Lock()
        self._closed = False
        self.work = WorkBoard(run_dir)

    def tell(self, label: str, text: str) -> None:
        """Append what a candidate printed."""
        self._append(label + OUTPUT, text)

    def hear(self, label: str, text: str | None) -> None:
        """Append what a model wrote; None: it begins anew."""
        if text is None:
            self.work.asked(label)
            self._drop(label + REPLY)
        else:
            self._append(label + REPLY, text)

    def emit(self, event: Event) -> None:
        if isinstance(event, LLMCalled) and event.node_id:
            self._drop(event.node_id + REPLY)
        elif isinstance(event, NodeCommitted):
            self._drop(event.node_id + OUTPUT)
            self._drop(event.node_id + REPLY)

    def close(self) -> None:
        with self._lock:  # whoever has begun to write a file is done with it
            self._closed = True
        self.work.close()
        for name in list(self._files):
            self._drop(name)
        if self._folder.is_dir() and not any(self._folder.iterdir()):
            self._folder.rmdir()

    def _append(self, name: str, text: str) -> None:
        with self._lock:
            file = self._files.get(name)
            if self._closed:  # a call that nobody waits for any longer may still be writing
                return
            with suppress(OSError):  # a viewer sees less of it
                if file is None:
                    self._folder.mkdir(exist_ok=True)
                    file = self._files[name] = (self._folder / name).open("ab", buffering=0)
                if file.tell() < CAP:
                    file.write(text.encode("utf-8", "replace"))

    def _drop(self, name: str) -> None:
        with self._lock:
            file = self._files.pop(name, None)
            if file is not None:
                file.close()
                with suppress(OSError):
                    (self._folder / name).unlink(missing_ok=True)
