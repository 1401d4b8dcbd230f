"""Hashes of the files that a run leaves beside its store, kept as a fact, so that the chain vouches for them too."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

from core.storage.migrations import SCHEMA_VERSION
from core.storage.reader import RunReader
from core.storage.repository import RunStore
from runs.run_folder import hold
from utils.errors import RunBusyError

FILES = "files"
"""Fact: `{seq, hashes}`: the newest event at that moment; path below the run's folder → SHA-256 of the file."""
BEST = "best_solution"
"""Folder of the winner as a standalone solution."""


KEPT = "files"
"""Folder of what nodes left behind that an export takes, a folder a node."""
METRICS = ("metrics.json", "metrics.csv")
REPORT = "report.html"
_TOP = ("config.yaml", *METRICS, REPORT, "evolution.png", "failures.png")


def hashes_of(run_dir: Path) -> dict[str, str]:
    """Path → SHA-256 of every file that a run leaves for others. What is no regular file is named, too."""
    below = sorted(path for folder in (BEST, KEPT) for path in (run_dir / folder).rglob("*"))
    files = [path for path in (*(run_dir / name for name in _TOP), *below) if path.is_symlink() or path.is_file()]
    return {path.relative_to(run_dir).as_posix(): file_hash(path) for path in files}


def file_hash(path: Path) -> str:
    """SHA-256 in hex; `link` for a symbolic link, whose target is not ours to vouch for."""
    return "link" if path.is_symlink() else sha256(path.read_bytes()).hexdigest()


def record_files(store: RunStore) -> None:
    """Keep the hashes of what lies there now."""
    store.put_fact(FILES, {"seq": store.seq, "hashes": hashes_of(store.run_dir)})


def recorded(reader: RunReader) -> tuple[dict[str, str], bool]:
    """The hashes that were recorded last, and whether that was by the process that worked on the run last."""
    found = reader.fact(FILES)
    if found is None:
        return {}, False
    begun = reader.newest_seq("run.started")
    return dict(found["hashes"]), int(found["seq"]) > begun


def record_export(run_dir: Path) -> None:
    """The same after `export-best` wrote into the run's own folder; not while a process works on the run."""
    with RunReader(run_dir) as reader:
        if reader.db.stored_version < SCHEMA_VERSION or recorded(reader)[0] == hashes_of(run_dir):
            return
    try:
        with hold(run_dir):
            store = RunStore(run_dir)
            try:
                record_files(store)
            finally:
                store.close()
    except RunBusyError:
        return  # it records its own files at its end
