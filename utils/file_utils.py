"""Files and folders: copy, link, replace. Plain standard library, the same on Linux and macOS."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

LFS_MARK = b"version https://git-lfs.github.com/spec/"
"""The first bytes of a Git-LFS pointer: a small text file that stands where the real one was not fetched."""


def copy_tree(source: Path, target: Path) -> None:
    """Copy a folder's content into `target` (made if absent). Links inside are followed, so the copy stands alone."""
    shutil.copytree(source, target, dirs_exist_ok=True, symlinks=False)


def link_or_copy(source: Path, target: Path) -> bool:
    """Make `target` show `source`: a symbolic link, or a copy where links are not allowed. True if it is a link."""
    if not source.exists():
        raise FileNotFoundError(f"'{source}' does not exist")
    target.parent.mkdir(parents=True, exist_ok=True)
    remove(target)
    try:
        target.symlink_to(source.resolve(), target_is_directory=source.is_dir())
        return True
    except OSError:
        if source.is_dir():
            copy_tree(source, target)
        else:
            shutil.copy2(source, target)
        return False


def remove(path: Path) -> None:
    """Remove a file, a link (never what it points at) or a whole folder; nothing happens if there is none."""
    if path.is_symlink() or path.is_file():
        path.unlink(missing_ok=True)
    elif path.is_dir():
        shutil.rmtree(path)


def write_atomic(path: Path, text: str | bytes) -> None:
    """Write a file so that a reader sees the old content or the new, never a part. Text is written as UTF-8."""
    with staged(path) as new:
        new.write_bytes(text if isinstance(text, bytes) else text.encode())


@contextmanager
def staged(path: Path) -> Iterator[Path]:
    """A new file of its own beside `path`, which takes its place in one step when the block ends without an exception.

    Writers that come at the same time do not meet: the last one's file is whole.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    os.close(handle)
    new = Path(name)
    try:
        new.chmod(0o644)
        yield new
        new.replace(path)
    except BaseException:
        new.unlink(missing_ok=True)
        raise


@contextmanager
def in_place_of(path: Path) -> Iterator[Path]:
    """Where to write a file that the user named: beside it, and it takes its place when the block ends without an
    exception, so that a full disk or a kill leaves what was there.

    It is the user's file: what a link leads to is replaced and not the link, and rights stay. What is no file (a pipe,
    a device), may not be written, or lies where nothing can be made beside it is written as it is.
    """
    place = Path(os.path.realpath(path))
    there = _status(place)
    new = place.with_name(f".{os.getpid()}-{os.urandom(4).hex()}.partial")
    if not (_gives_way(path, place, there) and _is_made(new)):
        yield path
        return
    try:
        yield new
        if there is not None:
            with suppress(OSError):
                os.chown(new, there.st_uid, there.st_gid)
            new.chmod(stat.S_IMODE(there.st_mode) | (new.stat().st_mode & 0o111))
        _put(new, place)
    except BaseException:
        new.unlink(missing_ok=True)
        raise


def _status(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except FileNotFoundError:
        return None


def _gives_way(path: Path, place: Path, there: os.stat_result | None) -> bool:
    """False for what another file cannot stand for: `/dev/stdout` is what somebody has open, and a file of another
    user's would become ours."""
    if path.absolute().parts[1:2] in (("dev",), ("proc",)):
        return False
    if there is None:
        return True
    return stat.S_ISREG(there.st_mode) and os.access(place, os.W_OK) and os.geteuid() in (0, there.st_uid)


def _is_made(new: Path) -> bool:
    """False in a folder where this user may change files and make none."""
    try:
        os.close(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666))
    except PermissionError:
        return False
    return True


def _put(new: Path, place: Path) -> None:
    try:
        new.replace(place)
    except OSError as error:
        if error.errno != errno.EBUSY:
            raise
        shutil.copyfile(new, place)  # a file that is mounted by itself, as containers have them
        new.unlink()


def move_into_place(made: Path, target: Path) -> bool:
    """Rename a finished folder to `target`. False, and `made` is removed, if somebody else was first."""
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.rename(made, target)
        return True
    except OSError:
        if not target.is_dir():
            raise
        shutil.rmtree(made, ignore_errors=True)
        return False


@contextmanager
def folder_for(target: Path) -> Iterator[Path]:
    """A new folder of its own beside `target`, to be filled and then moved there (`move_into_place`); else it goes at
    the end. What killed processes left of such folders goes first.

    It is locked while it is made, and a kernel lets go of a lock when its process dies: two processes have the same id
    where each is in a container of its own, and a thread's is its process's.
    """
    place = target.parent
    place.mkdir(parents=True, exist_ok=True)
    _remove_left(place)
    new = Path(tempfile.mkdtemp(dir=place, prefix="making-"))
    made = place / f".{target.name}.{new.name}"
    lock = os.open(new, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with suppress(OSError):  # where the disk knows no locks, nobody ever takes it for left
            fcntl.flock(lock, fcntl.LOCK_EX)
        new.rename(made)  # nobody ever sees it without its lock
        yield made
    finally:
        for path in (new, made):
            remove(path)
        os.close(lock)


def _remove_left(place: Path) -> None:
    for path in place.glob(".*.*"):
        with suppress(OSError):
            if path.is_dir() and not path.is_symlink() and _is_left(path):
                shutil.rmtree(path, ignore_errors=True)


def _is_left(folder: Path) -> bool:
    """True if the process that locked it is gone."""
    lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(lock)
    return True


def read_json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def is_lfs_pointer(path: Path) -> bool:
    """True if the file is a Git-LFS pointer, not the data it stands for."""
    try:
        with path.open("rb") as file:
            return file.read(len(LFS_MARK)) == LFS_MARK
    except OSError:
        return False


def files_below(folder: Path) -> Iterator[Path]:
    """Regular files below a folder, sorted by path; links to folders are not entered."""
    for root, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = Path(root, name)
            if path.is_file():
                yield path


def used_now(folder: Path) -> None:
    """Leave the time on a folder that is made once and used again: what nobody used for long may go."""
    with suppress(OSError):  # another user's, or on a disk that is only read
        os.utime(folder)


def size_text(count: int) -> str:
    """Bytes for people: 1.4 MB."""
    size = float(count)
    for unit in ("B", "KB", "MB", "GB"):
        if size < 1000 or unit == "GB":
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} GB"
