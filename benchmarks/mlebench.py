"""python -m benchmarks.mlebench [CHECKOUT] [--data DIR] [--page FILE]: which competitions of MLE-bench work here.

CHECKOUT is a clone of openai/mle-bench (or its `mlebench/competitions`); without it, `MLEBENCH` in the environment or
the installed package. Each competition's `grade.py` and `prepare.py` are imported as a run would, in a process of their
own. Where DIR (MLE-bench's own cache, unless it is named) holds the competition's data, they are prepared and the
sample submission is graded: only then it `runs`. The table is kept in docs/mlebench.md.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import multiprocessing
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks._mlebench_one import look
from benchmarks._mlebench_page import KINDS, Row, page
from utils.metric_kinds import KINDS as METRICS
from utils.metric_kinds import grader_kind, metric_kind
from utils.user_path import user_path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "mlebench.md"
CACHE = user_path("~/.cache/mle-bench/data")
NO_CHECKOUT = (
    "no checkout of MLE-bench: git clone https://github.com/openai/mle-bench, then python -m benchmarks.mlebench "
    "mle-bench (or MLEBENCH=mle-bench make bench); the table of the last run is in docs/mlebench.md"
)
LIMIT = 1800
PRELOADED = ("pandas", "scipy.special", "sklearn.metrics", "sklearn.model_selection")
"""Imported once, before the processes part."""


@dataclass(frozen=True, slots=True)
class Task:
    """One competition's folder, and its data where they are here."""

    folder: Path
    data: Path | None


def competitions_of(checkout: str | None) -> Path | None:
    """`mlebench/competitions` of what was named, of the environment's, of the installed package; None without any."""
    named = checkout or os.environ.get("MLEBENCH")
    if named is None:
        try:
            spec = importlib.util.find_spec("mlebench")
        except ValueError:  # a stand-in of ours, where a grader was loaded in this process
            spec = None
        places = [Path(place) for place in spec.submodule_search_locations or ()] if spec else []
    else:
        places = [user_path(named)]
    inside = [place / more for place in places for more in ("mlebench/competitions", "competitions", "")]
    return next((folder.resolve() for folder in inside if any(folder.glob("*/grade.py"))), None)


def row_of(task: Task) -> Row:
    """What is found out about a competition, in a process of its own: their modules and stand-ins must not meet."""
    told = look(task.folder, task.data)
    return Row(task.folder.name, graded_by(told["grader"]), told["kind"], told["why"])


def graded_by(name: str) -> str:
    """The grader's name, what we call that metric, and which way is better by it."""
    kind = grader_kind(name)
    if kind is None:
        return f"{name}, direction unknown"
    known = METRICS[kind.name].label if kind.name in METRICS else kind.label if metric_kind(name) else ""
    arrow = "↓" if kind.lower_is_better else "↑"
    return f"{name} ({known}) {arrow}" if known and known.lower() != name.lower() else f"{name} {arrow}"


def rows_of(folders: list[Path], data: Path) -> Iterator[Row]:
    """One row a competition, in order; progress goes to stderr."""
    tasks = [Task(folder, data / folder.name if (data / folder.name).is_dir() else None) for folder in folders]
    for name in PRELOADED:
        importlib.import_module(name)
    with multiprocessing.get_context("fork").Pool(2, maxtasksperchild=1) as pool:
        waiting = [pool.apply_async(row_of, (task,)) for task in tasks]
        for number, (task, asked) in enumerate(zip(tasks, waiting, strict=True), 1):
            try:
                row = asked.get(LIMIT)
            except multiprocessing.TimeoutError:
                row = Row(task.folder.name, "", "cannot", f"no answer within {LIMIT} s")
            print(f"{number} of {len(folders)}: {row.name}: {row.told}", file=sys.stderr, flush=True)
            yield row


def commit_of(folder: Path) -> str:
    done = subprocess.run(
        ["git", "-C", str(folder), "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False
    )
    return done.stdout.strip()


def main(words: list[str]) -> int:
    """Print the counts, keep the table; exit 1 if one competition cannot be used, whatever is given."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mlebench")
    parser.add_argument("checkout", nargs="?", help="a clone of openai/mle-bench")
    parser.add_argument("--data", type=Path, default=CACHE, help="NAME/raw or NAME/prepared of each competition")
    parser.add_argument("--page", type=Path, default=PAGE, help="where the table is kept")
    given = parser.parse_args(words)
    place = competitions_of(given.checkout)
    if place is None:
        print(f"{given.checkout}: no competitions in it" if given.checkout else NO_CHECKOUT)
        return 2 if given.checkout else 0
    rows = list(rows_of(sorted(path.parent for path in place.glob("*/grade.py")), given.data))
    day = time.strftime("%Y-%m-%d", time.gmtime())
    given.page.write_text(page(rows, day, commit_of(place)), encoding="utf-8")
    counts = Counter(row.kind for row in rows)
    print(f"{len(rows)} competitions: " + ", ".join(f"{counts[kind]} {said}" for kind, said in KINDS.items()))
    for row in rows:
        if row.kind == "cannot":
            print(f"{row.name}: {row.told}")
    print(f"table: {given.page.relative_to(ROOT) if given.page.is_relative_to(ROOT) else given.page}")
    return 1 if counts["cannot"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
