"""`list-runs`: every run of the project folder."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from cli.options import project_dir_of
from core.storage.reader import RunReader
from runs.run_folder import all_runs, is_held
from utils.errors import StoreError, UnknownRunError


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser("list-runs", help="the runs of this folder")
    parser.add_argument("--json", action="store_true")


def run(args: argparse.Namespace) -> int:
    rows = [row for path in all_runs(project_dir_of(args)) if (row := summary(path))]
    rows.sort(key=lambda row: row["started_at"] or "")
    if args.json:
        print(json.dumps(rows, indent=2))
        return 0
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    if not rows:
        print("no runs yet; start one with `python main.py`")
        return 0
    table = Table("run", "problem", "status", "started", "steps", "best", "writer", "cost")
    for row in rows:
        best = "" if row["best_metric"] is None else f"{row['best_metric']:.6g}"
        cost = "" if row["cost_usd"] is None else f"${row['cost_usd']:.4f}"
        started = (row["started_at"] or "")[:16].replace("T", " ")
        cells = (row["run"], row["problem"], row["status"], started, str(row["steps"]), best, row["writer"], cost)
        table.add_row(*map(Text, cells))
    console = Console()
    if not console.is_terminal:
        console.width = 200  # a file or a pipe has no edge to cut names at
    console.print(table)
    return 0


def summary(path: Path) -> dict[str, Any] | None:
    """The JSON object of one run; None for a folder that holds none. A store that cannot be read is named on stderr."""
    try:
        with RunReader(path) as reader:
            facts = reader.facts()
            if "run" not in facts:
                return None
            best = best_of(reader, facts)
            return {
                "run": path.name,
                "problem": facts.get("problem", ""),
                "status": status_of(path, facts),
                "started_at": facts.get("started_at"),
                "steps": reader.steps(),
                "best_metric": best[1],
                "lower_is_better": facts.get("lower_is_better", False),
                "writer": facts.get("writer", ""),
                "cost_usd": reader.cost()["cost_usd"],
            }
    except UnknownRunError:
        return None  # not begun: nothing to list
    except StoreError as error:
        print(f"swarm-evo: not listed: {' '.join(str(error).split())}", file=sys.stderr)
        return None


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
