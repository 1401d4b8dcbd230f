"""The store of a run: one SQLite file, written by one process, read by any."""

from __future__ import annotations

from utils.doors import door

__getattr__, __dir__ = door(
    __name__,
    {
        "RunReader": "core.storage.reader",
        "RunStore": "core.storage.repository",
    },
)
