"""Hashes of the files that a run leaves beside its store, kept as a fact, so that the chain vouches for them too."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from hashlib import file_digest
from pathlib import Path

from core.storage.migrations import SCHEMA_VERSION
from core.storage.reader import RunReader
from core.storage.repository import RunStore
from core.storage.unreadable import unreadable
from runs.run_folder import hold
from utils.errors import RunBusyError
from utils.regular_files import open_regular, read_json

FILES = "files"
"""Fact: `{seq, hashes}`: the newest event at that moment, 0 while an export writes; path below the run's folder →
SHA-256 of the file."""
BEST = "best_solution"
"""Folder of the winner as a standalone solution."""
DETAIL = "node.json"
"""Beside an exported winner: its run, and its node."""


BEST_SO_FAR = ("solution.py", "solution.txt")
"""Of `BEST` while the run goes on: the program that leads, in Python or as another text (a patch, another language)."""
KEPT = "files"
"""Folder of what nodes left behind that an export takes, a folder a node."""
METRICS = ("metrics.json", "metrics.csv")
REPORT = "report.html"
PATIENCE = 60.0
"""Seconds that an export waits for whoever writes the run's files just now."""
_TOP = ("config.yaml", *METRICS, REPORT, "evolution.png", "failures.png")


def hashes_of(run_dir: Path) -> dict[str, str]:
    """Path → SHA-256 of every file that a run leaves for others. What is no regular file is named, too."""
    below = sorted(path for folder in (BEST, KEPT) for path in (run_dir / folder).rglob("*"))
    files = [path for path in (*(run_dir / name for name in _TOP), *below) if path.is_symlink() or path.is_file()]
    return {path.relative_to(run_dir).as_posix(): file_hash(path) for path in files}


def file_hash(path: Path) -> str:
    """SHA-256 in hex; `link` for a symbolic link, whose target is not ours to vouch for.

    Raises:
        OSError: it is no file, or one that waits for whoever reads it, such as a pipe.
    """
    if path.is_symlink():
        return "link"
    with open_regular(path) as file:
        return file_digest(file, "sha256").hexdigest()


def is_as_recorded(path: Path, known: str) -> bool:
    """True for a file with that content; False for a link, a pipe, and what is not there."""
    try:
        return not path.is_symlink() and file_hash(path) == known
    except OSError:
        return False


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


def solution_files(reader: RunReader) -> dict[Path, str]:
    """Files of the winner's folder as the run recorded them → SHA-256.

    A store may be a stranger's: where one of its names leads out of the folder, or is one that git would run, there are
    none.
    """
    folder = reader.run_dir / BEST
    with unreadable(reader.name):
        known = {name: digest for name, digest in recorded(reader)[0].items() if name.startswith(f"{BEST}/")}
    named = {reader.run_dir / name: digest for name, digest in known.items()}
    is_plain = not folder.is_symlink() and all(_is_inside(path, folder) for path in named)
    return named if is_plain else {}


def _is_inside(path: Path, folder: Path) -> bool:
    parts = path.parts[len(folder.parts) :]
    return ".." not in parts and ".git" not in parts and folder.resolve() in path.resolve().parents


def of_another(run_dir: Path, node_id: str) -> list[Path]:
    """What lies in the run's own solution folder and belongs to another program than this node's: the one that led
    while the run went on, and where `node.json` names another winner the files that were recorded of it, that last.
    """
    folder = run_dir / BEST
    leads = [folder / name for name in BEST_SO_FAR]
    try:
        told = read_json(folder / DETAIL)
    except (OSError, ValueError):
        return leads
    if isinstance(told, dict) and told.get("id") == node_id:
        return leads
    with RunReader(run_dir) as reader:
        recorded_then = solution_files(reader)
    return sorted({*leads, *recorded_then, folder / DETAIL}, key=lambda path: path == folder / DETAIL)


def is_recorded(run_dir: Path) -> bool:
    """True if what lies there is what the run recorded last."""
    with RunReader(run_dir) as reader:
        return recorded(reader)[0] == hashes_of(run_dir)


@contextmanager
def recording(run_dir: Path) -> Iterator[None]:
    """For `export-best`, which writes into the run's own folder inside: its files are recorded at the end. Until then
    none are, says the store: who is killed on the way has tampered with nothing.

    Not while the run goes on, whose process records them at its end, nor for a run of an older version.

    Raises:
        RunBusyError: the run is held, and does not go on.
    """
    with ExitStack() as held:
        store = _held_store(run_dir, held)
        if store is None:
            yield
            return
        known = store.get_fact(FILES) or {"hashes": {}}
        store.put_fact(FILES, {**known, "seq": 0})
        try:
            yield
        finally:
            record_files(store)


def _held_store(run_dir: Path, held: ExitStack) -> RunStore | None:
    until = time.monotonic() + PATIENCE
    while True:
        with RunReader(run_dir) as reader:
            is_older, goes_on = reader.db.stored_version < SCHEMA_VERSION, reader.fact("status") == "running"
        if is_older:
            return None
        try:
            held.enter_context(hold(run_dir))
        except RunBusyError:
            if goes_on:
                return None
            if time.monotonic() > until:
                raise
            time.sleep(0.1)  # for another export, or for the end of a run that writes its files
        else:
            return held.enter_context(closing(RunStore(run_dir)))
