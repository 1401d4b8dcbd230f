"""`list-runs`: every run of the project folder."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from cli.options import project_dir_of
from cli.terminal.commands import program
from runs.reading import UNREADABLE, summary, unreadable_row
from runs.run_folder import all_runs
from utils.errors import StoreError


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser("list-runs", help="the runs of this folder")
    parser.add_argument("--json", action="store_true")


def run(args: argparse.Namespace) -> int:
    rows = [row for path in all_runs(project_dir_of(args)) if (row := _row(path))]
    rows.sort(key=lambda row: row["started_at"] or "")
    if args.json:
        print(json.dumps(rows, indent=2))
        return 0
    if not rows:
        print(f"no runs yet; start one with `{program()}`")
        return 0
    _print(rows)
    return 0


def _row(path: Path) -> dict[str, Any] | None:
    """The run's row. A run that cannot be read is listed with the reason: it hides neither itself nor the others."""
    try:
        return summary(path)
    except StoreError as error:
        return unreadable_row(path, str(error))


def _print(rows: list[dict[str, Any]]) -> None:
    from rich.table import Table
    from rich.text import Text

    from cli.terminal.console import VisibleConsole

    table = Table("run", "problem", "status", "started", "steps", "best", "writer", "cost")
    for row in rows:
        best = "" if row["best_metric"] is None else f"{row['best_metric']:.6g}"
        cost = "" if row["cost_usd"] is None else f"${row['cost_usd']:.4f}"
        started = (row["started_at"] or "")[:16].replace("T", " ")
        status = f"unreadable: {row['reason']}" if row["status"] == UNREADABLE else row["status"]
        cells = (row["run"], row["problem"], status, started, str(row["steps"]), best, row["writer"], cost)
        table.add_row(*map(Text, cells))
    console = VisibleConsole()
    if not console.is_terminal:
        console.width = 200  # a file or a pipe has no edge to cut names at
    console.print(table)
