"""What the workers of one machine share: inputs, unpacked once for all of them. What the dead left is removed.

node = NodeFolder.of_user()
state = node.worker("run-1")          # a worker's own folder
data = node.inputs(name, lambda: zipped)
…
node.leave("run-1")                   # when its workers are dead: their folders go, with the last also the inputs
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from core.executor.workspace import remove_tree
from core.workers.shipping import unpack_folder
from utils.scratch_folders import hold, is_left
from utils.users_folder import users_folder

_END_SECONDS = 5.0
"""So long at most a worker takes to die that was killed."""


class NodeFolder:
    """Several processes may use one at a time.

    Args:
        root: made if missing; ours alone.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        root.mkdir(mode=0o700, parents=True, exist_ok=True)

    @classmethod
    def of_user(cls) -> NodeFolder:
        """The folder of this machine's user; one of its own where somebody else has taken its name."""
        return cls(users_folder())

    def worker(self, session: str) -> Path:
        """A folder for this process, of that session, as long as it lives; those of dead processes go."""
        with self._locked():
            self._tidy()
            folder = self._root / f"worker-{session}-{os.getpid()}-{os.urandom(6).hex()}"
            folder.mkdir(mode=0o700)
            hold(folder)  # in another container that shares the disk another process may have our number, or none
            return folder

    def inputs(self, name: str, packed: Callable[[], bytes | memoryview]) -> Path:
        """The folder of that name by content, unpacked by whoever needs it first; `packed` gives the zip."""
        folder = self._root / f"inputs-{name}"
        with self._locked():
            if not folder.is_dir():
                fresh = self._root / f"fresh-{name}"
                remove_tree(fresh)
                fresh.mkdir()
                fresh.chmod(0o755)  # candidates read it under other users' ids, whatever our umask
                unpack_folder(packed(), fresh, links=True)
                fresh.rename(folder)
        return folder

    def leave(self, session: str) -> None:
        """Remove what the session's workers left, once they are dead; with the last worker the inputs go as well."""
        end = time.monotonic() + _END_SECONDS
        while time.monotonic() < end and not all(map(is_left, self._root.glob(f"worker-{session}-*"))):
            time.sleep(0.05)
        with self._locked():
            self._tidy()
            if not any(self._root.glob("worker-*")):
                for folder in (*self._root.glob("inputs-*"), *self._root.glob("fresh-*")):
                    remove_tree(folder)

    def _tidy(self) -> None:
        for folder in self._root.glob("worker-*"):
            if is_left(folder):
                remove_tree(folder)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        with (self._root / "lock").open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield
