"""`list-runs`: every run of the project folder."""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Callable, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from cli.options import count, project_dir_of
from cli.run_choice import NO_SUCH, add_choice_options, is_chosen, is_filtered
from cli.terminal.edge import edge, row_lines
from core.storage.held import WAITING
from reports.verdict_kind import IN_WORDS
from runs.run_folder import left_out, runs_above
from runs.stored.run_list import run_rows
from utils.clean_text import one_line
from utils.counts import dollars, duration, local, score
from utils.direction import Direction
from utils.errors import ConfigError
from utils.program import command

SORTS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "started": lambda row: row["started_at"] or "",
    "name": lambda row: row["run"],
    "problem": lambda row: row["problem"],
    "steps": lambda row: row["steps"],
    "cost": lambda row: row["cost_usd"] or 0.0,
    "seconds": lambda row: row["seconds"] or 0.0,
    "best": lambda row: (*_group(row), row["best_metric"] is not None, _fitness(row)),
}
BEST = "best"
"""Sorts within each problem: scores of different ones, in other units and directions, do not compare."""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser("list-runs", help="the runs of this folder: sorted, filtered")
    parser.add_argument(
        "--sort",
        choices=list(SORTS),
        default="started",
        help="`best`: best last, problem by problem (default: newest last)",
    )
    add_choice_options(parser)
    parser.add_argument(
        "--last", type=count, metavar="N", help="only the last N lines; with `--sort best` of each problem"
    )
    parser.add_argument("--json", action="store_true")


def run(args: argparse.Namespace) -> int:
    project_dir = project_dir_of(args)
    if not Path(project_dir).is_dir():
        raise ConfigError(f"project.dir={project_dir}: no such folder")
    known = run_rows(project_dir)
    for told in left_out(project_dir).values():
        print(f"note: {told}", file=sys.stderr)
    rows = [row for row in known if is_chosen(row, args)]
    rows.sort(key=SORTS[args.sort])
    groups = [list(group) for _, group in groupby(rows, _group)] if args.sort == BEST else [rows]
    if args.last:
        groups = [group[-args.last :] for group in groups]
    rows = [row for group in groups for row in group]
    if args.json:
        print("[" + ",\n ".join(map(json.dumps, rows)) + "]")  # a run a line
        return 0
    if not rows:
        none = (
            "no runs but archived ones: --archived lists them"
            if known
            else f"no runs yet{runs_above(project_dir)}; start one with `{command(project_dir)}`"
        )
        print(NO_SUCH if is_filtered(args) else none)
        return 0
    _print(rows, [f"{_goal(group[0])}, best last:" for group in groups] if len(groups) > 1 else [])
    return 0


def _group(row: dict[str, Any]) -> tuple[str, str, bool]:
    """Runs whose scores compare."""
    return row["problem"], row["unit"], row["lower_is_better"]


def _goal(row: dict[str, Any]) -> str:
    better = Direction(row["lower_is_better"]).word
    return one_line(f"{row['problem']} ({row['unit'] or 'metric'}, {better} is better)")


def _fitness(row: dict[str, Any]) -> float:
    return Direction(row["lower_is_better"]).fitness(row["best_metric"]) or 0.0


def _print(rows: list[dict[str, Any]], heads: Sequence[str] = ()) -> None:
    """As wide as the terminal: ids and scores are never cut. What does not fit is left out from the right; where not
    even the score fits, a run is some lines. By hand: a table of Rich takes a second for two thousand runs.

    Args:
        heads: stand above the runs of each problem, in the order of the rows.
    """
    cells = {name: [cell(row).replace("\n", " ") for row in rows] for name, cell in CELLS.items()}
    columns = _fitting(cells, edge())
    if any(cells["best"]) and "best" not in columns:
        blocks = [list(row_lines(FIRST, [cells[name][place] for name in FIRST])) for place in range(len(rows))]
        lines = ["", *("\n".join(block) for block in blocks)]
    else:
        lines = _aligned(columns)
    for number, row in enumerate(rows, 1):
        if reason := row.get("reason"):
            lines[number] += f"\n  {one_line(reason)}"
    firsts = [number for number, row in enumerate(rows, 1) if number == 1 or _group(row) != _group(rows[number - 2])]
    for number, head in zip(firsts if heads else (), heads, strict=True):
        lines[number] = f"\n{head}\n{lines[number]}"
    print("\n".join(lines if lines[0] else lines[1:]))


def _aligned(columns: dict[str, list[str]]) -> list[str]:
    """The head and a line a run."""
    padded = [
        [text.ljust(width) for text in (name, *cells)]
        for name, cells in columns.items()
        for width in [max(map(len, (name, *cells)))]
    ]
    return ["  ".join(cells).rstrip() for cells in zip(*padded, strict=True)]


def _best(row: dict[str, Any]) -> str:
    """With the way that is better, as on the page."""
    return f"{score(row['best_metric'])} {'↓' if row['lower_is_better'] else '↑'} {row['best_is']}".rstrip()


def _is_open(row: dict[str, Any]) -> bool:
    """True where the status says more than the verdict."""
    went_on = row["verdict"] == "reopened" and row["status"] in ("interrupted", WAITING)
    return row["status"] != "finished" and not went_on


CELLS: dict[str, Callable[[dict[str, Any]], str]] = {
    "run": lambda row: row["run"],
    "result": lambda row: row["status"] if _is_open(row) else IN_WORDS[row["verdict"]],
    "best": lambda row: "" if row["best_metric"] is None else _best(row),
    "final": lambda row: "" if row["final_metric"] is None else score(row["final_metric"]),
    "gain": lambda row: "" if row["gain"] is None else f"{row['gain']:+.3g}",
    "steps": lambda row: str(row["steps"]),
    "problem": lambda row: row["problem"],
    "started": lambda row: local(row["started_at"]),
    "writer": lambda row: row["writer"],
    "search time": lambda row: "" if row["seconds"] is None else duration(row["seconds"]),
    "cost": lambda row: "" if row["cost_usd"] is None else dollars(row["cost_usd"]),
    "tags": lambda row: " ".join(row["tags"]),
    "title": lambda row: row["title"],
}
"""Columns from left to right. `result` is the verdict of a run that has ended, else its status; one that had ended and
has gone on by hand since is `open again`."""
FIRST = ("run", "result", "best", "gain", "steps", "final")
"""Columns that a narrow terminal keeps before all others, the first one before all."""
GAP = 2
"""Blanks between two columns."""


def _fitting(columns: dict[str, list[str]], width: int | None) -> dict[str, list[str]]:
    """The columns that fit beside each other, all without an edge; one without any cell is left out."""
    kept: set[str] = set()
    left = math.inf if width is None else width + GAP
    for name in (*FIRST, *(name for name in columns if name not in FIRST)):
        cells = columns[name]
        wide = max(map(len, [name, *cells])) + GAP
        if any(cells) and (wide <= left or not kept):
            kept.add(name)
            left -= wide
    return {name: cells for name, cells in columns.items() if name in kept}
