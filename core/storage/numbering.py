"""The numbering of a stored run's nodes."""

from __future__ import annotations

from core.state.numbering import Numbering
from core.storage.reader import RunReader
from core.storage.unreadable import unreadable


def numbering_of(reader: RunReader) -> Numbering:
    """Which step each committed node is."""
    with unreadable(reader.name):
        rows = reader.db.select("SELECT id, operator FROM nodes ORDER BY step")
    return Numbering((str(node_id), str(operator)) for node_id, operator in rows)
