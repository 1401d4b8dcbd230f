"""RunReader: what everybody who shows a run may ask its store. Never writes; works while the run goes on."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import ExitStack
from hashlib import sha256
from math import inf
from pathlib import Path
from typing import Any

from core.contracts import NO_CALLS, CallRecord
from core.events import Event
from core.state.journal import Journal
from core.state.node import Node
from core.state.numbering import Numbering
from core.state.task import Task
from core.storage.chain_links import head_of
from core.storage.database import DB_NAME, Database
from core.storage.fact_shapes import shaped
from core.storage.holds import ANSWERED, FILE, held_facts, held_in
from core.storage.migrations import CHAINED
from core.storage.models import IS_STEP, SCORED
from core.storage.rows import (
    JOURNAL,
    event_from_row,
    journal_line,
    node_from_row,
    stored_calls,
    stored_why,
    task_from_row,
)
from core.storage.step_count import count_steps
from core.storage.ticket_store import WITHDRAWN
from core.storage.told_node import MOST_ROWS, VERDICT, check_rows
from core.storage.unreadable import reads_store
from utils.errors import StoreError

_OUTLINE = (
    "SELECT id, step, parent_ids, operator, metric_value, failure, json_extract(rest, '$.duplicate_of'), "
    "json_extract(rest, '$.nothing_left') FROM nodes "
    "ORDER BY step"
)
_REPAIRED = (
    "SELECT json_extract(tried.value, '$.failure'), count(*) FROM nodes, json_each(nodes.rest, '$.attempts') AS tried "
    "GROUP BY 1"
)
"""FailureKind and number of the programs that failed and were repaired in the same step."""
_OPEN = f"SELECT node_id FROM tasks WHERE node_id NOT IN (SELECT id FROM nodes) AND node_id NOT IN ({WITHDRAWN})"
_SUMS = (
    "count(*) AS calls, sum(prompt_tokens) AS prompt_tokens, sum(completion_tokens) AS completion_tokens, "
    "sum(cost_usd) AS cost_usd"
)
"""Over rows of `calls`."""
COUNTED = f"calls WHERE role NOT IN ({', '.join(map(repr, NO_CALLS))})"
"""What is counted of `calls`: an agent's session is one of them, and not each of its questions once more."""


class RunReader:
    """Read-only view of one run. As a context manager it belongs to one thread, and all that is read inside is of one
    moment, however the run goes on: a list of nodes, their hash and the journal's head belong together.

    Args:
        run_dir: `logs/<run>`.
    """

    def __init__(self, run_dir: Path) -> None:
        self.run_dir = run_dir
        self.db = Database(run_dir / DB_NAME, read_only=True)
        self._moment = ExitStack()

    def __enter__(self) -> RunReader:
        self._moment.enter_context(self.db.transaction())
        return self

    def __exit__(self, *error: Any) -> None:
        try:
            self._moment.__exit__(*error)
        finally:
            self.close()

    @property
    def name(self) -> str:
        """The run's name."""
        return self.run_dir.name

    def close(self) -> None:
        """Let go of the file."""
        self.db.close()

    # ------------------------------------------------------------ facts and events

    @reads_store
    def fact(self, key: str, default: Any = None) -> Any:
        """A named fact: `run`, `problem`, `config`, `status`, `baselines`, `final`, …"""
        value = self.db.value("SELECT value FROM facts WHERE key = ?", (key,))
        return default if value is None else shaped(key, value)

    @reads_store
    def facts(self) -> dict[str, Any]:
        """All named facts."""
        return {row["key"]: shaped(row["key"], row["value"]) for row in self.db.rows("SELECT key, value FROM facts")}

    def journal_head(self) -> str | None:
        """The newest head of the chain; None for a run of an older version, which has none."""
        if self.db.stored_version < CHAINED:
            return None
        head = self.db.value("SELECT head FROM chain ORDER BY seq DESC LIMIT 1")
        return None if head is None else head_of(head)

    def last_seq(self) -> int:
        """`seq` of the newest event; 0 before the first."""
        return int(self.db.value("SELECT max(seq) FROM events") or 0)

    def newest_seq(self, type_: str) -> int:
        """`seq` of the newest event of a type; 0 if there is none."""
        return int(self.db.value("SELECT max(seq) FROM events WHERE type = ?", (type_,)) or 0)

    @reads_store
    def events(
        self, after: int = 0, limit: int | None = None, types: Sequence[str] | None = None, *, of_run: bool = False
    ) -> list[Event]:
        """Events with `seq` > after, oldest first: all of them, or the first `limit`.

        Args:
            of_run: leave out what is told of a node.
        """
        of_types = f"AND type IN ({', '.join('?' * len(types))})" if types else ""
        of_which = "AND node_id IS NULL" if of_run else ""
        query = f"SELECT * FROM events WHERE seq > ? {of_types} {of_which} ORDER BY seq LIMIT ?"
        return [event_from_row(row) for row in self.db.rows(query, (after, *(types or ()), _limit(limit)))]

    # ------------------------------------------------------------ nodes

    def count(self, **filters: Any) -> int:
        """How many nodes are committed, of those that `nodes` tells with these filters."""
        where, values = _where(**filters)
        return int(self.db.value(f"SELECT count(*) FROM nodes WHERE {where}", values))

    @reads_store
    def nodes(
        self,
        *,
        offset: int = 0,
        limit: int | None = None,
        operator: str | None = None,
        failure: str | None = None,
        buggy: bool | None = None,
        generation: int | None = None,
        island: int | None = None,
        texts: bool = False,
        newest_first: bool = False,
        as_it_lies: bool = False,
    ) -> list[Node]:
        """Committed nodes in journal order, filtered; without code and output unless `texts`.

        BrokenStoreError where one is not as the journal told it, as far as `check_rows` looks; `as_it_lies`: for who
        says by himself in what a record differs.
        """
        where, values = _where(operator, failure, buggy, generation, island)
        order = "DESC" if newest_first else "ASC"
        query = f"SELECT * FROM nodes WHERE {where} ORDER BY step {order} LIMIT ? OFFSET ?"
        rows = self.db.rows(query, (*values, _limit(limit), offset))
        if not as_it_lies:
            check_rows(self.db, rows)
        return [node_from_row(self.db, row, texts=texts) for row in rows]

    @reads_store
    def steps(self) -> int:
        """Committed nodes that count as steps."""
        return count_steps(self.db)

    @reads_store
    def best(self) -> Node | None:
        """The best scored node, the earliest of equals; without its texts."""
        rows = self.db.rows(f"SELECT * FROM nodes WHERE {SCORED} ORDER BY fitness DESC, step LIMIT 1")
        return node_from_row(self.db, rows[0], texts=False) if rows else None

    @reads_store
    def was_best(self, node: Node) -> bool:
        """True if no node that was committed before it was as good."""
        if node.metric_value is None:
            return False
        better = (
            f"SELECT 1 FROM nodes WHERE {SCORED} AND step < ? AND fitness >= (SELECT fitness FROM nodes WHERE id = ?)"
        )
        return not self.db.rows(f"{better} LIMIT 1", (node.step, node.id))

    @reads_store
    def failures(self, *, of_steps: bool = False) -> dict[str, int]:
        """FailureKind → number of nodes that failed with it.

        Args:
            of_steps: leave out baselines and programs that were given.
        """
        of_which = IS_STEP if of_steps else "1"
        failed = f"SELECT failure, count(*) FROM nodes WHERE failure IS NOT NULL AND {of_which} GROUP BY failure"
        return {str(kind): int(count) for kind, count in self.db.select(failed)}

    @reads_store
    def repaired(self) -> dict[str, int]:
        """FailureKind → number of programs that failed with it and were repaired in their step; the nodes did not."""
        return {str(kind): int(count) for kind, count in self.db.select(_REPAIRED)}

    @reads_store
    def node(self, node_id: str) -> Node | None:
        """One node, whole; `node_id` may be its first digits, as many as no other node begins with."""
        query = "SELECT * FROM nodes WHERE substr(id, 1, ?) = ? COLLATE NOCASE LIMIT 2"
        rows = self.db.rows(query, (len(node_id), node_id))
        if not node_id or len(rows) != 1:
            rows = [row for row in rows if row["id"] == node_id]
        return node_from_row(self.db, rows[0]) if rows else None

    @reads_store
    def journal(self, *, texts: bool = True, as_it_lies: bool = False) -> Journal:
        """The whole journal with its index; `as_it_lies`: as for `nodes`."""
        nodes = self.nodes(texts=texts, as_it_lies=as_it_lies)
        return Journal(nodes, lower_is_better=bool(self.fact("lower_is_better", False)))

    @reads_store
    def journal_sha256(self, most: float = inf) -> str | None:
        """As the run told it at its end; computed anew where nodes came after that, or it never ended: of more than
        `most` nodes then None, since a program is unpacked for each."""
        told, nodes = self.fact(JOURNAL) or {}, self.count()
        if told.get("nodes") == nodes:
            return str(told["sha256"])
        if nodes > most:
            return None
        digest = sha256()
        query = "SELECT nodes.*, texts.body FROM nodes LEFT JOIN texts ON texts.hash = nodes.code ORDER BY step"
        for row in self.db.rows(query):
            digest.update(journal_line(row, "" if row["body"] is None else self.db.texts.text_of(row["body"])))
        return digest.hexdigest()

    @reads_store
    def outline(self) -> list[dict[str, Any]]:
        """Every node in journal order by what a list tells of it: id, step, parents, operator, metric, failure.

        `step` is the number of the step of the search, from 1, None for what is no step; `place` the one in the
        journal, from 0.
        """
        if self.count() <= MOST_ROWS:
            check_rows(self.db, self.db.rows(f"SELECT id, step, {VERDICT} FROM nodes"))
        rows = self.db.select(_OUTLINE)
        numbers = Numbering((row[0], row[3]) for row in rows)
        return [
            {
                "node_id": node_id,
                "step": numbers.step(node_id),
                "place": place,
                "parent_ids": json.loads(parents),
                "operator": operator,
                "metric": metric,
                "failure": failure,
                "duplicate_of": duplicate_of,
                "nothing_left": bool(nothing_left),
            }
            for node_id, place, parents, operator, metric, failure, duplicate_of, nothing_left in rows
        ]

    @reads_store
    def why(self, node_id: str) -> dict[str, Any]:
        """What the policy said of its choice; {} for a node that was not proposed."""
        return stored_why(self.db, node_id)

    @reads_store
    def tasks(self) -> dict[str, Task]:
        """Node id → task, of all that was proposed; what a gate sent back to its writer has none."""
        rows = self.db.rows("SELECT * FROM tasks ORDER BY round, slot")
        return {task.node_id: task for task in map(task_from_row, rows)}

    def rounds(self) -> int:
        """The number after the highest round that was opened."""
        newest = self.db.value("SELECT max(round) FROM tasks")
        return 0 if newest is None else int(newest) + 1

    @reads_store
    def open_stages(self) -> dict[str, list[str]]:
        """Nodes that are not committed yet, and whose ticket is not gone → their finished stages."""
        proposed = self.db.select(_OPEN)
        stages = {node_id: ["select"] for (node_id,) in proposed}
        for node_id, stage in self.db.select("SELECT node_id, stage FROM stages"):
            stages.setdefault(node_id, ["select"]).append(stage)
        return stages

    # ------------------------------------------------------------ calls and games

    @reads_store
    def calls(self, node_id: str | None = None) -> list[CallRecord]:
        """All calls, or those of one node, in the order of their answers."""
        return stored_calls(self.db, node_id)

    def cost(self) -> dict[str, Any]:
        """Sums over all calls: calls, prompt_tokens, completion_tokens, cost_usd (None where nothing was counted).

        `cached_tokens` are those of replies that came from the cache or a recording: part of the sums, and free.
        `held_usd` is what the `held_calls` that were sent and have no answer here can cost at most, beside `cost_usd`.
        """
        cached = "CASE WHEN cached THEN coalesce(prompt_tokens, 0) + coalesce(completion_tokens, 0) ELSE 0 END"
        sums = self.db.rows(f"SELECT sum({cached}) AS cached_tokens, {_SUMS} FROM {COUNTED}")[0]
        held = [usd for _, usd in self._held()]
        return {**sums, "held_calls": len(held), "held_usd": sum(held)}

    def _held(self) -> list[tuple[int, float]]:
        """Without what stands in a file that cannot be read: who only looks is shown the rest of the run."""
        try:
            return [*held_facts(self.db), *held_in(self.run_dir / FILE, self.fact(ANSWERED) or ())]
        except StoreError:
            return []

    def cost_by_role(self) -> list[dict[str, Any]]:
        """The sums of `cost` and the seconds, for each role and model."""
        columns = "role, provider, model"
        return self.db.rows(f"SELECT {columns}, {_SUMS}, sum(seconds) AS seconds FROM {COUNTED} GROUP BY {columns}")

    @reads_store
    def games(self, *, generation: int | None = None, offset: int = 0, limit: int | None = None) -> list[Any]:
        """Finished games, oldest first: the JSON object that the arena stored."""
        where, values = ("1", ()) if generation is None else ("generation = ?", (generation,))
        query = f"SELECT game FROM games WHERE {where} ORDER BY seq LIMIT ? OFFSET ?"
        return [row["game"] for row in self.db.rows(query, (*values, _limit(limit), offset))]

    @reads_store
    def game(self, key: str) -> dict[str, Any] | None:
        """The game of that key, or None."""
        found: dict[str, Any] | None = self.db.value("SELECT game FROM games WHERE key = ?", (key,))
        return found


def _where(
    operator: str | None = None,
    failure: str | None = None,
    buggy: bool | None = None,
    generation: int | None = None,
    island: int | None = None,
) -> tuple[str, list[Any]]:
    """The condition on rows of `nodes`, and its values; None: any."""
    wanted = dict(operator=operator, failure=failure, is_buggy=buggy, generation=generation, island=island)
    given = {column: value for column, value in wanted.items() if value is not None}
    return " AND ".join(f"{column} = ?" for column in given) or "1", list(given.values())


def _limit(count: int | None) -> int:
    """As SQLite has it: below 0 there is none."""
    return -1 if count is None else count
