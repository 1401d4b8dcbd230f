"""Whose a folder's content is, where root worked on what is a user's."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path


def give_to_owner(folder: Path) -> None:
    """What root made in a user's folder becomes that user's, who could not go on with it. Nothing where we are no root,
    or the folder is root's or was removed.

    Files of several names and links stay: a user may put a name of another's file there.
    """
    with suppress(FileNotFoundError):
        if os.geteuid() or not (owner := os.lstat(folder)).st_uid:
            return
        for _, folders, files, place in os.fwalk(folder):
            for name in (*folders, *files):
                with suppress(OSError):  # it is gone, a link or a socket
                    _give(name, place, owner)


def _give(name: str, place: int, owner: os.stat_result) -> None:
    handle = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=place)
    try:
        found = os.fstat(handle)
        if not found.st_uid and (stat.S_ISDIR(found.st_mode) or (stat.S_ISREG(found.st_mode) and found.st_nlink == 1)):
            os.fchown(handle, owner.st_uid, owner.st_gid)
    finally:
        os.close(handle)
