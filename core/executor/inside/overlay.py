"""A tree of the host's below a workspace in memory: jobs see both as one, and what they write lies beside the tree.

A job costs what it changes, however large the tree is. What lies over the tree afterwards tells what was changed.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence

from . import kernel

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_OPEN_TO_ALL = 0o1777
"""Anybody may add a file to a folder, nobody may remove or rename another's."""
_MOST = 1000
_OPAQUE = ("trusted.overlay.opaque", "user.overlay.opaque")


class Overlay:
    """One base tree.

    Args:
        folder: of the host; its files belong to whoever made them, its folders are open as `_OPEN_TO_ALL` says.
    """

    def __init__(self, folder: str) -> None:
        self._lower = os.open(folder, _FOLDER)
        self.upper = -1
        """Descriptor of the folder that holds what was written."""

    def mount(self, spool: str) -> None:
        """Show tree and writings as `spool`, a file system in memory whose folder `work` takes the writings."""
        upper, inner = f"{spool}/work", f"{spool}/overlay"
        os.mkdir(inner, 0o700)
        os.chown(upper, os.getuid(), os.getgid())
        os.chmod(upper, _OPEN_TO_ALL)
        self.upper, work = os.open(upper, _FOLDER), os.open(inner, _FOLDER)
        folders = zip(("lowerdir", "upperdir", "workdir"), (self._lower, self.upper, work))  # noqa: B905 - Python 3.9
        # by descriptors: a comma in a folder's name would end it
        places = ",".join(f"{name}=/proc/self/fd/{fd}" for name, fd in folders)
        try:
            kernel.mount("overlay", spool, "overlay", _FLAGS, f"{places},redirect_dir=off,metacopy=off")
        except OSError:  # in a user namespace: attributes that anybody may write
            kernel.mount("overlay", spool, "overlay", _FLAGS, f"{places},userxattr")
        finally:
            os.close(work)

    def remove(self, root: str, paths: Sequence[str]) -> None:
        """Take paths of the tree out of the view; the tree itself stays as it is."""
        for path in paths:
            os.unlink(f"{root}/{path}")

    def open_up(self, root: str, paths: Sequence[str]) -> None:
        """Let the job write paths of the tree, in the view; what is not there is left out."""
        for path in paths:
            if os.path.isfile(f"{root}/{path}"):
                os.chmod(f"{root}/{path}", os.stat(f"{root}/{path}").st_mode & 0o777 | 0o666)

    def overlaid(self) -> list[str]:
        """Paths of the tree, at most a thousand, that something lies over: another file, or a mark that it is gone."""
        found: list[str] = []
        self._look(os.dup(self.upper), os.dup(self._lower), "", found)
        return sorted(found)

    def _look(self, upper: int, lower: int, prefix: str, found: list[str]) -> None:
        try:
            for name in sorted(os.listdir(upper)):
                if len(found) >= _MOST:
                    return
                below = _stat(name, lower)
                if below is None:
                    continue
                above = _stat(name, upper)
                folders = above is not None and stat.S_ISDIR(above.st_mode) and stat.S_ISDIR(below.st_mode)
                if not folders or above is None or above.st_mode != below.st_mode or _is_opaque(name, upper):
                    found.append(prefix + name)
                else:
                    inner = os.open(name, _FOLDER, dir_fd=upper), os.open(name, _FOLDER, dir_fd=lower)
                    self._look(*inner, f"{prefix}{name}/", found)
        finally:
            os.close(upper)
            os.close(lower)


_FLAGS = kernel.MS_NOSUID | kernel.MS_NODEV


def _stat(name: str, folder: int) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None


def _is_opaque(name: str, folder: int) -> bool:
    """True for a folder that hides the one below it."""
    path = f"/proc/self/fd/{folder}/{name}"
    for attribute in _OPAQUE:
        try:
            if os.getxattr(path, attribute) == b"y":
                return True
        except OSError:
            continue
    return False
