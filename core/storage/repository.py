"""RunStore: the one writer of a run's facts. A fact and its events share a transaction."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import delete, func, select

from core.contracts import CallRecord, EventSink
from core.events import Event, LLMCalled, NodeCommitted, NodeProposed
from core.state.fingerprint import text_hash
from core.state.node import Node
from core.state.task import Task
from core.storage.database import Database
from core.storage.fault import FaultPoint
from core.storage.known import Known
from core.storage.models import CALLS, EVENTS, FACTS, GAMES, NODES, STAGES, TASKS
from core.storage.rows import call_from_row, event_from_row, event_values, node_from_row, node_values, task_values
from core.storage.statements import (
    ADD_CALL,
    ADD_EVENT,
    ADD_GAME,
    ADD_NODE,
    ADD_TASK,
    CALL,
    DROP_STAGES,
    FACT,
    GAME,
    PUT_FACT,
    PUT_STAGE,
    STAGES_OF,
)
from utils.metric import Metric

DB_NAME = "run.db"
_HELD = "held/"
"""Prefix of the facts that hold the worst case of requests without an answer."""


class RunStore:
    """Implements `Store`, `CallLog` and `GameBook` for `logs/<run>/run.db`.

    Args:
        run_dir: the run's folder; made if missing.
        clock: tells the time of an event, UTC.
    """

    def __init__(self, run_dir: Path, *, clock: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        run_dir.mkdir(parents=True, exist_ok=True)
        self.run_dir = run_dir
        self.db = Database(run_dir / DB_NAME)
        self.sinks: list[EventSink] = []
        self._clock = clock
        self._fault = FaultPoint()
        with self.db.transaction() as connection:
            self._seq = int(connection.execute(select(func.max(EVENTS.c.seq))).scalar() or 0)
            self._known = Known(connection)

    @property
    def seq(self) -> int:
        """`seq` of the newest event."""
        return self._seq

    def close(self) -> None:
        self.db.close()

    # ------------------------------------------------------------ events

    def append(self, events: Sequence[Event]) -> None:
        self._write("events", lambda: (), events)

    def _write(self, kind: str, facts: Callable[[], Sequence[Event] | None], events: Sequence[Event] = ()) -> None:
        """Facts and events in one transaction; sinks are told after it, in order, whatever they make of it.

        `facts` may return further events, for those that quote what it wrote.
        """
        with self.db.lock:
            self._fault.before(kind)
            before = self._seq
            try:
                with self.db.transaction() as connection:
                    told = [self._number(event) for event in (*events, *(facts() or ()))]
                    if told:
                        connection.execute(ADD_EVENT, [event_values(event) for event in told])
            except BaseException:
                self._seq = before
                raise
            self._fault.after(kind)
            for event in told:
                for sink in self.sinks:
                    sink.emit(event)

    def committed_events(self) -> list[NodeCommitted]:
        """All node.committed events, oldest first."""
        query = select(EVENTS).where(EVENTS.c.type == "node.committed").order_by(EVENTS.c.seq)
        with self.db.transaction() as connection:
            rows = connection.execute(query).mappings().all()
        return [event for row in rows if isinstance(event := event_from_row(row), NodeCommitted)]

    def _number(self, event: Event) -> Event:
        self._seq += 1
        return event.model_copy(update={"seq": self._seq, "at": self._clock()})

    # ------------------------------------------------------------ rounds, stages, nodes

    def open_round(
        self, round_: int, tasks: Sequence[Task], whys: Sequence[dict[str, Any]], events: Sequence[Event] = ()
    ) -> None:
        """Fix a round: what is to be written, under which ids, and why. Adds a node.proposed event a task."""

        def facts() -> None:
            with self.db.transaction() as connection:
                rows = [{**task_values(task), "why": why} for task, why in zip(tasks, whys, strict=True)]
                connection.execute(ADD_TASK, rows)

        self._write("round", facts, [*events, *map(NodeProposed.of, tasks)])

    def save_stage(self, node_id: str, stage: str, payload: dict[str, Any], events: Sequence[Event] = ()) -> None:
        self._write("stage", lambda: self._put_stages(stage, {node_id: payload}), events)

    def save_stages(self, stage: str, payloads: Mapping[str, dict[str, Any]], events: Sequence[Event] = ()) -> None:
        self._write("stages", lambda: self._put_stages(stage, payloads), events)

    def _put_stages(self, stage: str, payloads: Mapping[str, dict[str, Any]]) -> None:
        self._known.staged.update(payloads)
        rows = [
            {"node_id": node_id, "stage": stage, "payload": json.dumps(payload)}
            for node_id, payload in payloads.items()
        ]
        with self.db.transaction() as connection:
            connection.execute(PUT_STAGE, rows)

    def drop_stages(self, node_id: str, stages: Sequence[str]) -> None:
        """Forget stages of an open node, to run them again."""
        with self.db.transaction() as connection:
            connection.execute(delete(STAGES).where(STAGES.c.node_id == node_id, STAGES.c.stage.in_(stages)))

    def stages(self, node_id: str) -> dict[str, dict[str, Any]]:
        if node_id not in self._known.staged:
            return {}
        with self.db.transaction() as connection:
            rows = connection.execute(STAGES_OF, {"node": node_id}).all()
        return {stage: json.loads(payload) for stage, payload in rows}

    def commit(self, nodes: Sequence[Node], events: Sequence[Event]) -> None:
        """Nodes get their place for good. Their stage rows go: what they held is on the node or in `calls`."""
        if not nodes:
            return
        staged = [{"node": node.id} for node in nodes if node.id in self._known.staged]

        def facts() -> None:
            with self.db.transaction() as connection:
                connection.execute(ADD_NODE, [node_values(self.db, node) for node in nodes])
                if staged:
                    connection.execute(DROP_STAGES, staged)

        self._write("commit", facts, events)
        self._known.committed(node.id for node in nodes)

    def nodes(self) -> list[Node]:
        with self.db.transaction() as connection:
            rows = connection.execute(select(NODES).order_by(NODES.c.step)).mappings().all()
        return [node_from_row(self.db, row) for row in rows]

    def open_tasks(self) -> list[Task]:
        with self.db.transaction() as connection:
            rows = connection.execute(
                select(TASKS.c.task)
                .where(TASKS.c.node_id.not_in(select(NODES.c.id)))
                .order_by(TASKS.c.round, TASKS.c.slot, TASKS.c.attempt)
            ).scalars()
            return [Task.model_validate(task) for task in rows]

    def rounds(self) -> int:
        """The number after the highest round that was opened."""
        with self.db.transaction() as connection:
            newest = connection.execute(select(func.max(TASKS.c.round))).scalar()
        return 0 if newest is None else int(newest) + 1

    # ------------------------------------------------------------ the seed's CandidateStore

    def save(self, node: Node) -> bool:
        """Commit one node without an event of its own; False, and nothing is stored, if its program is there already.

        `step` becomes the next free number unless the node's own is higher; `fitness` follows from the metric.
        """
        if self.exists(node.code):
            return False
        with self.db.transaction() as connection:
            newest = connection.execute(select(func.max(NODES.c.step))).scalar()
        step = max(node.step, 0 if newest is None else int(newest) + 1)
        metric = Metric(node.metric_value, node.lower_is_better)
        self.commit(
            [node.model_copy(update={"step": step, "fitness": None if metric.is_worst else metric.fitness})], []
        )
        return True

    def get_by_id(self, node_id: str) -> Node | None:
        with self.db.transaction() as connection:
            row = connection.execute(select(NODES).where(NODES.c.id == node_id)).mappings().first()
        return None if row is None else node_from_row(self.db, row)

    def get_top_k(self, k: int) -> list[Node]:
        """The k best scored nodes, best first; equals in commit order."""
        query = (
            select(NODES)
            .where(NODES.c.fitness.is_not(None), NODES.c.is_valid, ~NODES.c.is_buggy)
            .order_by(NODES.c.fitness.desc(), NODES.c.step)
            .limit(k)
        )
        with self.db.transaction() as connection:
            rows = connection.execute(query).mappings().all()
        return [node_from_row(self.db, row) for row in rows]

    def exists_by_hash(self, code_hash: str) -> bool:
        """True if a node with this `text_hash` is stored."""
        with self.db.transaction() as connection:
            found = connection.execute(select(NODES.c.id).where(NODES.c.code_hash == code_hash).limit(1)).scalar()
        return found is not None

    def exists(self, code: str) -> bool:
        return self.exists_by_hash(text_hash(code))

    # ------------------------------------------------------------ facts

    def put_fact(self, key: str, value: Any, events: Sequence[Event] = ()) -> None:
        self._write(f"fact:{key}", lambda: self._put_facts({key: value}), events)

    def put_facts(self, values: Mapping[str, Any], events: Sequence[Event] = ()) -> None:
        """Several facts and their events in one transaction."""
        self._write("facts", lambda: self._put_facts(values), events)

    def _put_facts(self, values: Mapping[str, Any]) -> None:
        self._known.facts.update(values)
        with self.db.transaction() as connection:
            connection.execute(PUT_FACT, [{"key": key, "value": value} for key, value in values.items()])

    def get_fact(self, key: str) -> Any | None:
        if key not in self._known.facts:
            return None
        with self.db.transaction() as connection:
            return connection.execute(FACT, {"key": key}).scalar()

    # ------------------------------------------------------------ calls

    def find_call(self, request_hash: str, sample: str) -> CallRecord | None:
        if sample not in self._known.samples:
            return None
        with self.db.transaction() as connection:
            row = connection.execute(CALL, {"request": request_hash, "sample": sample}).mappings().first()
        return None if row is None else call_from_row(self.db, row)

    def hold_call(self, name: str, tokens: int, usd: float) -> None:
        self._write("hold", lambda: self._put_facts({_HELD + name: [tokens, usd]}))

    def drop_hold(self, name: str) -> None:
        with self.db.transaction() as connection:
            connection.execute(delete(FACTS).where(FACTS.c.key == _HELD + name))
        self._known.facts.discard(_HELD + name)

    def held(self) -> list[tuple[int, float]]:
        """(tokens, dollars) at most of each request that left and whose answer was never stored."""
        with self.db.transaction() as connection:
            values = connection.execute(select(FACTS.c.value).where(FACTS.c.key.startswith(_HELD))).scalars()
            return [(int(tokens), float(usd)) for tokens, usd in values]

    def save_call(self, record: CallRecord, held: str = "") -> None:
        def facts() -> Sequence[Event]:
            with self.db.transaction() as connection:
                values = record.model_dump()
                values["system"] = self.db.put_parts(record.system)
                values["user"] = self.db.put_parts(record.user)
                values["reply"] = self.db.put_text(record.reply)
                result = connection.execute(ADD_CALL, values)
                if held:
                    self.drop_hold(held)
                key = result.inserted_primary_key
                shared = {name: values[name] for name in LLMCalled.model_fields.keys() & values.keys()}
                return [LLMCalled(call_id=int(key[0]) if key else 0, **shared)]

        self._known.samples.add(record.sample)
        self._write("call", facts)

    def calls(self, node_id: str | None = None) -> list[CallRecord]:
        """All calls, or those of one node, in the order of their answers."""
        query = select(CALLS).order_by(CALLS.c.id)
        if node_id is not None:
            query = query.where(CALLS.c.node_id == node_id)
        with self.db.transaction() as connection:
            rows = connection.execute(query).mappings().all()
        return [call_from_row(self.db, row) for row in rows]

    def bills(self) -> list[tuple[int | None, int | None, float | None]]:
        """(prompt tokens, completion tokens, dollars) of the whole run: one row, or none before the first call."""
        query = select(func.sum(CALLS.c.prompt_tokens), func.sum(CALLS.c.completion_tokens), func.sum(CALLS.c.cost_usd))
        with self.db.transaction() as connection:
            row = connection.execute(query).one()
        return [(row[0], row[1], row[2])]

    # ------------------------------------------------------------ games

    def get(self, key: str) -> dict[str, Any] | None:
        if key not in self._known.games:
            return None
        with self.db.transaction() as connection:
            return connection.execute(GAME, {"key": key}).scalar()

    def put(self, key: str, game: dict[str, Any], events: Sequence[Event]) -> None:
        """Store a finished game with its events. `game` has at least white, black, result; generation where known."""

        self._known.games.add(key)

        def facts() -> None:
            names = ("white", "black", "result")
            row = {**{name: game[name] for name in names}, "generation": game.get("generation")}
            with self.db.transaction() as connection:
                connection.execute(ADD_GAME, {**row, "key": key, "seq": self._seq + len(events), "game": game})

        self._write("game", facts, events)

    def all(self) -> list[dict[str, Any]]:
        with self.db.transaction() as connection:
            return list(connection.execute(select(GAMES.c.game).order_by(GAMES.c.seq)).scalars())
