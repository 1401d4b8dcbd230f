"""EventWriter: facts and their events in one transaction, numbered in one sequence; sinks are told after it."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic_core import PydanticSerializationError

from core.contracts import EventSink
from core.events import Event, NodeCommitted
from core.storage.database import DB_NAME, Database
from core.storage.fact_shapes import shaped
from core.storage.fault import FaultPoint
from core.storage.forms import insert
from core.storage.known import Known
from core.storage.rows import event_from_row, event_values
from core.storage.step_count import count_steps
from core.storage.unreadable import reads_store, unreadable
from utils.clean_text import whole_all
from utils.delayed_call import DelayedCall

_PAGE = 100
"""Events read at once."""
IN_A_SEARCH = 0.05
"""The delay of a search's store: in that time a quick one comes to its next transaction by itself."""


@dataclass(frozen=True, slots=True)
class _Write:
    """Facts and their events.

    Args:
        kind: for `core.storage.fault`.
        facts: writes them; may return further events, for those that quote what it wrote.
        node_ids: whose they are; () where that is of no account.
        is_awaited: a thread waits for it, and hears of it where it fails.
    """

    kind: str
    facts: Callable[[], Sequence[Event] | None]
    events: Sequence[Event] = ()
    node_ids: Collection[str] = ()
    is_awaited: bool = False


class EventWriter:
    """Owns the store's connection; everything that is written passes through `_write` or `_write_later`.

    Args:
        run_dir: the run's folder; made if missing.
        delay: seconds that what can be made again may wait for the next transaction; 0: it is stored at once.
        clock: tells the time of an event, UTC.
    """

    def __init__(
        self, run_dir: Path, *, delay: float = 0.0, clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        run_dir.mkdir(parents=True, exist_ok=True)
        self.run_dir = run_dir
        self.db = Database(run_dir / DB_NAME)
        self.sinks: list[EventSink] = []
        self._waiting: list[_Write] = []
        """What the next transaction stores, in order."""
        self._under_way: list[_Write] = []
        """What waited and is in the transaction under way."""
        self._queue = threading.Lock()
        """Of these lists alone: who adds to the first does not wait for a transaction under way."""
        self._storing = False
        """A transaction of ours is made ready: what comes to wait meanwhile stays behind what is in it."""
        self._to_tell: deque[Event] = deque()
        """Stored events that not all sinks have heard of."""
        self._heard = 0
        """So many sinks have heard of the first of them."""
        self._telling = False
        self._sink_fault: Exception | None = None
        """What a sink raised: raised in turn by the thread that leads the run, since elsewhere a write that is stored
        would pass for one that failed."""
        self._leader = threading.get_ident()
        self._soon = DelayedCall(self._store_waiting, delay) if delay else None
        self._clock = clock
        self._fault = FaultPoint()
        with unreadable(run_dir.name):
            self._seq = int(self.db.value("SELECT max(seq) FROM events") or 0)
            self._known = Known(self.db)
        self.db.before = self._store_waiting

    @property
    def name(self) -> str:
        """The run's name."""
        return self.run_dir.name

    @property
    def seq(self) -> int:
        """`seq` of the newest event."""
        return self._seq

    @property
    def journal_head(self) -> str:
        """The newest head of the chain: who knows it knows the whole run."""
        return self.db.head

    def close(self) -> None:
        """Store what waits, and let go of the file."""
        try:
            if self._soon is not None:
                self._soon.close()
            self.settle()
        finally:
            self.db.close()

    # ------------------------------------------------------------ events

    def append(self, events: Sequence[Event]) -> None:
        self._write("events", lambda: (), events)

    def _write(
        self,
        kind: str,
        facts: Callable[[], Sequence[Event] | None],
        events: Sequence[Event] = (),
        node_ids: Collection[str] = (),
    ) -> None:
        """What waits, these facts and their events, in one transaction; sinks are told after it, in order.

        While one thread stores, the writes of others gather, and the first of these stores them all.
        """
        write = _Write(kind, facts, events, node_ids, is_awaited=True)
        with self._queue:
            self._waiting.append(write)
        try:
            with self.db.lock:
                if self._is_waiting(write):
                    self._store_gathered(write)
        except BaseException:  # also of a stop while it waits for the others
            self._forget(write)
            raise
        self._tell_leader()

    def _store_gathered(self, own: _Write) -> None:
        """What waits, with `own`. Where that fails, once more without what other threads wait for: whose fault it is
        will hear of it.
        """
        try:
            self._store()
        except Exception:
            with self._queue:
                others = [write for write in self._waiting if write.is_awaited and write is not own]
                self._waiting = [write for write in self._waiting if not write.is_awaited or write is own]
            if not others:
                raise
            try:
                self._store()
            finally:
                with self._queue:
                    self._waiting = [*others, *self._waiting]

    def _is_waiting(self, write: _Write) -> bool:
        with self._queue:
            return any(one is write for one in self._waiting)

    def _forget(self, write: _Write) -> None:
        with self._queue:
            self._waiting = [one for one in self._waiting if one is not write]

    def _write_later(
        self,
        kind: str,
        facts: Callable[[], Sequence[Event] | None],
        events: Sequence[Event] = (),
        node_ids: Collection[str] = (),
    ) -> None:
        """As `_write`, with the next transaction or a little later: for what is made again if we are killed before.

        Whatever is asked of the store from here on finds it there.
        """
        if self._soon is None:
            self._write(kind, facts, events, node_ids)
            return
        with self._queue:
            self._waiting.append(_Write(kind, facts, events, node_ids))
        self._soon.ask()
        self._tell_leader()

    def settle(self) -> None:
        """Store what waits, and be sure that what another thread was storing is stored and told."""
        self._store_waiting()
        self._tell_leader()

    def _store_waiting(self) -> None:
        with self.db.lock:
            if self._waiting and not self._storing:
                self._store()

    def forget_waiting(self) -> None:
        """Let go of what waits for the next transaction, as a kill does: a disk has no room for it."""
        with self._queue:
            self._waiting = [write for write in self._waiting if write.is_awaited]

    def _tell_leader(self) -> None:
        if self._sink_fault is not None and threading.get_ident() == self._leader:
            fault, self._sink_fault = self._sink_fault, None
            raise fault

    def _waits(self, kind: str, node_id: str) -> bool:
        """True while such a write of this node is still to come, or not committed yet."""
        with self._queue:
            writes = [*self._under_way, *self._waiting]
        return any(write.kind == kind and node_id in write.node_ids for write in writes)

    def _drop_waiting(self, kind: str, node_ids: set[str]) -> None:
        """The facts of these writes are of no use any more; their events are told all the same."""
        with self._queue:
            self._waiting = [
                replace(write, facts=tuple)
                if write.kind == kind and write.node_ids and node_ids.issuperset(write.node_ids)
                else write
                for write in self._waiting
            ]

    def _store(self) -> None:
        with self.db.lock:
            writes: list[_Write] = []
            told: list[Event] = []
            before, head, self._storing = self._seq, self.db.head, True
            try:
                with self._queue:
                    writes, self._waiting = self._waiting, []
                    self._under_way = writes
                for write in writes:
                    self._fault.before(write.kind)
                with self.db.transaction() as connection:
                    told = [
                        self._number(event) for write in writes for event in (*write.events, *(write.facts() or ()))
                    ]
                    if told:
                        insert(connection, "events", self._values_of(told))
            except BaseException:
                if self.db.head == head:
                    with self._queue:
                        self._seq, self._waiting = before, [*writes, *self._waiting]
                else:  # it is stored: the user's stop came right behind its commit
                    self._to_tell.extend(told)
                raise
            finally:
                self._storing, self._under_way = False, []
            for write in writes:
                self._fault.after(write.kind)
            self._to_tell.extend(told)
            try:
                self._tell()
            except Exception as error:  # noqa: BLE001 - raised by who leads the run
                self._sink_fault = self._sink_fault or error

    def _values_of(self, told: list[Event]) -> list[dict[str, Any]]:
        """The rows of events. One with half characters, as in the name of a file that is no UTF-8 or in a message that
        a server cut, is told and stored without them: JSON has no form for it, and what shares its transaction would
        never be stored.
        """
        rows = []
        for place, event in enumerate(told):
            try:
                rows.append(event_values(event))
            except PydanticSerializationError:
                told[place] = type(event).model_validate(whole_all(event.model_dump()))
                rows.append(event_values(told[place]))
        return rows

    def _tell(self) -> None:
        """Tell the sinks, in order; what a sink stores while it is told is told behind what was stored before.

        Each hears of each event, once, whatever becomes of the others: the first fault is raised behind the last event,
        and what a stop leaves untold is told with what is stored next.
        """
        if self._telling:
            return
        self._telling = True
        fault: Exception | None = None
        try:
            while self._to_tell:
                while self._heard < len(self.sinks):
                    sink = self.sinks[self._heard]
                    self._heard += 1
                    try:
                        sink.emit(self._to_tell[0])
                    except Exception as error:  # noqa: BLE001 - raised below
                        fault = fault or error
                self._to_tell.popleft()
                self._heard = 0
        finally:
            self._telling = False
        if fault is not None:
            raise fault

    @reads_store
    def committed_events(self) -> list[NodeCommitted]:
        """All node.committed events, oldest first."""
        rows = self.db.rows("SELECT * FROM events WHERE type = 'node.committed' ORDER BY seq")
        return [event for row in rows if isinstance(event := event_from_row(row), NodeCommitted)]

    def newest_commits(self) -> Iterator[NodeCommitted]:
        """The same, newest first, read as they are asked for."""
        before = self._seq + 1
        query = "SELECT * FROM events WHERE type = 'node.committed' AND seq < ? ORDER BY seq DESC LIMIT ?"
        while True:
            with unreadable(self.name):
                rows = self.db.rows(query, (before, _PAGE))
                events = [event for row in rows if isinstance(event := event_from_row(row), NodeCommitted)]
            yield from events
            if len(rows) < _PAGE:
                return
            before = rows[-1]["seq"]

    @reads_store
    def steps(self) -> int:
        """Committed nodes that count as steps."""
        return count_steps(self.db)

    def _number(self, event: Event) -> Event:
        self._seq += 1
        return event.model_copy(update={"seq": self._seq, "at": self._clock()})

    # ------------------------------------------------------------ facts

    def put_fact(self, key: str, value: Any, events: Sequence[Event] = (), *, can_be_made_again: bool = False) -> None:
        self._known.facts.add(key)
        write = self._write_later if can_be_made_again else self._write
        write(f"fact:{key}", lambda: self._put_facts({key: value}), events)

    def put_facts(self, values: Mapping[str, Any], events: Sequence[Event] = (), *, kind: str = "facts") -> None:
        """Several facts and their events in one transaction. `kind`: for `core.storage.fault`."""
        self._write(kind, lambda: self._put_facts(values), events)

    def _put_facts(self, values: Mapping[str, Any]) -> None:
        self._known.facts.update(values)
        with self.db.transaction() as connection:
            rows = [{"key": key, "value": value} for key, value in values.items()]
            insert(connection, "facts", rows, "ON CONFLICT (key) DO UPDATE SET value = excluded.value")

    @reads_store
    def get_fact(self, key: str) -> Any | None:
        if key not in self._known.facts:
            return None
        return shaped(key, self.db.value("SELECT value FROM facts WHERE key = ?", (key,)))
