"""The control channel: lines that the running search reads between two rounds, and the signal that stops it."""

from __future__ import annotations

import errno
import json
import os
import signal
from pathlib import Path
from typing import Any

from core.events import RunStarted
from core.storage.held import LOCK, is_holder
from core.storage.reader import RunReader
from utils.errors import unwritable
from utils.regular_files import regular_handle

CONTROL_NAME = "control.jsonl"
MARK_KINDS = {"pinned": "pin", "banned": "ban", "none": "free"}


NOTED = "the note goes into the next prompt"
UNREAD = "the note is kept, but nobody reads it: this run is written by rules, which have no prompt"


def note_heard(run_dir: Path) -> str:
    """What becomes of a note to a running search."""
    with RunReader(run_dir) as reader:
        begun = reader.newest_seq("run.started")
        started = reader.events(after=begun - 1, limit=1, types=["run.started"]) if begun else []
    return UNREAD if any(isinstance(one, RunStarted) and one.writer == "rules" for one in started) else NOTED


def send_line(run_dir: Path, line: dict[str, Any]) -> None:
    """Append one JSON line in one write, so that lines of several writers never mix.

    Raises:
        StoreError: it cannot be written, or not as a whole.
    """
    try:
        _append(run_dir / CONTROL_NAME, (json.dumps(line, ensure_ascii=True) + "\n").encode())
    except OSError as error:
        raise unwritable(f"run '{run_dir.name}': {CONTROL_NAME} cannot be written", error) from error


def _append(path: Path, data: bytes) -> None:
    handle = regular_handle(path, os.O_RDWR | os.O_APPEND | os.O_CREAT)
    try:
        size = os.fstat(handle).st_size
        if size and os.pread(handle, 1, size - 1) != b"\n":  # what a full disk cut off takes nothing of this one
            data = b"\n" + data
        if os.write(handle, data) < len(data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    finally:
        os.close(handle)


def stop_gracefully(run_dir: Path, pid: int) -> None:
    """SIGTERM to the process that holds the run: it finishes what is in flight and saves; a second one stops it now. A
    script's background job would be deaf to SIGINT.

    Where the process is out of reach (another user, another container), a control line asks for the same.
    """
    if not is_told_to_stop(run_dir, pid):
        send_line(run_dir, {"kind": "stop"})


def is_told_to_stop(folder: Path, pid: int) -> bool:
    """SIGTERM to the process that holds the folder of a run or a sweep; False where it is out of reach."""
    if not is_holder(pid, folder / LOCK):
        return False
    try:
        os.kill(pid, signal.SIGTERM)
    except (ProcessLookupError, PermissionError):
        return False
    return True
