"""What the machine, its limits or the user's places refuse, whoever asked: one line and an exit code."""

from __future__ import annotations

import errno
import os
import sys
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from utils.clean_text import one_line, visible
from utils.errors import DISK_FAULTS, ConfigError
from utils.room import NO_ROOM, NO_THREAD, NO_THREAD_ERROR, no_room

_PLACE = frozenset({errno.EACCES, errno.EPERM, errno.ELOOP, errno.ENAMETOOLONG, errno.ENOTDIR})
"""What only the place of a file of the user's can cause: rights, links that go round, a name that cannot be."""
_LOOP = "Symlink loop from "
"""Python's words in a RuntimeError, below 3.13, for links that go round."""


@dataclass(frozen=True, slots=True)
class MachineFault:
    """How a verb ends by it: `line` is for the user."""

    line: str
    code: int


def machine_fault(error: BaseException) -> MachineFault | None:
    """What an error of Python's says of the machine; None for any other, which is a fault of ours."""
    if isinstance(error, MemoryError):
        return MachineFault(no_room(errno.ENOMEM), 1)
    if isinstance(error, RuntimeError):
        return _of_runtime(str(error))
    if not isinstance(error, OSError):
        return None
    if error.errno in DISK_FAULTS:
        return MachineFault(f"{_place(error) or 'a file of the run'}: {error.strerror}", 1)
    if error.errno in _PLACE and error.filename:
        return MachineFault(f"{_place(error)}: {error.strerror}", 2)
    return MachineFault(no_room(error.errno), 1) if error.errno in NO_ROOM else None


def package_fault(error: ImportError, ours: Path) -> str:
    """Which installed package is missing or broken; '' where the modules below `ours` do not fit each other."""
    name = (error.name or _raised_in(error)).partition(".")[0]
    if not name or (ours / name).exists() or (ours / f"{name}.py").exists():
        return ""
    if isinstance(error, ModuleNotFoundError):
        return f"the package '{name}' is not installed for {sys.executable}"
    return f"the package '{name}' cannot be imported by {sys.executable}: {one_line(str(error))}"


def _raised_in(error: BaseException) -> str:
    """The module whose code raised it."""
    frames = [frame.f_globals.get("__name__", "") for frame, _ in traceback.walk_tb(error.__traceback__)]
    return str(frames[-1]) if frames else ""


def check_surroundings(words: Sequence[str]) -> None:
    """Raise ConfigError where nothing could be right: a folder that is gone, a path or a word that is no text."""
    try:
        here = os.getcwd()
    except OSError as error:
        raise ConfigError(f"the current folder cannot be found ({error.strerror}): cd to one that is there") from error
    set_here = [f"{name}={value}" for name, value in os.environ.items() if name.startswith("SWARM_EVO__")]
    for text in (here, *words, *set_here):
        try:
            text.encode()
        except UnicodeEncodeError as error:
            told, encoding = visible(text.encode(errors="backslashreplace").decode()), sys.getfilesystemencoding()
            remedy = "" if encoding == "utf-8" else "; PYTHONUTF8=1 has Python read them so"
            raise ConfigError(
                f"'{told}' is no text in {encoding}: names of folders and values are UTF-8{remedy}"
            ) from error


def _of_runtime(text: str) -> MachineFault | None:
    if text == NO_THREAD_ERROR:
        return MachineFault(NO_THREAD, 1)
    if text.startswith(_LOOP):
        return MachineFault(f"{visible(text.removeprefix(_LOOP).strip(chr(39)))}: {os.strerror(errno.ELOOP)}", 2)
    return None


def _place(error: OSError) -> str:
    return visible(os.fsdecode(error.filename)) if isinstance(error.filename, str | bytes) else ""
