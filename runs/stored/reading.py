"""What is known of a stored run and of its nodes, as the JSON objects that `show` and programs read."""

from __future__ import annotations

from typing import Any

from core.events import Warned
from core.executor.archive import archived_files
from core.search.statistics import counted_again
from core.state.change import against_parent
from core.state.noise import deviation_of, noise_in
from core.storage.held import status_of
from core.storage.labels import labels_of
from core.storage.numbering import numbering_of
from core.storage.reader import RunReader
from reports.choice import choice_table
from reports.conclusion import conclusion_of
from reports.named_node import named_node
from reports.ratings import ratings_of
from reports.search_limits import limits_now
from reports.winner import baselines_of, ratings_in
from utils.direction import Direction
from utils.patch import tree_patches, write_patch

MOST_WARNINGS = 5
HASHED_AT_ONCE = 10_000
"""Of a longer run that never ended `show` does not tell the hash of its nodes: a second for every seven thousand."""


def run_facts(reader: RunReader) -> dict[str, Any]:
    """The JSON object of a run."""
    facts = reader.facts()
    conclusion, ratings = conclusion_of(reader, facts), ratings_in(reader, facts)
    winner = conclusion.winner
    final = facts.get("final") or {}
    cost = reader.cost()
    return {
        "run": reader.run_dir.name,
        **labels_of(reader.run_dir).model_dump(mode="json", exclude={"archived"}),
        "problem": facts.get("problem", ""),
        "status": status_of(reader.run_dir, facts),
        "started_at": facts.get("started_at"),
        "writer": facts.get("writer", ""),
        "unit": facts.get("unit", ""),
        "config": facts.get("config", {}),
        "direction": Direction(bool(facts.get("lower_is_better"))).optimum,
        "best_node_id": winner and winner.node_id,
        "best_metric": winner and winner.metric,
        "metric_source": winner and winner.metric_source,
        "final_metric": winner and winner.final_metric,
        "final_interval": winner and winner.final_interval,
        "final": {key: value for key, value in final.items() if key != "program"}
        | ({"choice": choice_table(winner, facts)} if "choice" in final else {}),
        **conclusion.model_dump(mode="json"),
        "warnings": warnings_of(reader),
        "problem_note": str(facts.get("problem_note") or ""),
        "baselines": baselines_of(reader, facts),
        "steps": reader.steps(),
        "limits": limits_now(reader, paid=cost["cost_usd"] is not None),
        "failures": reader.failures(),
        "repaired": reader.repaired(),
        "tokens": None if cost["prompt_tokens"] is None else cost["prompt_tokens"] + (cost["completion_tokens"] or 0),
        "cached_tokens": None if cost["prompt_tokens"] is None else cost["cached_tokens"],
        "cost_usd": cost["cost_usd"],
        "held_usd": cost["held_usd"],
        "held_calls": cost["held_calls"],
        "machine_usd": machine_usd(facts),
        "elapsed": facts.get("active_seconds"),
        "sandbox": facts.get("sandbox", {}),
        "environment": facts.get("environment", {}),
        "journal_sha256": reader.journal_sha256(HASHED_AT_ONCE),
        "journal_head": reader.journal_head(),
        "nodes": [{**row, "metric": ratings.elo(row["node_id"], row["metric"])} for row in reader.outline()],
    }


def warnings_of(reader: RunReader) -> list[str]:
    """The last warnings of the run as a whole, as soon as they are known."""
    texts = [event.text for event in reader.events(types=["warning"], of_run=True) if isinstance(event, Warned)]
    return list(dict.fromkeys(texts))[-MOST_WARNINGS:]


def machine_usd(facts: dict[str, Any]) -> float | None:
    """Dollars of the machines over the seconds that the run was worked on; None where `usd_per_hour` is not set."""
    per_hour = ((facts.get("config") or {}).get("execution") or {}).get("usd_per_hour")
    return per_hour * (facts.get("active_seconds") or 0.0) / 3600 if per_hour else None


def changed_files(reader: RunReader, facts: dict[str, Any]) -> tuple[list[dict[str, Any]], str]:
    """(what a node's program changes of its base, an object a file, [] for a program that is one text; the diff).

    Of one text the difference is to the first parent's, or to nothing.
    """
    patches = tree_patches(facts["code"])
    if patches is not None:
        counted = [(patch, *patch.counts) for patch in patches]
        files = [{"path": p.path, "kind": p.kind, "added": more, "removed": less} for p, more, less in counted]
        return files, facts["code"].partition("\n")[2]
    parent = reader.node(facts["parent_ids"][0]) if facts["parent_ids"] else None
    return [], write_patch({"program": (parent.code if parent else None, facts["code"])})


def node_facts(reader: RunReader, name: str) -> dict[str, Any]:
    """The JSON object of a node: every field of Node, the calls and the stages. `name`: as `named_node` takes it."""
    node = ratings_of(reader).now(named_node(reader, name))
    config = reader.fact("config", {}).get("search", {})
    journal = counted_again(config, lambda: reader.journal(texts=False)) or reader.journal(texts=False)
    current = journal.get_node_by_id(node.id) or node
    calls = reader.calls(node.id)
    return {
        **node.model_dump(mode="json"),
        "node_id": node.id,
        "step": numbering_of(reader).step(node.id),
        "place": node.step,
        "metric": node.metric_value,
        "scores": len(node.repeats) or 1,
        "against_parent": against_parent(node),
        "noise": None if node.tournament else noise_in(node, deviation_of(journal)),
        "children_ids": list(current.children_ids),
        "visits": current.visits,
        "total_reward": current.total_reward,
        "metadata": {**node.metadata, **({"duplicate_of": node.duplicate_of} if node.duplicate_of else {})},
        "calls": [call.model_dump(mode="json") for call in calls],
        "archive": archived_files(reader.run_dir, node.id),
    }
