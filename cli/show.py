"""`show`: one run or one node, for people and as JSON."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from cli.list_runs import best_of, status_of
from cli.options import add_run_argument, project_dir_of
from cli.terminal.explain import why
from core.storage.reader import RunReader
from runs.run_folder import find_run
from utils.errors import UnknownRunError


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser("show", help="one run, or one of its nodes")
    add_run_argument(parser)
    parser.add_argument("node", nargs="?", metavar="NODE", help="node id, or its first digits")
    parser.add_argument("--why", action="store_true", help="why this parent was chosen, and why the best is best")
    parser.add_argument("--json", action="store_true")


def run(args: argparse.Namespace) -> int:
    run_dir = find_run(project_dir_of(args), args.run)
    with RunReader(run_dir) as reader:
        facts = node_facts(reader, args.node) if args.node else run_facts(reader)
        if args.why:
            facts["why"] = why(reader, args.node)
    if args.json:
        print(json.dumps(facts, indent=2))
    elif args.node:
        from cli.terminal.show_text import print_node

        print_node(facts)
    else:
        from cli.terminal.show_text import print_run

        print_run(facts)
    if args.why and not args.json:
        from cli.terminal.show_text import print_why

        print_why(facts["why"])
    return 0


def print_run_json(run_dir: Path) -> None:
    with RunReader(run_dir) as reader:
        print(json.dumps(run_facts(reader), indent=2))


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
        "direction": "min" if facts.get("lower_is_better") else "max",
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
    journal = reader.journal(texts=False)
    current = journal[node.id]
    calls = reader.calls(node.id)
    return {
        **node.model_dump(mode="json"),
        "node_id": node.id,
        "metric": node.metric_value,
        "children_ids": list(current.children_ids),
        "visits": current.visits,
        "total_reward": current.total_reward,
        "calls": [call.model_dump(mode="json") for call in calls],
        "stages": node.metadata.get("stages", {}),
    }
