"""What a run's one writer knows of its own file without asking: which rows are not there."""

from __future__ import annotations

from collections.abc import Iterable

from core.storage.database import Database


class Known:
    """Keys of the rows that may be there. Nearly every question of a new node is answered with "no" from here.

    A key is noted before its row is written, so that a failed write leaves one too many, which costs a question; a key
    is never missing, because a run has one writer.

    Args:
        db: the run's store, for the rows of the run's earlier lives.
    """

    def __init__(self, db: Database) -> None:
        self.facts: set[str] = {key for (key,) in db.select("SELECT key FROM facts")}
        self.staged: set[str] = {node_id for (node_id,) in db.select("SELECT node_id FROM stages")}
        """Nodes with a stored stage."""
        self.games: set[str] = {key for (key,) in db.select("SELECT key FROM games")}

    def committed(self, node_ids: Iterable[str]) -> None:
        """These nodes have their place: nothing of them is open any more."""
        for node_id in node_ids:
            self.staged.discard(node_id)
