"""Runs of a sweep that began and were killed before their cell knew their name: found again by how they were begun."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from core.storage.reader import RunReader
from core.storage.unreadable import unreadable
from reports.sweeps.plan import PLAN, Plan, note_of, was_begun
from runs.run_folder import all_runs, began_at
from utils.errors import StoreError
from utils.file_utils import write_atomic

READY = "--ready="
"""The word by which a cell's run is told where to write its name; it is stored as the run begins."""


def adopt(plan: Plan, folder: Path) -> None:
    """Note the runs of cells that have none, of several the newest.

    Runs from before the plan was written are of an earlier sweep of that name.
    """
    lacking = {note.name for cell in plan.cells if not was_begun(folder, cell) for note in [note_of(folder, cell)]}
    known = {note.read_text(encoding="utf-8").strip() for note in folder.glob("*.run")}
    written = datetime.fromtimestamp((folder / PLAN).stat().st_mtime).astimezone()
    later = [run for run in all_runs(folder.parents[2]) if (began := began_at(run)) is not None and began >= written]
    for run in later:
        for note in lacking.intersection(_notes_of(run, folder)) if run.name not in known else ():
            write_atomic(folder / note, run.name)


def _notes_of(run: Path, folder: Path) -> Iterator[str]:
    """Names of the notes of this sweep that the run was to write: one, or none."""
    with suppress(StoreError), unreadable(run.name), RunReader(run) as reader:  # none of ours, or none yet
        words = list((reader.fact("origin") or {}).get("words") or ())
        notes = [Path(word.removeprefix(READY)) for word in words if word.startswith(READY)]
        yield from (note.name for note in notes if note.parts[-3:-1] == folder.parts[-2:])
