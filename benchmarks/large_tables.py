"""Tables of a million rows and more: what preparing them takes, and what `rules` finds in 300 s beside its baselines.

    python -m benchmarks.large_tables run --rows 1000000 [--seconds 300]  make such a table, measure, keep what is found
    python -m benchmarks.large_tables                                     the table of what has been measured so far

Memory is the largest process's peak; seconds of preparing are wall-clock and, of all processes, processor time. The
data are seven columns of numbers and a category, with ids from three million rows on, and a target with noise.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
MAIN = HERE.parent / "main.py"
RESULTS = HERE / "large_tables.jsonl"
PIECE = 500_000
WITH_IDS = 3_000_000


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.large_tables", description=__doc__.partition("\n")[0])
    runs = parser.add_subparsers(dest="verb").add_parser("run")
    runs.add_argument("--rows", type=int, required=True)
    runs.add_argument("--seconds", type=float, default=300)
    options = parser.parse_args(words)
    if options.verb == "run":
        row = measure(options.rows, options.seconds)
        with RESULTS.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
    print(summary([json.loads(line) for line in RESULTS.read_text(encoding="utf-8").splitlines()]))
    return 0


def write_table(rows: int, path: Path) -> int:
    """Write the table in pieces; how many columns it has."""
    import numpy as np
    import pandas as pd

    draw = np.random.default_rng(1)
    effect = draw.normal(0, 1, 40)
    for start in range(0, rows, PIECE):
        count = min(PIECE, rows - start)
        a, e = draw.normal(size=(2, count))
        b, c = draw.uniform(-2, 2, count), draw.exponential(1, count)
        d, town = draw.integers(0, 50, count), draw.integers(0, 40, count)
        y = np.sin(2 * a) * b + 0.5 * np.log1p(c) * effect[town] + 0.3 * (d % 7) + 0.2 * e * a
        numbers = {"a": a, "b": b, "c": c, "e": e, "y": y + draw.normal(0, 0.5, count)}
        ids = {"id": np.arange(start, start + count)} if rows >= WITH_IDS else {}
        piece = pd.DataFrame({**ids, **{name: values.round(4) for name, values in numbers.items()}, "d": d})
        piece = piece.assign(town=[f"town{place}" for place in town], g=draw.integers(0, 1000, count) / 10)
        piece.to_csv(path, index=False, mode="a", header=start == 0)
    return len(piece.columns)


def measure(rows: int, seconds: float) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="large-") as name:
        folder = Path(name)
        (folder / "data").mkdir()
        columns = write_table(rows, folder / "data" / "train.csv")
        words = [f"--data.dir={folder / 'data'}", "--data.target=y", "--data.metric=rmse", f"--project.dir={folder}"]
        before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        _called(["--plan", *words])
        wall, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
        _called([f"--budget.seconds={seconds:g}", *words])
        shown = json.loads(_called(["show", "latest", "--json", f"--project.dir={folder}"]))
        used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return {
            "rows": rows, "columns": columns, "seconds": seconds, "day": f"{datetime.now(UTC):%Y-%m-%d}",
            "load": round(os.getloadavg()[1], 1), "mb": round(after.ru_maxrss / 1024), "cpu": round(used),
            "wall": round(wall), "steps": shown["steps"], "best": shown["best_metric"],
            "baselines": {line["name"]: line["metric"] for line in shown["baselines"]},
        }  # fmt: skip


def _called(words: Sequence[str]) -> str:
    done = subprocess.run([sys.executable, str(MAIN), *words], capture_output=True, text=True, check=True)
    return done.stdout


def summary(rows: Sequence[dict[str, Any]]) -> str:
    head = (
        f"{'rows':>11s} {'columns':>8s} {'load':>5s} {'MB':>6s} {'CPU s':>6s} {'wall s':>7s} {'steps':>6s} {'RMSE':>8s}"
    )
    lines = [f"preparing, then rules for 300 s unless told; {rows[-1]['day'] if rows else ''}", f"{head}   baselines"]
    for row in rows:
        beside = ", ".join(f"{name} {score:.4f}" for name, score in row["baselines"].items())
        lines.append(
            f"{row['rows']:11,d} {row['columns']:8d} {row['load']:5.1f} {row['mb']:6,d} {row['cpu']:6,d} "
            f"{row['wall']:7,d} {row['steps']:6d} {row['best']:8.4f}   {beside}"
            + ("" if row["seconds"] == 300 else f" ({row['seconds']:g} s)")
        )
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
