"""The file that a user's evaluator is given in place of a candidate, in a folder of its own."""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_STUB = """# The candidate is behind a proxy: this file stands in for it and must not be run or read.
open({marker!r}, "w").close()
raise SystemExit("the candidate of this evaluator is behind a proxy and cannot be run as a file")
"""


class Stub:
    """A folder with one file: a stand-in that says when it is run, or the text of a candidate that is no program."""

    def __init__(self, name: str = "candidate.py", text: str | None = None) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="swarm-evaluator-"))
        self.program, self.marker = self.folder / name, self.folder / "was-run"
        written = _STUB.format(marker=str(self.marker)) if text is None else text
        self.program.write_text(written, encoding="utf-8", errors="surrogateescape")
        self._made = self._look()

    @property
    def was_run(self) -> bool:
        return self.marker.exists()

    @property
    def is_untouched(self) -> bool:
        """Nothing was added, written or put in its place."""
        try:
            return self._look() == self._made
        except OSError:
            return False

    def close(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    def _look(self) -> tuple[object, ...]:
        found = os.lstat(self.program)
        return os.listdir(self.folder), found.st_ino, found.st_mode, found.st_mtime_ns, found.st_ctime_ns


class Stubs:
    """Stand-ins for all candidates of a worker: one that nobody touched serves the next. Thread-safe."""

    def __init__(self) -> None:
        self._free: list[Stub] = []
        self._lock = threading.Lock()

    @contextmanager
    def one(self) -> Iterator[Stub]:
        with self._lock:
            stub = self._free.pop() if self._free else None
        stub = stub or Stub()
        try:
            yield stub
        finally:
            if stub.is_untouched:
                with self._lock:
                    self._free.append(stub)
            else:
                stub.close()

    def close(self) -> None:
        with self._lock:
            free, self._free = self._free, []
        for stub in free:
            stub.close()
