"""RunStore: the one writer of a run's facts. A fact and its events share a transaction."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from math import inf
from pathlib import Path
from typing import Any

from core.events import Event, NodeProposed
from core.state.fingerprint import text_hash
from core.state.node import Node
from core.state.task import Task
from core.storage.call_store import CallStore
from core.storage.forms import insert
from core.storage.game_store import GameStore
from core.storage.models import SCORED
from core.storage.recent_texts import RecentTexts
from core.storage.rows import OUTLINE, node_from_row, node_values, stored_node, task_from_row, task_values
from core.storage.ticket_store import DROPPED, WITHDRAWN, TicketStore
from core.storage.unreadable import reads_store, unreadable
from utils.metric import Metric

_ENDS = (
    "SELECT * FROM (SELECT step, id, metric_value FROM nodes WHERE fitness IS NOT NULL"
    " ORDER BY fitness DESC, step LIMIT ?)"
    " UNION ALL SELECT * FROM (SELECT step, id, metric_value FROM nodes ORDER BY step DESC LIMIT ?)"
)
_TEXTS = "SELECT code, term_out FROM nodes WHERE id = ?"
_PAGE = 1000
"""Rows of nodes read at once."""


class RunStore(CallStore, GameStore, TicketStore):
    """Implements `Store`, `CallLog`, `GameBook` and `TicketBook` for `logs/<run>/run.db`."""

    def __init__(self, run_dir: Path, **options: Any) -> None:
        super().__init__(run_dir, **options)
        self._recent = RecentTexts()

    # ------------------------------------------------------------ rounds, stages, nodes

    def open_round(
        self,
        tasks: Sequence[Task],
        whys: Sequence[dict[str, Any]],
        events: Sequence[Event] = (),
        facts: Mapping[str, Any] | None = None,
        stages: Sequence[Mapping[str, dict[str, Any]]] = (),
    ) -> None:
        """Fix a round: what is to be written, under which ids, and why. Adds a node.proposed event a task.

        With the next transaction or soon: what is written for it, by whomever, is stored behind it.
        """

        taken = {task.node_id: kept for task, kept in zip(tasks, stages, strict=False) if kept}
        self._known.facts.update(facts or {})
        self._known.staged.update(taken)

        def write() -> None:
            with self.db.transaction() as connection:
                rows = [task_values(self.db, task, why) for task, why in zip(tasks, whys, strict=True)]
                insert(connection, "tasks", rows)
                for node_id, kept in taken.items():
                    for stage, payload in kept.items():
                        self._put_stages(stage, {node_id: payload})
                if facts:
                    self._put_facts(facts)

        self._write_later("round", write, [*events, *map(NodeProposed.of, tasks)])

    def save_stage(self, node_id: str, stage: str, payload: dict[str, Any], events: Sequence[Event] = ()) -> None:
        self._known.staged.add(node_id)
        self._write_later("stage", lambda: self._put_stages(stage, {node_id: payload}), events, (node_id,))

    def save_stages(self, stage: str, payloads: Mapping[str, dict[str, Any]], events: Sequence[Event] = ()) -> None:
        self._known.staged.update(payloads)
        self._write("stages", lambda: self._put_stages(stage, payloads), events)

    def _put_stages(self, stage: str, payloads: Mapping[str, dict[str, Any]]) -> None:
        rows = [
            {"node_id": node_id, "stage": stage, "payload": json.dumps(payload)}
            for node_id, payload in payloads.items()
        ]
        with self.db.transaction() as connection:
            update = "ON CONFLICT (node_id, stage) DO UPDATE SET payload = excluded.payload"
            insert(connection, "stages", rows, update)

    def drop_stages(self, node_id: str, stages: Sequence[str]) -> None:
        """Forget stages of an open node, to run them again."""
        with self.db.transaction() as connection:
            gone = [(node_id, stage) for stage in stages]
            connection.executemany("DELETE FROM stages WHERE node_id = ? AND stage = ?", gone)

    def stages(self, node_id: str) -> dict[str, dict[str, Any]]:
        if node_id not in self._known.staged:
            return {}
        rows = self.db.select("SELECT stage, payload FROM stages WHERE node_id = ?", (node_id,))
        return {stage: json.loads(payload) for stage, payload in rows}

    def commit(self, nodes: Sequence[Node], events: Sequence[Event]) -> None:
        """Nodes get their place for good, with the next transaction or soon: killed before, a run commits them again.

        Their stage rows go: what they held is on the node or in `calls`.
        """
        if not nodes:
            return
        staged = [(node.id,) for node in nodes if node.id in self._known.staged]
        self._drop_waiting("stage", {node.id for node in nodes})

        def facts() -> None:
            with self.db.transaction() as connection:
                insert(connection, "nodes", [node_values(self.db, node) for node in nodes])
                connection.executemany("DELETE FROM stages WHERE node_id = ?", staged)

        node_ids = [node.id for node in nodes]
        for node in nodes:
            self._recent.keep(node.id, node.code, node.term_out)
        self._write_later("commit", facts, events, node_ids)
        self._known.committed(node_ids)

    @reads_store
    def nodes(self) -> list[Node]:
        return self._nodes("SELECT * FROM nodes ORDER BY step")

    def stored_nodes(self) -> Iterator[Node]:
        step = -1
        while True:
            rows = self.db.select(OUTLINE, (step, _PAGE))
            with unreadable(self.name):
                nodes = [stored_node(self.db, row, self.texts) for row in rows]
            yield from nodes
            if len(rows) < _PAGE:
                return
            step = rows[-1][1]

    @reads_store
    def leading_and_newest(self, leading: int, newest: int) -> list[tuple[str, float | None]]:
        """(node id, metric) of so many of the best by their metric alone, and of the newest, in commit order."""
        return [(node_id, metric) for _, node_id, metric in sorted(set(self.db.select(_ENDS, (leading, newest))))]

    @reads_store
    def texts(self, node_id: str) -> tuple[str, str]:
        """(program, output) of a committed node."""
        known = self._recent.find(node_id)
        if known is not None:
            return known
        if self._waits("commit", node_id):
            self.settle()
        (code, output) = self.db.select(_TEXTS, (node_id,), stored=True)[0]
        found = self.db.texts.get(code), self.db.texts.get(output)
        self._recent.keep(node_id, *found)
        return found

    @reads_store
    def open_tasks(self, *, withdrawn: bool = False) -> list[Task]:
        with self.db.transaction():
            rows = self.db.rows(
                "SELECT * FROM tasks WHERE node_id NOT IN (SELECT id FROM nodes) ORDER BY round, slot, attempt"
            )
            gone = {node_id for (node_id,) in self.db.select(WITHDRAWN)}
            dropped = {node_id for (node_id,) in self.db.select(DROPPED)}
        tasks = [task for row in rows if (task := task_from_row(row)).node_id not in dropped]
        first = next((task.round for task in tasks if task.node_id not in gone), inf) if withdrawn else inf
        return [task for task in tasks if task.node_id not in gone or task.round >= first]

    @reads_store
    def rounds(self) -> int:
        """The number after the highest round that was opened."""
        newest = self.db.value("SELECT max(round) FROM tasks")
        return 0 if newest is None else int(newest) + 1

    # ------------------------------------------------------------ the seed's CandidateStore

    def save(self, node: Node) -> bool:
        """Commit one node without an event of its own; False, and nothing is stored, if its program is there already.

        `step` becomes the next free number unless the node's own is higher; `fitness` follows from the metric.
        """
        if self.exists(node.code):
            return False
        newest = self.db.value("SELECT max(step) FROM nodes")
        step = max(node.step, 0 if newest is None else int(newest) + 1)
        metric = Metric(node.metric_value, node.lower_is_better)
        self.commit(
            [node.model_copy(update={"step": step, "fitness": None if metric.is_worst else metric.fitness})], []
        )
        return True

    def get_by_id(self, node_id: str) -> Node | None:
        """The committed node of that id, or None."""
        return next(iter(self._nodes("SELECT * FROM nodes WHERE id = ?", node_id)), None)

    def get_top_k(self, k: int) -> list[Node]:
        """The k best scored nodes, best first; equals in commit order."""
        return self._nodes(f"SELECT * FROM nodes WHERE {SCORED} ORDER BY fitness DESC, step LIMIT ?", k)

    def exists_by_hash(self, code_hash: str) -> bool:
        """True if a node with this `text_hash` is stored."""
        query = "SELECT 1 FROM nodes WHERE substr(code_hash, 1, 8) = ? AND code_hash = ? LIMIT 1"
        return bool(self.db.select(query, (code_hash[:8], code_hash)))

    def exists(self, code: str) -> bool:
        """True if a node with this program is stored."""
        return self.exists_by_hash(text_hash(code))

    def _nodes(self, query: str, *values: Any) -> list[Node]:
        return [node_from_row(self.db, row) for row in self.db.rows(query, values)]
