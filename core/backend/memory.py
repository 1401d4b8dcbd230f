"""A record of calls that lives in memory, for calls outside a run."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from core.contracts import CallRecord


class MemoryLog:
    """A `CallLog` that lives as long as the object. Thread-safe."""

    def __init__(self) -> None:
        self.records: dict[tuple[str, str], CallRecord] = {}
        self._lock = threading.Lock()

    def find_call(self, request_hash: str, sample: str) -> CallRecord | None:
        return self.records.get((request_hash, sample))

    def hold_call(self, name: str, tokens: int, usd: float) -> None:
        """Nothing outlives the object, so nothing is held."""

    def drop_hold(self, name: str) -> None:
        """Nothing is held."""

    def save_call(self, record: CallRecord, held: str = "", session: Sequence[CallRecord] = ()) -> None:
        with self._lock:
            self.records |= {(one.request_hash, one.sample): one for one in (*session, record)}
