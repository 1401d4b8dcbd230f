"""What the Python front is given, checked: whatever cannot be sent is a SearchError in one line."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Protocol, TypeAlias, runtime_checkable

from swarm_evo.errors import SearchError

CALL = 20.0
"""Seconds that one request may wait at the run; longer waits are several requests."""
KEPT = ".swarm-evo"
"""Folder of `project_dir` that keeps functions of the user as files, so that a run can be resumed."""
Ticket = Mapping[str, Any]
"""What `ask` gave: `ticket`, `prompt` {system, user}, `files`, `operator`, `parents`, `metric`, `limits`, `budget`."""
Files = Mapping[str, str | None]
"""Name → text; None deletes a file of a repository."""


@runtime_checkable
class HasFolder(Protocol):
    """A `Result`, a `Run`, what `open` gave."""

    @property
    def folder(self) -> Path | None: ...


StoredRun: TypeAlias = str | os.PathLike[str] | HasFolder
"""A run: its id or `latest`, its folder, or what this package gave for it."""


def checked_path(name: str, value: object) -> Path:
    """The whole path of what is given from the current folder."""
    if not isinstance(value, str | os.PathLike):
        raise SearchError(f"{name}={shown(value)}: a path is needed, as text or a pathlib.Path")
    try:
        return Path(value).resolve()
    except (OSError, TypeError, ValueError, RuntimeError) as error:  # the current folder is gone, links go round, a NUL
        raise SearchError(f"{name}={shown(value)}: {error}") from error


def located(run: StoredRun, project_dir: str | Path) -> tuple[str, Path]:
    """The run's id, and the project that it lies in: of a folder its own, whatever `project_dir` says. What is no
    `logs/<run>` is named by its path, and the command line says what it is."""
    if isinstance(run, str) and os.sep not in run:
        return run, checked_path("project_dir", project_dir)
    if not isinstance(run, str | os.PathLike | HasFolder):
        raise SearchError(
            f"run={shown(run)}: a run's id is needed, such as `result.run`, or 'latest'; or its folder, or a result"
        )
    folder = run if isinstance(run, str | os.PathLike) else run.folder
    if folder is None:
        raise SearchError(f"run={shown(run)}: it has not begun yet")
    path = checked_path("run", folder).parent / Path(folder).name  # the folder's own name, where it is a link
    path = path if path.exists() else checked_path("run", folder)
    if path.parent.name == "logs":
        return path.name, path.parent.parent
    return str(path), checked_path("project_dir", project_dir)


def located_together(runs: Iterable[StoredRun], project_dir: str | Path) -> tuple[list[str], Path]:
    """The ids of several, and the project that all of them lie in."""
    found = [located(run, project_dir) for run in runs]
    places = list(dict.fromkeys(place for _, place in found)) or [checked_path("project_dir", project_dir)]
    if len(places) > 1:
        raise SearchError(f"these runs lie in several projects: {', '.join(map(str, places))}")
    return [name for name, _ in found], places[0]


def ticket_name(ticket: Ticket | str) -> str:
    found = ticket.get("ticket") if isinstance(ticket, Mapping) else ticket
    if not isinstance(found, str):
        raise SearchError(f"ticket={shown(ticket)}: what `ask` returned, or the text of its `ticket`")
    return found


def program_request(code: str | None, files: Files | None) -> dict[str, Any]:
    """The program as a request holds it."""
    if (code is None) == (files is None):
        raise SearchError("hand in `code`, or `files` with the names of the ticket's `editable`: one of them")
    if files is None:
        if not isinstance(code, str):
            raise SearchError(f"code={shown(code)}: the program as text")
        return {"code": code}
    if not isinstance(files, Mapping):
        raise SearchError(f"files={shown(files)}: {{name: text}}")
    for name, text in files.items():
        if not (isinstance(name, str) and isinstance(text, str | None)):
            raise SearchError(f"files[{name!r}]={shown(text)}: {{name: text}}, or None for a file to delete")
    return {"files": dict(files)}


def end_of(seconds: float | None) -> float | None:
    """When a wait ends; None: never."""
    return None if seconds is None else time.monotonic() + checked_seconds("seconds", seconds)


def checked_seconds(name: str, value: float) -> float:
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    if not is_number or value < 0:
        raise SearchError(f"{name}={shown(value)}: a number of seconds from 0 on")
    return value


def seconds_left(end: float | None) -> float:
    """Seconds of one request."""
    return CALL if end is None else max(0.0, min(CALL, end - time.monotonic()))


def shown(value: object) -> str:
    """A wrong value, short and in one line, with its type."""
    return f"{' '.join(repr(value).split())[:60]} ({type(value).__name__})"
