"""Runs of a sweep that began and were killed before their cell knew their name: found again by how they were begun."""

from __future__ import annotations

import fcntl
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event

from core.storage.held import is_held
from core.storage.reader import RunReader
from core.storage.unreadable import unreadable
from reports.sweeps.plan import Cell, Plan, note_of, was_begun
from reports.sweeps.plan import began_at as sweep_began_at
from runs.run_folder import FIRST, all_runs, began_at
from utils.errors import StoreError
from utils.file_utils import write_atomic

_LOOK = 0.2
"""Seconds between two looks whether a run lives."""
READY = "--ready="
"""The word by which a cell's run is told where to write its name; it is stored as the run begins."""


@contextmanager
def claimed(folder: Path, cell: Cell) -> Iterator[int]:
    """A descriptor: a run that inherits it holds its cell from its first moment on, also where its sweep is killed."""
    with _claim(folder, cell).open("ab") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:  # by a run that has a name: it is held, and says so itself
            yield file.fileno()
            return
        try:
            yield file.fileno()
        finally:
            _claim(folder, cell).unlink(missing_ok=True)


def await_names(plan: Plan, folder: Path) -> None:
    """Wait for runs that a killed sweep had just begun, and that live on: until each has said its name, or is gone."""
    for cell in plan.cells:
        while (lives := _is_claimed(folder, cell)) and not was_begun(folder, cell):
            time.sleep(0.05)
        if not lives:
            _claim(folder, cell).unlink(missing_ok=True)


def await_end(folder: Path, cell: Cell, run: Path, stop: Event) -> None:
    """Wait for a run that another process works on: its sweep was killed, or somebody resumed it.

    Raises:
        KeyboardInterrupt: `stop` was set meanwhile; the run goes on.
    """
    while is_held(run) or _is_claimed(folder, cell):
        if stop.wait(_LOOK):
            raise KeyboardInterrupt
    _claim(folder, cell).unlink(missing_ok=True)


def _claim(folder: Path, cell: Cell) -> Path:
    return note_of(folder, cell).with_suffix(".lock")


def _is_claimed(folder: Path, cell: Cell) -> bool:
    try:
        with _claim(folder, cell).open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except BlockingIOError:
        return True
    return False


def adopt(plan: Plan, folder: Path) -> None:
    """Note the runs of cells that have none, of several the newest.

    Runs from before the plan was written are of an earlier sweep of that name.
    """
    lacking = {note.name for cell in plan.cells if not was_begun(folder, cell) for note in [note_of(folder, cell)]}
    known = {note.read_text(encoding="utf-8").strip() for note in folder.glob("*.run")}
    written = sweep_began_at(folder) or FIRST
    later = [run for run in all_runs(folder.parents[2]) if (began_at(run) or FIRST) > written]
    for run in later:
        for note in lacking.intersection(_notes_of(run, folder)) if run.name not in known else ():
            write_atomic(folder / note, run.name)


def _notes_of(run: Path, folder: Path) -> Iterator[str]:
    """Names of the notes of this sweep that the run was to write: one, or none."""
    with suppress(StoreError), unreadable(run.name), RunReader(run) as reader:  # none of ours, or none yet
        words = list((reader.fact("origin") or {}).get("words") or ())
        notes = [Path(word.removeprefix(READY)) for word in words if word.startswith(READY)]
        yield from (note.name for note in notes if note.parts[-3:-1] == folder.parts[-2:])
