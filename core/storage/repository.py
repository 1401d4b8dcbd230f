"""RunStore: the one writer of a run's facts. A fact and its events share a transaction."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import delete, func, select
from sqlalchemy.dialects.sqlite import insert

from core.contracts import CallRecord, EventSink
from core.events import Event, LLMCalled, NodeCommitted, NodeProposed
from core.state.fingerprint import text_hash
from core.state.node import Node
from core.state.task import Task
from core.storage.database import Database
from core.storage.fault import FaultPoint
from core.storage.models import CALLS, EVENTS, FACTS, GAMES, NODES, STAGES, TASKS
from core.storage.rows import call_from_row, event_body, event_from_row, node_from_row, node_values

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
                        connection.execute(insert(EVENTS), [self._event_values(event) for event in told])
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

    def _event_values(self, event: Event) -> dict[str, Any]:
        return {
            "seq": event.seq,
            "type": event.type,
            "node_id": getattr(event, "node_id", None),
            "at": event.at,
            "body": event_body(event),
        }

    # ------------------------------------------------------------ rounds, stages, nodes

    def open_round(
        self, round_: int, tasks: Sequence[Task], whys: Sequence[dict[str, Any]], events: Sequence[Event] = ()
    ) -> None:
        """Fix a round: what is to be written, under which ids, and why. Adds a node.proposed event a task."""

        def facts() -> None:
            with self.db.transaction() as connection:
                connection.execute(
                    insert(TASKS),
                    [
                        {
                            "node_id": task.node_id,
                            "round": task.round,
                            "slot": task.slot,
                            "attempt": task.attempt,
                            "task": task.model_dump(mode="json"),
                            "why": why,
                        }
                        for task, why in zip(tasks, whys, strict=True)
                    ],
                )

        proposed = [
            NodeProposed(
                node_id=task.node_id,
                round=task.round,
                slot=task.slot,
                operator=task.operator,
                parent_ids=list(task.parent_ids),
                generation=task.generation,
                island=task.island,
            )
            for task in tasks
        ]
        self._write("round", facts, [*events, *proposed])

    def save_stage(self, node_id: str, stage: str, payload: dict[str, Any], events: Sequence[Event] = ()) -> None:
        self._write("stage", lambda: self._put_stages(stage, {node_id: payload}), events)

    def save_stages(self, stage: str, payloads: Mapping[str, dict[str, Any]]) -> None:
        self._write("stages", lambda: self._put_stages(stage, payloads))

    def _put_stages(self, stage: str, payloads: Mapping[str, dict[str, Any]]) -> None:
        with self.db.transaction() as connection:
            rows = [
                {"node_id": node_id, "stage": stage, "payload": json.dumps(payload)}
                for node_id, payload in payloads.items()
            ]
            statement = insert(STAGES)
            connection.execute(
                statement.on_conflict_do_update(
                    index_elements=["node_id", "stage"], set_={"payload": statement.excluded.payload}
                ),
                rows,
            )

    def drop_stages(self, node_id: str, stages: Sequence[str]) -> None:
        """Forget stages of an open node, to run them again."""
        with self.db.transaction() as connection:
            connection.execute(delete(STAGES).where(STAGES.c.node_id == node_id, STAGES.c.stage.in_(stages)))

    def stages(self, node_id: str) -> dict[str, dict[str, Any]]:
        with self.db.transaction() as connection:
            rows = connection.execute(select(STAGES.c.stage, STAGES.c.payload).where(STAGES.c.node_id == node_id)).all()
        return {stage: json.loads(payload) for stage, payload in rows}

    def commit(self, nodes: Sequence[Node], events: Sequence[Event]) -> None:
        """Nodes get their place for good. Their stage rows go: what they held is on the node or in `calls`."""

        def facts() -> None:
            with self.db.transaction() as connection:
                connection.execute(insert(NODES), [node_values(self.db, node) for node in nodes])
                connection.execute(delete(STAGES).where(STAGES.c.node_id.in_([node.id for node in nodes])))

        if nodes:
            self._write("commit", facts, events)

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

    def why(self, node_id: str) -> dict[str, Any]:
        """What the policy said of its choice."""
        with self.db.transaction() as connection:
            found = connection.execute(select(TASKS.c.why).where(TASKS.c.node_id == node_id)).scalar()
        return dict(found or {})

    def rounds(self) -> int:
        """The number after the highest round that was opened."""
        with self.db.transaction() as connection:
            newest = connection.execute(select(func.max(TASKS.c.round))).scalar()
        return 0 if newest is None else int(newest) + 1

    # ------------------------------------------------------------ the seed's CandidateStore

    def save(self, node: Node) -> None:
        """Commit one node without an event of its own."""
        self.commit([node], [])

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
        rows = [{"key": key, "value": value} for key, value in values.items()]
        statement = insert(FACTS)
        with self.db.transaction() as connection:
            connection.execute(
                statement.on_conflict_do_update(index_elements=["key"], set_={"value": statement.excluded.value}), rows
            )

    def get_fact(self, key: str) -> Any | None:
        with self.db.transaction() as connection:
            return connection.execute(select(FACTS.c.value).where(FACTS.c.key == key)).scalar()

    # ------------------------------------------------------------ calls

    def find_call(self, request_hash: str, sample: str) -> CallRecord | None:
        query = select(CALLS).where(CALLS.c.request_hash == request_hash, CALLS.c.sample == sample)
        with self.db.transaction() as connection:
            row = connection.execute(query).mappings().first()
        return None if row is None else call_from_row(self.db, row)

    def hold_call(self, name: str, tokens: int, usd: float) -> None:
        self._write("hold", lambda: self._put_facts({_HELD + name: [tokens, usd]}))

    def drop_hold(self, name: str) -> None:
        with self.db.transaction() as connection:
            connection.execute(delete(FACTS).where(FACTS.c.key == _HELD + name))

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
                result = connection.execute(insert(CALLS).values(**values))
                if held:
                    self.drop_hold(held)
                key = result.inserted_primary_key
                shared = {name: values[name] for name in LLMCalled.model_fields.keys() & values.keys()}
                return [LLMCalled(call_id=int(key[0]) if key else 0, **shared)]

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
        with self.db.transaction() as connection:
            return connection.execute(select(GAMES.c.game).where(GAMES.c.key == key)).scalar()

    def put(self, key: str, game: dict[str, Any], events: Sequence[Event]) -> None:
        """Store a finished game with its events. `game` has at least white, black, result; generation where known."""

        def facts() -> None:
            with self.db.transaction() as connection:
                connection.execute(
                    insert(GAMES)
                    .values(
                        key=key,
                        seq=self._seq + len(events),
                        white=game["white"],
                        black=game["black"],
                        result=game["result"],
                        generation=game.get("generation"),
                        game=game,
                    )
                    .on_conflict_do_nothing()
                )

        self._write("game", facts, events)

    def all(self) -> list[dict[str, Any]]:
        with self.db.transaction() as connection:
            return list(connection.execute(select(GAMES.c.game).order_by(GAMES.c.seq)).scalars())
