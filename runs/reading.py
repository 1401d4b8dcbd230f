"""What is known of a stored run and of its nodes, as the JSON objects that `list-runs`, `show` and programs read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from core.executor.archive import archived_files
from core.search.statistics import counted_again
from core.storage.reader import RunReader
from core.storage.unreadable import unreadable
from runs.run_folder import is_held
from utils.direction import Direction
from utils.errors import UnknownRunError

UNREADABLE = "unreadable"
"""Status of a run whose store cannot be read."""


def summary(path: Path) -> dict[str, Any] | None:
    """The JSON object of one run in the list; None for a folder whose run has not begun.

    Raises:
        StoreError: its store cannot be read.
    """
    try:
        with unreadable(path.name), RunReader(path) as reader:
            facts = reader.facts()
            if "run" not in facts:
                return None
            _, best_metric = best_of(reader, facts)
            return {
                "run": path.name,
                "problem": str(facts.get("problem", "")),
                "status": status_of(path, facts),
                "started_at": str(facts.get("started_at") or "") or None,
                "steps": reader.steps(),
                "best_metric": best_metric,
                "lower_is_better": facts.get("lower_is_better", False),
                "writer": str(facts.get("writer", "")),
                "cost_usd": reader.cost()["cost_usd"],
            }
    except UnknownRunError:
        return None


def unreadable_row(path: Path, reason: str) -> dict[str, Any]:
    """The JSON object of a run whose store cannot be read: `status` is `unreadable`, and `reason` says why."""
    return {
        "run": path.name,
        "problem": "",
        "status": UNREADABLE,
        "started_at": None,
        "steps": 0,
        "best_metric": None,
        "lower_is_better": False,
        "writer": "",
        "cost_usd": None,
        "reason": " ".join(reason.split()),
    }


def status_of(path: Path, facts: dict[str, Any]) -> str:
    """`running` only while a live process holds the run; a run that was killed is `interrupted`."""
    status = str(facts.get("status", ""))
    return "interrupted" if status == "running" and not is_held(path) else status


def best_of(reader: RunReader, facts: dict[str, Any]) -> tuple[str | None, float | None]:
    """(node id, metric): the final choice once there is one, else the best so far."""
    final = facts.get("final") or {}
    if final.get("node_id") and facts.get("status") == "finished":
        node = reader.node(final["node_id"])
        if node is not None:
            return node.id, node.metric_value
    best = reader.best()
    return (best.id, best.metric_value) if best else (None, None)


def run_facts(reader: RunReader) -> dict[str, Any]:
    """The JSON object of a run."""
    facts = reader.facts()
    best_id, best_metric = best_of(reader, facts)
    best = reader.node(best_id) if best_id else None
    final = facts.get("final") or {}
    cost = reader.cost()
    journal = reader.journal()
    return {
        "run": reader.run_dir.name,
        "problem": facts.get("problem", ""),
        "status": status_of(reader.run_dir, facts),
        "started_at": facts.get("started_at"),
        "writer": facts.get("writer", ""),
        "unit": facts.get("unit", ""),
        "config": facts.get("config", {}),
        "direction": Direction(bool(facts.get("lower_is_better"))).optimum,
        "best_node_id": best_id,
        "best_metric": best_metric,
        "metric_source": best.metric_source if best else None,
        "final_metric": final.get("metric"),
        "final_interval": final.get("interval"),
        "final": final,
        "baselines": facts.get("baselines") or [],
        "steps": reader.steps(),
        "failures": reader.failures(),
        "tokens": None if cost["prompt_tokens"] is None else cost["prompt_tokens"] + (cost["completion_tokens"] or 0),
        "cached_tokens": None if cost["prompt_tokens"] is None else cost["cached_tokens"],
        "cost_usd": cost["cost_usd"],
        "elapsed": facts.get("active_seconds"),
        "sandbox": facts.get("sandbox", {}),
        "environment": facts.get("environment", {}),
        "journal_sha256": journal.sha256,
        "nodes": [
            {
                "node_id": node.id,
                "parent_ids": list(node.parent_ids),
                "operator": node.operator,
                "metric": node.metric_value,
                "failure": node.failure.value if node.failure else None,
                "duplicate_of": node.duplicate_of,
            }
            for node in journal
        ],
    }


def node_facts(reader: RunReader, node_id: str) -> dict[str, Any]:
    """The JSON object of a node: every field of Node, the calls and the stages."""
    node = reader.node(node_id)
    if node is None:
        raise UnknownRunError(
            f"run {reader.run_dir.name} has no node '{node_id}'; `show {reader.run_dir.name}` lists them"
        )
    journal = counted_again(reader.fact("config", {}).get("search", {}), lambda: reader.journal(texts=False))
    current = (journal or reader.journal(texts=False))[node.id]
    calls = reader.calls(node.id)
    return {
        **node.model_dump(mode="json"),
        "node_id": node.id,
        "metric": node.metric_value,
        "children_ids": list(current.children_ids),
        "visits": current.visits,
        "total_reward": current.total_reward,
        "metadata": {**node.metadata, **({"duplicate_of": node.duplicate_of} if node.duplicate_of else {})},
        "calls": [call.model_dump(mode="json") for call in calls],
        "archive": archived_files(reader.run_dir, node.id),
    }
