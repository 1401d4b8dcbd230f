"""EventFile: closed while a thread reads, as happens to a server whose client hangs up."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from core.events import NoteAdded
from core.storage.database import DB_NAME
from core.storage.repository import RunStore
from dashboard.server.tailer import EventFile

HANG_UP = """
import sys, threading
from pathlib import Path
sys.path.insert(0, {root!r})
from dashboard.server.tailer import EventFile
for _ in range(300):
    file = EventFile(Path({run!r}))
    readers = [threading.Thread(target=lambda: [file.page(0) for _ in range(20)]) for _ in range(2)]
    for reader in readers:
        reader.start()
    file.page(0)
    file.close()
    for reader in readers:
        reader.join()
    assert file.page(0) == [] and file.last_seq() == 0
"""


def test_a_store_that_cannot_be_read_is_let_go_of(tmp_path: Path) -> None:
    """A look at a broken store kept its file open for as long as anybody held the error."""
    path = tmp_path / DB_NAME
    path.write_bytes(b"no database at all " * 400)
    with pytest.raises(sqlite3.DatabaseError, match="not a database") as held:
        EventFile(tmp_path)
    opened = [name.resolve() for name in Path("/proc/self/fd").iterdir() if name.exists()]
    assert path.resolve() not in opened, held.value


def test_a_store_whose_folder_became_a_file_is_there_no_more(tmp_path: Path) -> None:
    """The task that feeds a page ended of it with no word, and the page waited for ever."""
    run_dir = tmp_path / "run"
    RunStore(run_dir).close()
    file = EventFile(run_dir)
    assert file.is_there()
    shutil.rmtree(run_dir)
    run_dir.write_text("notes")
    assert not file.is_there()
    file.close()


@pytest.mark.long
def test_a_close_under_the_hands_of_a_reader_harms_nobody(tmp_path: Path) -> None:
    store = RunStore(tmp_path / "run")
    store.append([NoteAdded(text=f"note {i}") for i in range(300)])
    store.close()
    root = Path(__file__).resolve().parents[3]
    code = HANG_UP.format(root=str(root), run=str(tmp_path / "run"))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, f"ended with {done.returncode}: {done.stderr[-2000:]}"
