"""RunReader: what everybody who shows a run may ask its store. Never writes; works while the run goes on."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from sqlalchemy import case, func, select, text

from core.contracts import CallRecord
from core.events import Event
from core.state.journal import Journal
from core.state.node import Node
from core.state.numbering import Numbering
from core.state.operators import FREE_OPERATORS
from core.state.task import Task
from core.storage.chain_links import head_of
from core.storage.database import DB_NAME, Database
from core.storage.migrations import CHAINED
from core.storage.models import CALLS, EVENTS, FACTS, GAMES, LINKS, NODES, STAGES, TASKS, TEXTS
from core.storage.prepared_statement import driver_of
from core.storage.rows import JOURNAL, call_from_row, event_from_row, journal_line, node_from_row, task_from_row, why_of
from core.storage.step_count import count_steps
from core.storage.unreadable import reads_store

_OUTLINE = (
    "SELECT id, step, parent_ids, operator, metric_value, failure, json_extract(rest, '$.duplicate_of') FROM nodes "
    "ORDER BY step"
)
_REPAIRED = text(
    "SELECT json_extract(tried.value, '$.failure'), count(*) FROM nodes, json_each(nodes.rest, '$.attempts') AS tried "
    "GROUP BY 1"
)
"""FailureKind and number of the programs that failed and were repaired in the same step."""


class RunReader:
    """Read-only view of one run.

    Args:
        run_dir: `logs/<run>`.
    """

    def __init__(self, run_dir: Path) -> None:
        self.run_dir = run_dir
        self.db = Database(run_dir / DB_NAME, read_only=True)

    def __enter__(self) -> RunReader:
        return self

    def __exit__(self, *_: object) -> None:
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
        value = self._scalar(select(FACTS.c.value).where(FACTS.c.key == key))
        return default if value is None else value

    @reads_store
    def facts(self) -> dict[str, Any]:
        """All named facts."""
        with self.db.transaction() as connection:
            return dict(connection.execute(select(FACTS.c.key, FACTS.c.value)).all())

    def journal_head(self) -> str | None:
        """The newest head of the chain; None for a run of an older version, which has none."""
        if self.db.stored_version < CHAINED:
            return None
        head = self._scalar(select(LINKS.c.head).order_by(LINKS.c.seq.desc()).limit(1))
        return None if head is None else head_of(head)

    def last_seq(self) -> int:
        """`seq` of the newest event; 0 before the first."""
        return int(self._scalar(select(func.max(EVENTS.c.seq))) or 0)

    def newest_seq(self, type_: str) -> int:
        """`seq` of the newest event of a type; 0 if there is none."""
        return int(self._scalar(select(func.max(EVENTS.c.seq)).where(EVENTS.c.type == type_)) or 0)

    @reads_store
    def events(self, after: int = 0, limit: int = 1000, types: Sequence[str] | None = None) -> list[Event]:
        """Events with `seq` > after, oldest first."""
        query = select(EVENTS).where(EVENTS.c.seq > after).order_by(EVENTS.c.seq).limit(limit)
        if types:
            query = query.where(EVENTS.c.type.in_(types))
        return [event_from_row(row) for row in self._rows(query)]

    # ------------------------------------------------------------ nodes

    def count(self) -> int:
        """How many nodes are committed."""
        return int(self._scalar(select(func.count()).select_from(NODES)) or 0)

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
    ) -> list[Node]:
        """Committed nodes in journal order, filtered; without code and output unless `texts`."""
        order = NODES.c.step.desc() if newest_first else NODES.c.step
        query = select(NODES).order_by(order).offset(offset)
        if limit is not None:
            query = query.limit(limit)
        wanted = dict(operator=operator, failure=failure, is_buggy=buggy, generation=generation, island=island)
        for column, value in wanted.items():
            if value is not None:
                query = query.where(getattr(NODES.c, column) == value)
        return [node_from_row(self.db, row, texts=texts) for row in self._rows(query)]

    @reads_store
    def steps(self) -> int:
        """Committed nodes that count as steps."""
        return count_steps(self.db)

    @reads_store
    def best(self) -> Node | None:
        """The best scored node, the earliest of equals; without its texts."""
        query = (
            select(NODES)
            .where(NODES.c.fitness.is_not(None), NODES.c.is_valid, ~NODES.c.is_buggy)
            .order_by(NODES.c.fitness.desc(), NODES.c.step)
            .limit(1)
        )
        rows = self._rows(query)
        return node_from_row(self.db, rows[0], texts=False) if rows else None

    @reads_store
    def failures(self, *, of_steps: bool = False) -> dict[str, int]:
        """FailureKind → number of programs, those that were repaired in the same step too.

        Args:
            of_steps: leave out baselines and programs that were given.
        """
        query = select(NODES.c.failure, func.count()).where(NODES.c.failure.is_not(None)).group_by(NODES.c.failure)
        if of_steps:
            query = query.where(NODES.c.operator.not_in(FREE_OPERATORS))
        counts: Counter[str] = Counter()
        with self.db.transaction() as connection:
            for kind, count in [*connection.execute(query), *connection.execute(_REPAIRED)]:
                counts[str(kind)] += int(count)
        return dict(counts)

    @reads_store
    def node(self, node_id: str) -> Node | None:
        """One node, whole; `node_id` may be its first digits, as many as no other node begins with."""
        query = select(NODES).where(NODES.c.id.startswith(node_id, autoescape=True)).limit(2)
        rows = self._rows(query)
        if not node_id or len(rows) != 1:
            rows = [row for row in rows if row["id"] == node_id]
        return node_from_row(self.db, rows[0]) if rows else None

    @reads_store
    def journal(self, *, texts: bool = True) -> Journal:
        """The whole journal with its index."""
        return Journal(bool(self.fact("lower_is_better", False)), self.nodes(texts=texts))

    @reads_store
    def journal_sha256(self) -> str:
        """As the run told it at its end; computed anew where nodes came after that, or it never ended."""
        told = self.fact(JOURNAL) or {}
        if told.get("nodes") == self.count():
            return str(told["sha256"])
        digest = sha256()
        query = select(NODES, TEXTS.c.body).join(TEXTS, TEXTS.c.hash == NODES.c.code, isouter=True)
        for row in self._rows(query.order_by(NODES.c.step)):
            digest.update(journal_line(row, "" if row["body"] is None else self.db.text_of(row["body"])))
        return digest.hexdigest()

    @reads_store
    def outline(self) -> list[dict[str, Any]]:
        """Every node in journal order by what a list tells of it: id, step, parents, operator, metric, failure.

        `step` is the number of the step of the search, from 1, None for what is no step; `place` the one in the
        journal, from 0.
        """
        with self.db.transaction() as connection:
            rows = driver_of(connection).execute(_OUTLINE).fetchall()
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
            }
            for node_id, place, parents, operator, metric, failure, duplicate_of in rows
        ]

    @reads_store
    def why(self, node_id: str) -> dict[str, Any]:
        """What the policy said of its choice; {} for a node that was not proposed."""
        return why_of(self.db, self._scalar(select(TASKS.c.why).where(TASKS.c.node_id == node_id)))

    @reads_store
    def tasks(self) -> dict[str, Task]:
        """Node id → task, of all that was proposed; what a gate sent back to its writer has none."""
        with self.db.transaction() as connection:
            rows = connection.execute(select(TASKS).order_by(TASKS.c.round, TASKS.c.slot)).mappings()
            return {task.node_id: task for task in map(task_from_row, rows)}

    def rounds(self) -> int:
        """The number after the highest round that was opened."""
        newest = self._scalar(select(func.max(TASKS.c.round)))
        return 0 if newest is None else int(newest) + 1

    @reads_store
    def open_stages(self) -> dict[str, list[str]]:
        """Nodes that are not committed yet → their finished stages."""
        stages: dict[str, list[str]] = {}
        query = select(TASKS.c.node_id).where(TASKS.c.node_id.not_in(select(NODES.c.id)))
        for row in self._rows(query):
            stages[row["node_id"]] = ["select"]
        for row in self._rows(select(STAGES.c.node_id, STAGES.c.stage)):
            stages.setdefault(row["node_id"], ["select"]).append(row["stage"])
        return stages

    # ------------------------------------------------------------ calls and games

    @reads_store
    def calls(self, node_id: str | None = None) -> list[CallRecord]:
        """All calls, or those of one node, in the order of their answers."""
        query = select(CALLS).order_by(CALLS.c.id)
        if node_id is not None:
            query = query.where(CALLS.c.node_id == node_id)
        return [call_from_row(self.db, row) for row in self._rows(query)]

    def cost(self) -> dict[str, Any]:
        """Sums over all calls: calls, prompt_tokens, completion_tokens, cost_usd (None where nothing was counted).

        `cached_tokens` are those of replies that came from the cache or a recording: part of the sums, and free.
        """
        both = func.coalesce(CALLS.c.prompt_tokens, 0) + func.coalesce(CALLS.c.completion_tokens, 0)
        query = select(
            func.sum(case((CALLS.c.cached, both), else_=0)).label("cached_tokens"),
            func.count().label("calls"),
            func.sum(CALLS.c.prompt_tokens).label("prompt_tokens"),
            func.sum(CALLS.c.completion_tokens).label("completion_tokens"),
            func.sum(CALLS.c.cost_usd).label("cost_usd"),
        ).select_from(CALLS)
        return dict(self._rows(query)[0])

    def cost_by_role(self) -> list[dict[str, Any]]:
        """The sums of `cost` and the seconds, for each role and model."""
        query = select(
            CALLS.c.role,
            CALLS.c.provider,
            CALLS.c.model,
            func.count().label("calls"),
            func.sum(CALLS.c.prompt_tokens).label("prompt_tokens"),
            func.sum(CALLS.c.completion_tokens).label("completion_tokens"),
            func.sum(CALLS.c.cost_usd).label("cost_usd"),
            func.sum(CALLS.c.seconds).label("seconds"),
        ).group_by(CALLS.c.role, CALLS.c.provider, CALLS.c.model)
        return [dict(row) for row in self._rows(query)]

    @reads_store
    def games(self, *, generation: int | None = None, offset: int = 0, limit: int | None = None) -> list[Any]:
        """Finished games, oldest first: the JSON object that the arena stored."""
        query = select(GAMES.c.game).order_by(GAMES.c.seq).offset(offset)
        if limit is not None:
            query = query.limit(limit)
        if generation is not None:
            query = query.where(GAMES.c.generation == generation)
        return [row["game"] for row in self._rows(query)]

    @reads_store
    def game(self, key: str) -> dict[str, Any] | None:
        """The game of that key, or None."""
        found: dict[str, Any] | None = self._scalar(select(GAMES.c.game).where(GAMES.c.key == key))
        return found

    # ------------------------------------------------------------ plumbing

    def _rows(self, query: Any) -> list[Any]:
        with self.db.transaction() as connection:
            return list(connection.execute(query).mappings().all())

    def _scalar(self, query: Any) -> Any:
        with self.db.transaction() as connection:
            return connection.execute(query).scalar()
