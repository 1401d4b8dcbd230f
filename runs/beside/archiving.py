"""Keeps what programs left in their workspaces for the best and the newest nodes, and removes the rest as it goes."""

from __future__ import annotations

from pathlib import Path

from core.events import Event, NodeCommitted
from core.executor.archive import RunArchive
from core.storage.repository import RunStore
from utils.config_execution import ExecutionConfig


class ArchiveSink:
    """Implements `EventSink`."""

    def __init__(self, run_dir: Path, store: RunStore, execution: ExecutionConfig) -> None:
        self._archive = RunArchive(
            run_dir,
            best=execution.archive_best,
            newest=execution.archive_newest,
            lower_is_better=bool(store.get_fact("lower_is_better")),
        )
        self._archive.restore(store.leading_and_newest(execution.archive_best, execution.archive_newest))

    def emit(self, event: Event) -> None:
        if isinstance(event, NodeCommitted):
            self._archive.add(event.node_id, event.metric)
