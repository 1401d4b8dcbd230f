"""The numbering of a stored run's nodes."""

from __future__ import annotations

from sqlalchemy import select

from core.state.numbering import Numbering
from core.storage.models import NODES
from core.storage.reader import RunReader
from core.storage.unreadable import unreadable


def numbering_of(reader: RunReader) -> Numbering:
    """Which step each committed node is."""
    with unreadable(reader.name), reader.db.transaction() as connection:
        rows = connection.execute(select(NODES.c.id, NODES.c.operator).order_by(NODES.c.step)).all()
    return Numbering((str(node_id), str(operator)) for node_id, operator in rows)
