"""Functions and tables that are in a process alone, as files below `.swarm-evo/` for the runs that need them.

Each content lies there once. A file stays while a run or a sweep names it, and while a call that hands it over holds
its folder; what neither does is removed with the run that needed it, or when the next one is kept.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import secrets
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from swarm_evo.arguments import KEPT
from swarm_evo.errors import SearchError

_NAMED = re.compile(rf"{re.escape(KEPT)}/([0-9a-f]{{16}})/")
_OURS = re.compile(r"\.?[0-9a-f]{16}")
"""Folders with files that are whole, and that are being written."""
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_TRIES = 100
_MOST_BYTES = 1 << 24
"""Of a run's settings."""


class KeptFiles:
    """What one call keeps, held until its run names it: `let_go` then, and `drop` at the call's end."""

    def __init__(self, project_dir: Path) -> None:
        self.project_dir = project_dir
        self._held: list[int] = []
        self._has_kept = False

    def keep(self, content: bytes, name: str) -> Path:
        """A file with that content. SearchError where none can be kept."""
        return self.keep_written(name, lambda path: path.write_bytes(content))

    def keep_written(self, name: str, write: Callable[[Path], object]) -> Path:
        """A file with what `write` writes to the path that it is given: a table need not be in memory twice."""
        place = self.project_dir / KEPT
        self._has_kept = True
        try:
            with _held(place / f".{secrets.token_hex(8)}") as (unfinished, _):
                new = unfinished / name
                try:
                    write(new)
                    folder, descriptor = _hold(place / _digest(new))
                    self._held.append(descriptor)
                    path = folder / name
                    is_known = path.is_file()
                    new.replace(path)  # another run may be reading it
                finally:
                    shutil.rmtree(unfinished, ignore_errors=True)
        except (OSError, UnicodeError) as error:
            with suppress(OSError):
                place.rmdir()
            told = f"project_dir={str(self.project_dir)!r}: {name} cannot be kept there: {error}"
            raise SearchError(told) from error
        if not is_known:
            remove_unneeded(self.project_dir)
        return path

    def let_go(self) -> None:
        """The run names them now."""
        held, self._held = self._held, []
        for descriptor in held:
            os.close(descriptor)

    @contextmanager
    def dropped_on_error(self) -> Iterator[None]:
        """Around what leads to a run."""
        try:
            yield
        except BaseException:
            self.drop()
            raise

    def drop(self) -> None:
        """The call has ended: what no run names is not needed any more."""
        self.let_go()
        if self._has_kept:
            remove_unneeded(self.project_dir)


class KeptSize(NamedTuple):
    """What lies in a project's `.swarm-evo/`."""

    files: int
    bytes: int


def kept_size(project_dir: Path) -> KeptSize:
    """Files and bytes; what cannot be read counts nothing."""
    found = []
    for folder, _, names in os.walk(project_dir / KEPT):
        for name in names:
            with suppress(OSError):
                found.append(os.lstat(os.path.join(folder, name)).st_size)
    return KeptSize(len(found), sum(found))


def remove_unneeded(project_dir: Path) -> list[str]:
    """Remove what no run and no sweep of the project names and no call holds; gives it as `HASH/NAME`.

    Held first and looked for then: whoever let go of a file has a run that names it. Nothing is removed where a run
    cannot tell what it needs, and nothing through a link: in a stranger's project it leads to any folder of the user's.
    """
    place, gone = project_dir / KEPT, []
    if place.is_symlink():
        return []
    with ExitStack() as held:
        ours = []
        for name in filter(_OURS.fullmatch, _names(place)):
            with suppress(OSError):
                held.enter_context(_held(place / name, fcntl.LOCK_EX | fcntl.LOCK_NB))
                ours.append(name)
        needed = _needed(project_dir / "logs") if ours else None
        for name in ours:
            if needed is not None and name not in needed:
                gone += [f"{name}/{file}" for file in _names(place / name)]
                shutil.rmtree(place / name, ignore_errors=True)
    with suppress(OSError):
        place.rmdir()
    return gone


def _needed(logs: Path) -> set[str] | None:
    """Names of folders that runs and sweeps name; None where one cannot be read."""
    found: set[str] = set()
    try:
        runs = [run for run in _names(logs) if os.path.exists(logs / run / "run.db")]
        files = [logs / run / "config.yaml" for run in runs]
        files += [logs / "sweeps" / name / "plan.json" for name in _names(logs / "sweeps")]
        for file in files:
            if file.name != "plan.json" or os.path.lexists(file):
                found.update(_NAMED.findall(_text(file)))
    except OSError:
        return None
    return found


def _text(file: Path) -> str:
    """Of a run that may be a stranger's: no link is followed, no pipe waited for."""
    with open(os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as opened:
        if not stat.S_ISREG(os.fstat(opened.fileno()).st_mode):
            raise OSError(f"{file}: no file")
        text = opened.read(_MOST_BYTES + 1)
    if len(text) > _MOST_BYTES:
        raise OSError(f"{file}: too long")
    return text.decode("utf-8", "replace")


def _names(folder: Path) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except (FileNotFoundError, NotADirectoryError):
        return []


def _digest(file: Path) -> str:
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()[:16]


@contextmanager
def _held(folder: Path, how: int = fcntl.LOCK_SH) -> Iterator[tuple[Path, int]]:
    found = _hold(folder) if how == fcntl.LOCK_SH else (folder, _locked(folder, how))
    try:
        yield found
    finally:
        os.close(found[1])


def _hold(folder: Path) -> tuple[Path, int]:
    """The folder, made where it is not there, and the descriptor that holds it."""
    for _ in range(_TRIES):
        with suppress(FileNotFoundError, FileExistsError):  # it is removed meanwhile, as nobody needed it
            folder.mkdir(parents=True, exist_ok=True)
            descriptor = _locked(folder, fcntl.LOCK_SH)
            with suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(descriptor), os.stat(folder)):
                    return folder, descriptor
            os.close(descriptor)
    folder.mkdir(parents=True)  # says why
    raise OSError(f"'{folder}' is removed again and again")


def _locked(folder: Path, how: int) -> int:
    descriptor = os.open(folder, _FOLDER)
    try:
        fcntl.flock(descriptor, how)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor
