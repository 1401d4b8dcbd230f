"""CallStore: the record of what was asked of models, and what a request may still cost."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from sqlite3 import Connection
from typing import Any

from core.contracts import CallRecord
from core.events import Event, LLMCalled
from core.storage.event_writer import EventWriter
from core.storage.forms import digest, insert
from core.storage.holds import ANSWERED, FILE, Holds, held_facts
from core.storage.rows import call_from_row, call_values, stored_calls
from core.storage.unreadable import reads_store
from utils.shared_property import shared_property


class CallStore(EventWriter):
    """Implements `CallLog`."""

    def __init__(self, run_dir: Path, **options: Any) -> None:
        super().__init__(run_dir, **options)
        self._answered: set[str] = set()
        """Names of holds whose answers are stored and that are about to be let go of."""
        self._saved: set[str] = set()
        """Samples of the calls that this process saved."""

    @shared_property
    def _holds(self) -> Holds:
        holds = Holds(self.run_dir / FILE)
        for name in self.get_fact(ANSWERED) or ():
            holds.drop(str(name))
        return holds

    @shared_property
    def _began_with_calls(self) -> bool:
        """Whether there were calls when the first was looked for: a new run need not ask its store."""
        return bool(self.db.select("SELECT 1 FROM calls LIMIT 1"))

    @reads_store
    def find_call(self, request_hash: str, sample: str) -> CallRecord | None:
        saved = sample in self._saved
        if not saved and not self._began_with_calls:
            return None
        rows = self.db.rows(  # before schema 4 the hash lay in hex
            "SELECT * FROM calls WHERE substr(request_hash, 1, 4) IN (substr(?, 1, 4), substr(?, 1, 4)) AND sample = ?",
            (digest(request_hash), request_hash, sample),
            stored=not saved,  # what an earlier process asked lies there: nothing of ours has to be written first
        )
        found = next((row for row in rows if row["request_hash"] == request_hash), None)
        return None if found is None else call_from_row(self.db, found)

    def hold_call(self, name: str, tokens: int, usd: float) -> None:
        self._fault.before("hold")
        self._holds.add(name, tokens, usd)
        self._fault.after("hold")

    def drop_hold(self, name: str) -> None:
        self._holds.drop(name)

    @reads_store
    def held(self) -> list[tuple[int, float]]:
        """(tokens, dollars) at most of each request that left and whose answer was never stored."""
        return [*held_facts(self.db), *self._holds.all()]

    def save_call(self, record: CallRecord, held: str = "", session: Sequence[CallRecord] = ()) -> None:
        records = (*session, record)
        self._saved.update(one.sample for one in records)

        def facts() -> Sequence[Event]:
            with self.db.transaction() as connection:
                called = [self._put_call(connection, one) for one in records]
                if held:  # killed before the file says so, it is not counted twice
                    self._answered.add(held)
                    self._put_facts({ANSWERED: sorted(self._answered)})
                return called

        (self._write_later if record.can_be_made_again else self._write)("call", facts)
        if held:
            self.drop_hold(held)
            self._answered.discard(held)

    def _put_call(self, connection: Connection, record: CallRecord) -> LLMCalled:
        values = call_values(self.db, record)
        shared = {name: values[name] for name in LLMCalled.model_fields.keys() & values.keys()}
        return LLMCalled(call_id=insert(connection, "calls", [values]), **shared)

    def close(self) -> None:
        """Store what waits, and let go of the files."""
        super().close()
        if "_holds" in vars(self):
            self._holds.close()

    @reads_store
    def calls(self, node_id: str | None = None) -> list[CallRecord]:
        """All calls, or those of one node, in the order of their answers."""
        return stored_calls(self.db, node_id)

    def bills(self) -> list[tuple[int | None, int | None, float | None]]:
        """(prompt tokens, completion tokens, dollars) of the whole run: one row, or none before the first call."""
        return self.db.select("SELECT sum(prompt_tokens), sum(completion_tokens), sum(cost_usd) FROM calls")
