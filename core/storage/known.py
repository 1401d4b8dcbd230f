"""What a run's one writer knows of its own file without asking: which rows are not there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, select

from core.state.task import Task
from core.storage.models import CALLS, FACTS, GAMES, STAGES


class Known:
    """Keys of the rows that may be there. Nearly every question of a new node is answered with "no" from here.

    A key is noted before its row is written, so that a failed write leaves one too many, which costs a question; a key
    is never missing, because a run has one writer.

    Args:
        connection: to the run's store, for the rows of the run's earlier lives.
    """

    def __init__(self, connection: Connection) -> None:
        self.facts: set[str] = set(connection.execute(select(FACTS.c.key)).scalars())
        self.staged: set[str] = set(connection.execute(select(STAGES.c.node_id).distinct()).scalars())
        """Nodes with a stored stage."""
        self.samples: set[str] = set(connection.execute(select(CALLS.c.sample)).scalars())
        """Draws with a stored call."""
        self.games: set[str] = set(connection.execute(select(GAMES.c.key)).scalars())
        self._whys: dict[str, Mapping[str, Any]] = {}

    def opened(self, tasks: Sequence[Task], whys: Sequence[Mapping[str, Any]]) -> None:
        """A round is stored: its nodes will ask why they were proposed."""
        self._whys |= {task.node_id: why for task, why in zip(tasks, whys, strict=True)}

    def why(self, node_id: str) -> Mapping[str, Any] | None:
        """What was said of an open node of this process; None: ask the store."""
        return self._whys.get(node_id)

    def committed(self, node_ids: Iterable[str]) -> None:
        """These nodes have their place: nothing of them is open any more."""
        for node_id in node_ids:
            self.staged.discard(node_id)
            self._whys.pop(node_id, None)
