"""EventFile: closed while a thread reads, as happens to a server whose client hangs up."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from core.events import NoteAdded
from core.storage.repository import RunStore

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


@pytest.mark.long
def test_a_close_under_the_hands_of_a_reader_harms_nobody(tmp_path: Path) -> None:
    store = RunStore(tmp_path / "run")
    store.append([NoteAdded(text=f"note {i}") for i in range(300)])
    store.close()
    root = Path(__file__).resolve().parents[3]
    code = HANG_UP.format(root=str(root), run=str(tmp_path / "run"))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, f"ended with {done.returncode}: {done.stderr[-2000:]}"
