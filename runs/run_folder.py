"""Runs as folders: `logs/<run>`, their names, their lock, the list of them."""

from __future__ import annotations

import errno
import fcntl
import os
import re
import stat
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryFile
from typing import BinaryIO

from core.storage.held import LOCK
from core.storage.labels import labels_of
from core.storage.run_names import ALLOWED, may_be_run, stays
from utils.clean_text import one_line
from utils.errors import ConfigError, RunBusyError, RunReadOnlyError, StoreError, UnknownRunError, unwritable
from utils.folder_entries import entries
from utils.folder_owner import give_to_owner
from utils.missing_file import may_be_file
from utils.program import command
from utils.regular_files import read_regular, regular_handle

DB = "run.db"
LOGS = "logs"
"""Where the runs of a project lie."""
STARTED = "started"
"""In a run's folder: when it was made by the clock, and where that had been set back, on a second line a moment that
is later than any run's before it."""
FIRST = datetime.min.replace(tzinfo=UTC)
"""Before all that began."""
_NO_CLOCK_TELLS = datetime(2200, 1, 1, tzinfo=UTC)
"""A mark from then on is a stranger's."""
MOST_OF_A_PREFIX = 100
"""Characters of a run's name before its time and number."""
_YOUNG = 60.0
"""Seconds in which a run that begins has taken its lock."""
LOCK_ATTEMPTS = 15
"""Tries over about 0.3 s."""


def logs_dir(project_dir: str | Path) -> Path:
    return Path(project_dir).resolve() / LOGS


def check_place(project_dir: str | Path) -> None:
    """ConfigError where nothing can be kept: told before data are prepared, and nothing is made."""
    folder = logs_dir(project_dir)
    place = folder
    try:
        place = next(path for path in (folder, *folder.parents) if path.exists())
        with TemporaryFile(dir=place):
            pass
    except OSError as error:
        which = "" if place == folder.parent else f"'{place}' "
        raise ConfigError(f"project.dir={project_dir}: {which}cannot be written ({error.strerror})") from error


def all_runs(project_dir: str | Path) -> list[Path]:
    """Folders of runs, oldest first."""
    folder = logs_dir(project_dir)
    found: list[tuple[int, str]] = []
    for name in filter(may_be_run, _names(folder)):
        with suppress(OSError):  # no store in it, or removed while we looked
            if stays(f"{folder}/{name}") and may_be_file(f"{folder}/{name}/{DB}"):
                found.append((_changed(folder / name), name))
    return [folder / name for _, name in sorted(found)]


def left_out(project_dir: str | Path) -> dict[str, str]:
    """Name → why a folder with a store is no run: a file manager's copy is called `X (copy)`, which no command could
    take; a link leads to a folder of another name."""
    folder = logs_dir(project_dir)
    told = {
        name: why for name in sorted(_names(folder)) if not name.startswith(".") and (why := _why_none(folder, name))
    }
    return {name: why for name, why in told.items() if may_be_file(f"{folder}/{name}/{DB}")}


def _why_none(folder: Path, name: str) -> str:
    if not may_be_run(name):
        return f"run '{one_line(name, 200)}' is left out: {ALLOWED}; rename its folder"
    if stays(f"{folder}/{name}"):
        return ""
    there = one_line(os.path.basename(os.path.realpath(folder / name)), 200)
    return (
        f"run '{name}' is left out: it is a link to a folder called '{there}', and a run is followed only to one of "
        "its name; rename the folder that it leads to, and the link to it"
    )


def _names(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)
    except (FileNotFoundError, NotADirectoryError):
        return []
    except PermissionError as error:
        raise ConfigError(f"'{folder}' cannot be read: {error.strerror}") from error


def _changed(run: Path) -> int:
    """When the store changed; the run's folder, where nobody may look into it."""
    try:
        return os.stat(run / DB).st_ctime_ns
    except PermissionError:
        return os.stat(run).st_ctime_ns


def find_run(project_dir: str | Path, name: str) -> Path:
    """The folder of run `name`; `latest` is the one started last of those that were not put away.

    Raises:
        UnknownRunError: there is none, with what there is. StoreError: this user may not read it.
    """
    folder = logs_dir(project_dir)
    if name == "latest":
        runs = [path for path in sorted(all_runs(project_dir), key=_started) if not labels_of(path).archived]
        if not runs:
            start = f"start one with `{command(str(project_dir))}`"
            raise UnknownRunError(f"run 'latest': no runs in '{folder}'{runs_above(project_dir)}; {start}")
        return _readable(runs[-1])
    may_be = may_be_run(name) and stays(f"{folder}/{name}")
    if may_be and os.path.isdir(folder / name) and may_be_file(folder / name / DB):
        return _readable(folder / name)
    if why := left_out(project_dir).get(name):
        raise UnknownRunError(why)
    known = [path.name for path in all_runs(project_dir)][-5:]
    where = _elsewhere(name, folder) or f"the newest are: {', '.join(known) or 'none'}"
    raise UnknownRunError(f"unknown run '{name}' in '{folder}'; {where}")


def runs_above(project_dir: str | Path) -> str:
    """What to say to who stands inside of a project, and not at its top; '' where no folder above has runs of his."""
    for above in Path(project_dir).resolve().parents:
        with suppress(OSError):
            if (above / LOGS).stat().st_uid == os.geteuid() and all_runs(above):
                return f" (there are some in '{above}')"
    return ""


def _elsewhere(name: str, folder: Path) -> str:
    """What to say where `name` is the path of a run's folder, and runs are named; '' where it is none."""
    run = Path(os.path.abspath(name))
    if os.sep not in name or not may_be_file(run / DB):
        return ""
    if run.parent.name == LOGS and run.parent != folder:
        return f"a run is named, not its path: {run.name} --project.dir={run.parent.parent}"
    return f"a run is named, not its path: {run.name}" + (
        "" if run.parent == folder else f", once it lies in '{folder}'"
    )


def _readable(run: Path) -> Path:
    """The run's folder. StoreError where this user may not read what is in it: that is no fault of the run's."""
    for path in (run, run / DB):
        if not os.access(path, os.R_OK):
            raise StoreError(f"run '{run.name}' cannot be read: {os.strerror(errno.EACCES)}: '{path}'")
    return run


def _started(run: Path) -> tuple[datetime, str]:
    """Its place among the runs in the order of their beginning."""
    return began_at(run) or FIRST, run.name


def began_at(run: Path) -> datetime | None:
    """When the run's folder was made, in the order of `later_than_all`; None where its mark is missing or not ours."""
    try:
        told = datetime.fromisoformat(read_regular(run / STARTED, 100).split()[-1]).astimezone(UTC)
    except (OSError, ValueError, IndexError, OverflowError):
        return None
    return told if told < _NO_CLOCK_TELLS else None


def later_than_all(project_dir: str | Path, now: datetime) -> datetime:
    """Now, and behind the beginning of every run and sweep, also where the clock was set back since one began."""
    from reports.sweeps.plan import began_at as sweep_began_at  # these load the store, and most ask for a name alone
    from reports.sweeps.plan import sweeps_of

    folder = logs_dir(project_dir)
    runs = (began_at(folder / name) for name in _names(folder) if may_be_run(name))
    began = [*runs, *map(sweep_began_at, sweeps_of(folder))]
    known = [one for one in began if one is not None and one < _NO_CLOCK_TELLS]
    return max([now, *(one + timedelta(microseconds=1) for one in known)])


def new_run(project_dir: str | Path, prefix: str, now: datetime, *, hidden: bool = False) -> Path:
    """Make `logs/<prefix>-<time>`; a number is added where that is taken.

    Args:
        hidden: no list has it and no command finds it: it is removed at its end.
    """
    folder = logs_dir(project_dir)
    slug = re.sub(r"[^A-Za-z0-9_]+", "-", prefix).strip("-")[:MOST_OF_A_PREFIX] or "run"
    base = f"{'.' * hidden}{slug}-{now:%Y%m%d-%H%M%S}"
    for number in range(1, 1000):
        path = folder / (base if number == 1 else f"{base}-{number}")
        try:
            path.mkdir(parents=True)
        except FileExistsError:
            continue
        try:
            place = later_than_all(project_dir, now).isoformat()
            (path / STARTED).write_text(f"{now.isoformat()}\n{place}" if place != now.isoformat() else place)
        except OSError:
            rmtree(path, ignore_errors=True)
            raise
        return path
    raise UnknownRunError(f"cannot make a folder for a run in '{folder}'")


def left_hidden(project_dir: str | Path, prefix: str) -> Iterator[Path]:
    """Hidden runs of that prefix whose processes were killed, held while they are asked for; one that is just beginning
    is young. A user may hide a run of his own so: whoever removes one looks what it is.
    """
    folder = logs_dir(project_dir)
    for name in _names(folder):
        with suppress(OSError, StoreError), ExitStack() as held:
            if name.startswith(f".{prefix}-") and time.time() - os.stat(folder / name / STARTED).st_mtime > _YOUNG:
                held.enter_context(hold(folder / name, writes=False))
                yield folder / name


def _lock(file: BinaryIO) -> None:
    """Take the lock; a viewer that looks whether the run is held has it for a moment, so look again for a while."""
    for attempt in range(LOCK_ATTEMPTS):
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if attempt == LOCK_ATTEMPTS - 1:
                raise
            time.sleep(0.02)


def _lies_at(file: BinaryIO, path: Path) -> bool:
    """True if the open file is the one that others find there."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), os.stat(path))
    except OSError:
        return False


def check_own(run: Path) -> None:
    """StoreError where what is written into the run's folder would go elsewhere: a link in a stranger's leads to any
    file of the user's, and what lies behind it would become a program that the stranger chose.

    Runs make neither links nor pipes there, but for the socket at which tickets are asked for.
    """
    for entry in entries(run):
        mode = entry.status.st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISSOCK(mode)):
            what = "a link" if stat.S_ISLNK(mode) else "no file"
            raise StoreError(f"run '{run.name}': {run / entry.path} is {what}, and no run makes such: remove it first")


@contextmanager
def hold(run: Path, *, writes: bool = True) -> Iterator[None]:
    """Hold the run while working on it; the kernel lets go when the process dies.

    Args:
        writes: False for who removes it.
    Raises:
        RunBusyError: another live process holds it. RunReadOnlyError, StoreError: the folder cannot be written or
            locked, or leads elsewhere. UnknownRunError: it was removed while its lock was waited for.
    """
    if writes:
        check_own(run)
    try:
        if (run / LOCK).is_symlink():
            (run / LOCK).unlink()
        lock = open(regular_handle(run / LOCK, os.O_RDWR | os.O_CREAT | os.O_APPEND), "a+b")  # noqa: SIM115
    except OSError as error:
        raise unwritable(f"run '{run.name}' can be read, not written: '{run}'", error) from error
    with lock as file:
        try:
            _lock(file)
        except BlockingIOError as error:
            file.seek(0)
            owner = file.read(20).decode("ascii", "replace").strip() or "unknown"
            raise RunBusyError(f"run '{run.name}' is held by another process (pid {owner}); stop it first") from error
        except OSError as error:
            raise RunReadOnlyError(
                f"run '{run.name}': '{run}' lies where nothing can be locked ({error.strerror}); put it on another disk"
                " (project.dir=FOLDER)"
            ) from error
        if not _lies_at(file, run / LOCK):  # what was begun there now would be a run of nothing
            raise UnknownRunError(f"run '{run.name}' was removed")
        file.truncate(0)
        file.write(str(os.getpid()).encode())
        file.flush()
        try:
            yield
        finally:
            if writes:
                give_to_owner(run)
