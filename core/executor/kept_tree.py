"""Copies of a base tree that last: a job costs what it changed, where the sandbox cannot show the base itself.

A copy is made once. After each job, what is not as it was laid out is found by inode and time of change: whoever writes
a file, changes its mode or puts another in its place moves that time, and nobody but the system's owner can set it.
"""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Set
from contextlib import contextmanager
from pathlib import Path

from core.executor.inside import watch
from core.executor.workspace import remove_tree

OPEN_FOLDER = 0o1777
"""Whoever runs in a copy may add files to a folder, and remove or rename only his own."""
_TICK = 20_000_000
"""Nanoseconds between which a kernel's clock for files surely moves."""
_Stamp = tuple[int, int, int, int]
"""Inode, time of change, size, mode."""


class KeptTrees:
    """The copies of one base on this worker: as many as jobs ran in it at once. Thread-safe.

    Args:
        base: the folder that is copied; it never changes.
        root: where copies are made; made if missing.
    """

    def __init__(self, base: Path, root: Path) -> None:
        self._base, self._root = base, root
        self._idle: list[KeptTree] = []
        self._lock = threading.Lock()

    @contextmanager
    def borrowed(self) -> Iterator[KeptTree]:
        """A copy as the base is; what is done to it is undone afterwards."""
        with self._lock:
            tree = self._idle.pop() if self._idle else None
        tree = tree or KeptTree(self._base, self._root)
        try:
            yield tree
            tree.restore()
        except BaseException:
            tree.remove()
            raise
        with self._lock:
            self._idle += [tree] if tree.is_whole else []

    def close(self) -> None:
        with self._lock:
            idle, self._idle = self._idle, []
        for tree in idle:
            tree.remove()


class KeptTree:
    """One copy; used by one job at a time."""

    def __init__(self, base: Path, root: Path) -> None:
        self._base = base
        root.mkdir(parents=True, exist_ok=True)
        self.folder = Path(tempfile.mkdtemp(prefix="tree-", dir=root))
        self.is_whole = True
        """False once it could not be made as it was: then it is gone."""
        shutil.copytree(base, self.folder, symlinks=True, dirs_exist_ok=True)
        self.folder.chmod(OPEN_FOLDER)
        self._stamps, self._folders = _look(self.folder)
        self.charged = watch.disk_usage(str(self.folder), set())
        """Bytes that a job is charged for it, as it is laid out."""
        self._laid: set[str] = set()
        self._now: tuple[dict[str, _Stamp], dict[str, int]] | None = None
        """What the last job left, once it was looked at: nothing runs in it meanwhile."""

    def lay(self, files: Mapping[str, tuple[bytes, int] | None], writable: Set[str] = frozenset()) -> None:
        """Put files into it, or take them away, and wait until whatever is changed later has a later time.

        Args:
            files: path → (content, mode), or None for one that is not there.
            writable: paths of it that the job may write.
        """
        self._laid, self._now = {*files, *writable}, None
        for path, content in files.items():
            place = self.folder / path
            place.unlink(missing_ok=True)
            if content is not None:
                _make_folders(self.folder, path)
                place.write_bytes(content[0])
                place.chmod(content[1])
        for path in writable - files.keys():
            if (self.folder / path).is_file():
                (self.folder / path).chmod((self.folder / path).stat().st_mode & 0o777 | 0o666)
        newest = max((stamp[1] for stamp in self._stamps.values()), default=0)
        left = newest + _TICK - time.time_ns()
        if left > 0:  # a tick is enough where the clock was set back, or the disk's own is ahead of ours
            time.sleep(min(left, _TICK) / 1e9)

    def touched(self) -> list[str]:
        """Paths of the base that are not what they were, apart from those that `lay` was told."""
        try:
            self._now = _look(self.folder)
        except OSError:  # folders without rights, paths that are too long: nothing of it can be trusted
            self.remove()
            return sorted(self._stamps.keys() - self._laid)
        now = self._now[0]
        changed = [path for path, stamp in self._stamps.items() if now.get(path) != stamp and path not in self._laid]
        return sorted(path for path in changed if not _same(self._base / path, self.folder / path))

    def restore(self) -> None:
        """Make it as it was; where that cannot be done it is removed."""
        try:
            if self.is_whole:
                self._restore()
        except OSError:
            self.remove()

    def _restore(self) -> None:
        now, folders = self._now or _look(self.folder)
        for path in now.keys() - self._stamps.keys():
            (self.folder / path).unlink()
        for path in sorted(folders.keys() - self._folders.keys()):
            remove_tree(self.folder / path)
        for path, mode in sorted(self._folders.items() - folders.items()):
            (self.folder / path).mkdir(exist_ok=True)
            (self.folder / path).chmod(mode)
        for path in [path for path, stamp in self._stamps.items() if now.get(path) != stamp or path in self._laid]:
            place = self.folder / path
            place.unlink(missing_ok=True)
            shutil.copy2(self._base / path, place, follow_symlinks=False)
            self._stamps[path] = _stamp(os.lstat(place))
        self._laid = set()

    def remove(self) -> None:
        self.is_whole = False
        remove_tree(self.folder)


def _look(root: Path) -> tuple[dict[str, _Stamp], dict[str, int]]:
    """(stamps of all that is no folder, modes of folders) below a folder, by path."""
    files: dict[str, _Stamp] = {}
    folders: dict[str, int] = {}
    todo = [""]
    while todo:
        prefix = todo.pop()
        with os.scandir(f"{root}/{prefix}") as entries:
            for entry in entries:
                path, found = prefix + entry.name, entry.stat(follow_symlinks=False)
                if entry.is_dir(follow_symlinks=False):
                    folders[path] = stat.S_IMODE(found.st_mode)
                    todo.append(path + "/")
                else:
                    files[path] = (found.st_ino, found.st_ctime_ns, found.st_size, found.st_mode)
    return files, folders


def _stamp(found: os.stat_result) -> _Stamp:
    return found.st_ino, found.st_ctime_ns, found.st_size, found.st_mode


def _same(base: Path, place: Path) -> bool:
    """True if a file is what the base has: somebody may have touched it and no more."""
    try:
        was, now = os.lstat(base), os.lstat(place)
        if stat.S_IFMT(was.st_mode) != stat.S_IFMT(now.st_mode):
            return False
        if stat.S_ISLNK(was.st_mode):
            return os.readlink(base) == os.readlink(place)
        return was.st_size == now.st_size and base.read_bytes() == place.read_bytes()
    except OSError:
        return False


def _make_folders(root: Path, path: str) -> None:
    """The folders of a path, open to whoever runs there."""
    folder = root
    for name in path.split("/")[:-1]:
        folder /= name
        if not folder.is_dir():
            folder.mkdir()
            folder.chmod(OPEN_FOLDER)
