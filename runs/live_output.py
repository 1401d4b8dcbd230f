"""What running candidates print, as small files that viewers tail: `logs/<run>/live/<node>.out`."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import BinaryIO

from core.events import Event, NodeCommitted

CAP = 256 * 1024
"""Bytes of a file; a candidate's whole output is on its node."""


class LiveOutput:
    """Written by the workers' threads, removed when the node is committed. Names are node ids of ours."""

    def __init__(self, run_dir: Path) -> None:
        self._folder = run_dir / "live"
        self._files: dict[str, BinaryIO] = {}
        self._lock = threading.Lock()

    def tell(self, label: str, text: str) -> None:
        """Append what a candidate printed."""
        with self._lock:
            file = self._files.get(label)
            if file is None:
                self._folder.mkdir(exist_ok=True)
                file = self._files[label] = (self._folder / f"{label}.out").open("ab", buffering=0)
            if file.tell() < CAP:
                file.write(text.encode("utf-8", "replace"))

    def emit(self, event: Event) -> None:
        if isinstance(event, NodeCommitted):
            self._drop(event.node_id)

    def close(self) -> None:
        for label in list(self._files):
            self._drop(label)
        if self._folder.is_dir() and not any(self._folder.iterdir()):
            self._folder.rmdir()

    def _drop(self, label: str) -> None:
        with self._lock:
            file = self._files.pop(label, None)
            if file is not None:
                file.close()
                (self._folder / f"{label}.out").unlink(missing_ok=True)
