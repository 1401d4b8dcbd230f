"""RunCatalog: which runs there are, which are alive, and a reader for each."""

from __future__ import annotations

import os
import threading
import weakref
from collections import OrderedDict
from contextlib import suppress
from pathlib import Path

from core.storage.database import DB_NAME, Database
from core.storage.held import LOCK, lock_holder
from core.storage.reader import RunReader
from core.storage.run_names import may_be_run, stays
from dashboard.server.schemas.runs import RunSummary
from reports.run_index import ListedRun, RunIndex, line_as_seen
from utils.errors import StoreError, UnknownRunError
from utils.missing_file import may_be_file

_OPEN_READERS = 24


class SummaryTexts:
    """The JSON text of each run of a list, made once until the run changes: of thousands, hardly any does."""

    def __init__(self) -> None:
        self._made: dict[str, tuple[ListedRun, bool, str]] = {}

    def of(self, listed: ListedRun, held: bool) -> str:
        """A run's `RunSummary`. `held`: a live process works on it."""
        kept = self._made.get(listed.line.run)
        if kept is None or kept[0] is not listed or kept[1] != held:
            line = line_as_seen(listed.line, held=held)
            row = RunSummary(**line.model_dump(), **listed.labels.model_dump(), live=held)
            kept = listed, held, row.model_dump_json()
            self._made[listed.line.run] = kept
        return kept[2]


class RunCatalog:
    """The runs below `<project_dir>/logs`. Thread-safe.

    A run is named by a client and found among the folders that are there: a name that is not one of them is unknown, so
    that no path ever comes from a client.
    """

    def __init__(self, project_dir: Path) -> None:
        self.project_dir = project_dir
        self.logs = project_dir / "logs"
        self._readers: OrderedDict[str, tuple[tuple[int, int], RunReader]] = OrderedDict()
        self._lock = threading.Lock()
        self.index = RunIndex(self.logs)
        self.texts = SummaryTexts()
        self._folders: dict[str, Path] = {}

    def folders(self) -> list[Path]:
        """The folders that hold a store, by name."""
        try:
            with os.scandir(self.logs) as entries:
                names = sorted(item.name for item in entries if may_be_run(item.name) and stays(item.path))
        except FileNotFoundError:
            return []
        except PermissionError as error:
            raise StoreError(f"'{self.logs}' cannot be read: {error.strerror}") from error
        logs, known = str(self.logs), self._folders
        found = [name for name in names if may_be_file(f"{logs}/{name}/{DB_NAME}")]
        self._folders = {name: known.get(name) or self.logs / name for name in found}  # a Path is slow to make
        return list(self._folders.values())

    def run_ids(self) -> list[str]:
        """Names of the folders that hold a store, sorted."""
        return [folder.name for folder in self.folders()]

    def run_dir(self, run: str) -> Path:
        """The folder of a run, or UnknownRunError."""
        if may_be_run(run):
            folder = self.logs / run
            if stays(str(folder)) and folder.is_dir() and may_be_file(folder / DB_NAME):
                return folder
        raise UnknownRunError(f"no run '{run[:128]}' in this project")

    def reader(self, run: str) -> RunReader:
        """A shared reader; opened again when the file was replaced. StoreError if it cannot be read."""
        folder = self.run_dir(run)
        try:
            state = (folder / DB_NAME).stat()
        except PermissionError as error:
            raise StoreError(f"run '{run}' cannot be read: {error.strerror}") from error
        except OSError as error:
            raise UnknownRunError(f"run '{run}' was removed") from error
        identity = (state.st_dev, state.st_ino)
        with self._lock:
            kept = self._readers.get(run)
            if kept and kept[0] == identity:
                self._readers.move_to_end(run)
                return kept[1]
            reader = RunReader(folder)
            # Put out of the catalog, it may still be in use by another thread: its last user closes it by letting go.
            weakref.finalize(reader, _close, reader.db).atexit = False
            self._readers[run] = (identity, reader)
            if len(self._readers) > _OPEN_READERS:
                self._readers.popitem(last=False)
            return reader

    def holder(self, run: str) -> int | None:
        """Process id of the process that holds the run, or None if nobody does."""
        return lock_holder(self.run_dir(run) / LOCK)

    def close(self) -> None:
        with self._lock:
            for _, reader in self._readers.values():
                _close(reader.db)  # a thread that still reads finishes first; what it asks then is a StoreError
            self._readers.clear()


def _close(db: Database) -> None:
    with suppress(StoreError):
        db.close()
