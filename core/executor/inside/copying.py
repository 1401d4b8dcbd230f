"""Copying a tree that an enemy wrote: no link is followed, holes stay holes, depth and bytes are bounded."""

from __future__ import annotations

import errno
import os
import stat

DEEPEST = 200
"""Folders within folders that anybody looks at: each takes a descriptor. No program needs as many."""
_DEPTH = 32
_CHUNK = 1 << 20
_OPEN_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_OPEN_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def copy_tree(source: int, target: int, *, budget: int, skip: frozenset[str] = frozenset(), depth: int = 0) -> int:
    """Copy folders and plain files between two open folders; return the bytes that are left of `budget`.

    Left out: links, fifos, sockets, devices, files with several names, other mounts, what lies deeper than 32 folders,
    files that do not fit the budget, and the names in `skip` (of the top folder).
    """
    device = os.fstat(source).st_dev
    for name in sorted(os.listdir(source)):
        if name in skip:
            continue
        try:
            found = os.stat(name, dir_fd=source, follow_symlinks=False)
            if stat.S_ISDIR(found.st_mode) and found.st_dev == device and depth < _DEPTH:
                budget = _copy_folder(source, target, name, budget, depth)
            elif stat.S_ISREG(found.st_mode) and found.st_nlink == 1 and found.st_blocks * 512 <= budget:
                budget -= _copy_file(source, target, name)
        except OSError:  # an unreadable or vanished entry is the writer's loss
            continue
    return budget


def _copy_folder(source: int, target: int, name: str, budget: int, depth: int) -> int:
    inner = os.open(name, _OPEN_FOLDER, dir_fd=source)
    try:
        try:
            os.mkdir(name, 0o755, dir_fd=target)
        except FileExistsError:
            pass
        outer = os.open(name, _OPEN_FOLDER, dir_fd=target)
        try:
            return copy_tree(inner, outer, budget=budget - 4096, depth=depth + 1)
        finally:
            os.close(outer)
    finally:
        os.close(inner)


def _copy_file(source: int, target: int, name: str) -> int:
    """Copy the data, not the holes; return the bytes written, at least 4096."""
    inner = os.open(name, _OPEN_FILE, dir_fd=source)
    try:
        found = os.fstat(inner)
        mode = 0o755 if found.st_mode & 0o100 else 0o644
        outer = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, mode, dir_fd=target)
        try:
            os.ftruncate(outer, found.st_size)
            return max(4096, _copy_data(inner, outer, found.st_size))
        finally:
            os.close(outer)
    finally:
        os.close(inner)


def _copy_data(inner: int, outer: int, size: int) -> int:
    written = position = 0
    while position < size:
        try:
            position = os.lseek(inner, position, os.SEEK_DATA)
        except OSError:  # only a hole is left
            break
        end = os.lseek(inner, position, os.SEEK_HOLE)
        while position < end:
            data = os.pread(inner, min(_CHUNK, end - position), position)
            if not data:
                return written
            written += os.pwrite(outer, data, position)
            position += len(data)
    return written


def give(folder: int, uid: int, *, skip: frozenset[str] = frozenset(), levels: int = DEEPEST) -> None:
    """Make all in an open folder somebody's: no link is followed and no other mount entered.

    What lies deeper than `levels` stays as it is: only candidates nest so deep, and it is one's own.

    Args:
        skip: names that are left out, of the top folder.
    """
    device = os.fstat(folder).st_dev
    for name in os.listdir(folder):
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
        if name in skip or found.st_dev != device:
            continue
        os.chown(name, uid, uid, dir_fd=folder, follow_symlinks=False)
        if stat.S_ISDIR(found.st_mode) and levels:
            inner = open_folder(name, folder)
            try:
                give(inner, uid, levels=levels - 1)
            finally:
                os.close(inner)


def clear_folder(folder: int, *, keep: frozenset[str] = frozenset()) -> None:
    """Remove everything in an open folder except the top names in `keep`, at any depth and whatever its modes.

    Iterative: a folder found inside is moved up to `folder` first, so that neither the stack nor the length of a path
    can overflow.
    """
    kept = set(keep)
    serial = 0
    while names := [name for name in os.listdir(folder) if name not in kept]:
        for name in names:
            try:
                if stat.S_ISDIR(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
                    serial = _lift_and_remove(folder, name, serial)
                else:
                    os.unlink(name, dir_fd=folder)
            except FileNotFoundError:
                continue
            except OSError:  # a mount point, or not ours to remove
                kept.add(name)


def _lift_and_remove(folder: int, name: str, serial: int) -> int:
    """Empty one folder: its files are removed, its folders moved up beside it; then remove it."""
    inner = _open_any_folder(folder, name)
    try:
        for entry in os.listdir(inner):
            try:
                os.unlink(entry, dir_fd=inner)
            except (IsADirectoryError, PermissionError):
                _open_and_close(inner, entry)
                serial = _lift(inner, entry, folder, serial)
    finally:
        os.close(inner)
    os.rmdir(name, dir_fd=folder)
    return serial


def _lift(inner: int, entry: str, folder: int, serial: int) -> int:
    """Move a folder up, to the first name after `serial` that is free: its writer may have some. Return its number."""
    while True:
        serial += 1
        try:
            os.rename(entry, f".lifted-{serial}", src_dir_fd=inner, dst_dir_fd=folder)
            return serial
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
                raise


def _open_and_close(folder: int, name: str) -> None:
    os.close(_open_any_folder(folder, name))


def open_folder(name: str, folder: int | None = None) -> int:
    """Open a path, or a sub-folder, to list it; one that was closed to us is opened again."""
    try:
        return os.open(name, _OPEN_FOLDER, dir_fd=folder)
    except PermissionError:
        return _open_any_folder(folder, name)


def _open_any_folder(folder: int | None, name: str) -> int:
    """Open a sub-folder to list and change it, giving its owner the rights back where they were taken."""
    handle = os.open(name, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    try:
        if os.fstat(handle).st_mode & 0o700 != 0o700:
            os.chmod(f"/proc/self/fd/{handle}", 0o700)
        return os.open(name, _OPEN_FOLDER, dir_fd=folder)
    finally:
        os.close(handle)
