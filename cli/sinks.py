"""What is written beside the store while a run goes on: metrics files and the best solution so far."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cli.composition import Search
from core.events import Event, NodeCommitted
from core.storage.repository import RunStore
from utils.logger_system import MetricsLog


class MetricsSink:
    """metrics.json and metrics.csv: an object a step. Made anew from the store when a run is taken up again."""

    def __init__(self, run_dir: Path, store: RunStore) -> None:
        self._run = run_dir.name
        self._lower = bool(store.get_fact("lower_is_better"))
        self._log = MetricsLog(run_dir)
        self._log.restart(self._row(event) for event in store.committed_events())

    def emit(self, event: Event) -> None:
        if isinstance(event, NodeCommitted):
            self._log.append(self._row(event))

    def _row(self, event: NodeCommitted) -> dict[str, Any]:
        return {
            "run": self._run,
            "step": event.step,
            "node_id": event.node_id,
            "parent_id": event.parent_ids[0] if event.parent_ids else None,
            "operator": event.operator,
            "metric": event.metric,
            "metric_source": event.metric_source,
            "claimed_metric": event.claimed_metric,
            "lower_is_better": self._lower,
            "is_buggy": event.is_buggy,
            "is_valid": event.is_valid,
            "failure": event.failure.value if event.failure else None,
            "exec_time": event.exec_time,
            "best_metric": event.best_metric,
            "best_node_id": event.best_node_id,
            "writer": event.writer,
            "prompt_tokens": event.prompt_tokens,
            "completion_tokens": event.completion_tokens,
            "cost_usd": event.cost_usd,
            "elapsed": round(event.elapsed, 3),
        }


class BestSink:
    """best_solution/ follows the best so far, so that a run that dies leaves its best program behind."""

    def __init__(self, search: Search, run_dir: Path) -> None:
        self._search = search
        self._path = run_dir / "best_solution" / "solution.py"

    def emit(self, event: Event) -> None:
        if isinstance(event, NodeCommitted) and event.is_best:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._path.write_text(self._search.journal[event.node_id].code, encoding="utf-8")
