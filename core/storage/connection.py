"""A connection to a store's file, and why there may be none: SQLite itself says little of it."""

from __future__ import annotations

import errno
import os
import resource
import sqlite3
import stat
from contextlib import closing, suppress
from pathlib import Path

from utils.errors import StoreError, UnknownRunError

BUSY_SECONDS = float(os.environ.get("SWARM_EVO_BUSY_SECONDS") or 30.0)
"""How long a write waits for another process that holds the file locked; then it is a LockedStoreError."""
AGAIN_SECONDS = 1.0
"""The same, at most, of those that come after one that waited in vain, until one is stored: each thread with something
to write, and what a run's end has to say, would wait as long once more."""
AS_IT_LIES = "ro&immutable=1"
"""Mode of a connection that looks at no file beside the store."""
_OF_THE_MACHINE = frozenset(
    {
        sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_FULL,
    }
)  # fmt: skip
_INDEX_BYTES = 1 << 15
_FILES_OF_A_STORE = 6
"""Open at once: two connections, each with a log and an index."""
_FILES_OF_A_START = 48
"""A start of a run has no more open at once."""


def connect(place: str, seconds: float | None = None) -> sqlite3.Connection:
    """By a `file:` address with its mode, or `:memory:`. Transactions are begun and ended by who asks.

    Args:
        seconds: to wait for another process that holds the file locked; None: `BUSY_SECONDS`.
    """
    wait = BUSY_SECONDS if seconds is None else seconds
    return sqlite3.connect(place, uri=True, check_same_thread=False, timeout=wait, isolation_level=None)


def reading(path: Path, seconds: float | None = None) -> sqlite3.Connection:
    """A connection to a store's file for whoever only looks at it. `seconds`: as for `connect`."""
    mode = AS_IT_LIES if _is_archived(path) else "ro"
    return connect(f"file:{quoted_path(path)}?mode={mode}", seconds)


def _is_archived(path: Path) -> bool:
    """True where nobody can be writing: a closed store in a folder that we cannot write, as on a read-only disk.

    SQLite would refuse it, since a reader of a WAL file makes an index beside it.
    """
    return not os.access(path.parent, os.W_OK) and not path.with_name(path.name + "-wal").exists()


def is_of_the_machine(error: BaseException) -> bool:
    """True for what SQLite meets around a file, and not in it: it says nothing of what is stored."""
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_OK) & 0xFF in _OF_THE_MACHINE


def wait_for_others(connection: sqlite3.Connection, *, again: bool) -> None:
    """Have its writes wait `BUSY_SECONDS` for other processes; `again`: no longer than `AGAIN_SECONDS`."""
    seconds = min(BUSY_SECONDS, AGAIN_SECONDS) if again else BUSY_SECONDS
    connection.execute(f"PRAGMA busy_timeout={round(seconds * 1000)}")


def copied(connection: sqlite3.Connection) -> sqlite3.Connection:
    """The store in memory, for a reader of an older version: the file stays as it is."""
    copy = connect(":memory:")
    with closing(connection):
        connection.backup(copy)
    return copy


def version_of(connection: sqlite3.Connection) -> int:
    """The schema of a file; 0 where none was made yet."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def quoted_path(path: Path) -> str:
    """For a `file:` address."""
    from urllib.parse import quote

    return quote(str(path.resolve()))


def check_readable(path: Path) -> None:
    """SQLite only says that it cannot open the file; this says why.

    The file is not opened for it: to close it again would let go of the locks that this process has on it.
    """
    try:
        is_file = stat.S_ISREG(path.stat().st_mode)
    except PermissionError as error:
        raise StoreError(f"store '{path}' cannot be read: {error.strerror}") from error
    except OSError as error:
        raise StoreError(f"no store at '{path}'") from error
    if not is_file:
        raise StoreError(f"no store at '{path}'")
    if not os.access(path, os.R_OK):
        raise StoreError(f"store '{path}' cannot be read: {os.strerror(errno.EACCES)}")


def lacking_room(folder: Path) -> str:
    """That this process may open too few files for a store, which SQLite does not say; '' where it may.

    Where it may open hardly any that is believed of a folder that can be read, too: what other threads of a
    start had open for a moment may be closed by now.
    """
    most, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    few = most < _FILES_OF_A_START and os.access(folder, os.R_OK | os.X_OK)
    try:
        left = most - len(os.listdir("/proc/self/fd"))
    except OSError as error:  # whoever may open no more cannot list them either; no /proc says nothing of room
        return f": [Errno {error.errno}] {error.strerror}" if error.errno in (errno.EMFILE, errno.ENFILE) else ""
    return f": [Errno {errno.EMFILE}] {os.strerror(errno.EMFILE)}" if few or left < _FILES_OF_A_STORE else ""


def why_no_write(path: Path) -> str:
    """What SQLite calls no more than "disk I/O error": no room for the index of a store's log, or a limit of the
    session's that one of its files has come to; '' where it is neither.
    """
    with suppress(OSError):
        found = os.statvfs(path.parent)
        if found.f_bavail * found.f_frsize < _INDEX_BYTES:
            return ": the disk is full"
        most, _ = resource.getrlimit(resource.RLIMIT_FSIZE)
        sizes = (os.stat(name).st_size for name in (path, f"{path}-wal") if os.path.exists(name))
        if most != resource.RLIM_INFINITY and max(sizes, default=0) + _INDEX_BYTES > most:
            return f": files may grow to {most:,} bytes here (ulimit -f)"
    return ""


def is_on_read_only_disk(path: Path) -> bool:
    """True also of a disk that was written to a moment ago: a system mounts one anew so where it finds faults."""
    with suppress(OSError):
        return bool(os.statvfs(path.parent).f_flag & os.ST_RDONLY)
    return False


def no_run(path: Path) -> UnknownRunError:
    """For a store in which nothing stands yet."""
    why = "it has not begun yet, was killed before it began, or is none of ours"
    return UnknownRunError(f"'{path}' holds no run: {why}")


def is_unmade(path: Path, error: sqlite3.Error) -> bool:
    """Whether a reader was refused because whoever made the store was killed while nothing stood in it yet.

    What was begun would have to be taken back first. That is not for a reader: a stranger's journal may name any file.
    """
    if getattr(error, "sqlite_errorcode", sqlite3.SQLITE_OK) & 0xFF != sqlite3.SQLITE_READONLY:
        return False
    with closing(connect(f"file:{quoted_path(path)}?mode={AS_IT_LIES}")) as connection:
        return not version_of(connection)
