"""`rules` against AutoML on tables: FLAML, and LightGBM tuned by random search, in the same wall-clock time.

    python -m benchmarks.automl setup ENV                       an environment for the rivals; ours never holds them
    python -m benchmarks.automl run --rivals ENV [--seconds 60] [--splits 0,1,2,3,4] [--sets ames,churn] [--only flaml]
    python -m benchmarks.automl                                 the table of what has been measured so far

A cell is a set, a split (80 % of the rows to learn, 20 % to be scored on) and a time. A rival is told the time; the
search of `rules` is told 75 % of it, since its start, its final part and the winner's refit are within the time too:
what each took as a whole stands beside its score. Predictions are kept in `ENV/predictions`, so that a cell's missing
system is measured alone, and `--again` measures `rules` anew beside rivals that have not changed. Where predictions
of `rules` are gone, the score that the table holds is compared: such a gain has no error over rows, only one over
splits. Whole cells are skipped, splits are the outer loop, so a stop leaves an even table. `--boosters` lets `rules`
use the rivals' libraries too (`execution.python`).
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks._automl_sets import HELD_OUT, KEY, TABLES, Table
from benchmarks._automl_table import summary

HERE = Path(__file__).resolve().parent
MAIN = HERE.parent / "main.py"
RESULTS = HERE / "automl.jsonl"
RIVALS = ("flaml", "lightgbm")
SHARE = 0.75
"""Of the time, for the search; the rest is for its start, the final part and the refit."""
DRAWS = 300


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.automl", description=__doc__.partition("\n")[0])
    verbs = parser.add_subparsers(dest="verb")
    verbs.add_parser("setup").add_argument("env", type=Path)
    runs = verbs.add_parser("run")
    runs.add_argument("--rivals", type=Path, required=True, metavar="ENV")
    runs.add_argument("--seconds", type=float, default=60)
    runs.add_argument("--splits", type=_numbers, default=(0, 1, 2, 3, 4))
    runs.add_argument("--sets", type=_sets, default=tuple(TABLES))
    runs.add_argument("--only", choices=RIVALS)
    runs.add_argument("--again", action="store_true")
    runs.add_argument("--boosters", action="store_true")
    parser.add_argument("--results", type=Path, default=RESULTS)
    runs.add_argument("--results", type=Path, default=argparse.SUPPRESS)  # else it would undo what stands before it
    options = parser.parse_args(words)
    if options.verb == "setup":
        return _set_up(options.env)
    if options.verb == "run":
        return _run(options)
    print(summary(_read(options.results)))
    return 0


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(word) for word in text.split(","))


def _sets(text: str) -> tuple[str, ...]:
    unknown = set(text.split(",")) - set(TABLES)
    if unknown:
        raise argparse.ArgumentTypeError(f"unknown set {sorted(unknown)[0]!r}; allowed: {', '.join(TABLES)}")
    return tuple(text.split(","))


def _set_up(env: Path) -> int:
    subprocess.run([sys.executable, "-m", "venv", str(env)], check=True)
    packages = ("flaml[automl]", "lightgbm", "xgboost-cpu", "scikit-learn", "pandas")
    return subprocess.run([str(env / "bin/python"), "-m", "pip", "install", "-q", *packages], check=False).returncode


def _run(options: argparse.Namespace) -> int:
    rows = _read(options.results)
    systems = ["rules", *(name for name in RIVALS if options.only in (None, name))]
    for split in options.splits:
        for name in options.sets:
            cell = (name, split, options.seconds, options.boosters)
            same = [row for row in rows if _cell(row) == cell]
            known = {rival for row in same for rival in row["gain"]}
            if not options.again and known.issuperset(systems[1:]):
                continue
            now = measure(TABLES[name], split, options, systems, None if options.again or not same else same[-1])
            rows = merged(rows, now)
            options.results.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
            print(json.dumps(now), flush=True)
    return 0


def merged(rows: Sequence[dict[str, Any]], now: dict[str, Any]) -> list[dict[str, Any]]:
    """With what was measured now, in place of what was known of the same rivals in the same cell.

    Rivals that were measured against the same answer of `rules` stand in one row, others in one of their own.
    """
    found = []
    for row in rows:
        if _cell(row) == _cell(now):
            if row["score"]["rules"] == now["score"]["rules"]:
                now = now | {part: row[part] | now[part] for part in ("score", "took", "gain")}
                continue
            row = row | {"gain": {rival: gain for rival, gain in row["gain"].items() if rival not in now["gain"]}}
        if row["gain"]:
            found.append(row)
    return [*found, now]


def _cell(row: dict[str, Any]) -> tuple[str, int, float, bool]:
    return row["set"], row["split"], row["seconds"], row["boosters"]


def measure(
    table: Table, split: int, options: argparse.Namespace, systems: Sequence[str], known: dict[str, Any] | None = None
) -> dict[str, Any]:
    """One cell: scores and seconds of each system, and what `rules` gains over each rival with its standard error.

    Args:
        known: what was measured in this cell before; its score of `rules` stands where no predictions are kept.
    """
    with tempfile.TemporaryDirectory(prefix="automl-") as name:
        folder = Path(name)
        truth = write_split(table, split, folder)
        with (folder / "train.csv").open() as file:
            rows = sum(1 for _ in file) - 1
        found = {system: _found(system, table, split, options, folder, known) for system in systems}
    score = scorer(table.metric)
    predicted = {system: _array(one) for system, one in found.items() if "predicted" in one}
    scores = {system: found[system].get("score") or score(truth, predicted[system]) for system in systems}

    def gained(rival: str) -> dict[str, float]:
        if "rules" in predicted:
            return gain(table, truth, predicted["rules"], predicted[rival])
        return {"mean": _share(table, scores["rules"], scores[rival])}

    return {
        "set": table.name, "split": split, "seconds": options.seconds, "boosters": options.boosters,
        "cores": len(os.sched_getaffinity(0)), "day": f"{datetime.now(UTC):%Y-%m-%d}",
        "load": found["rules"]["load"], "metric": table.metric, "rows": rows, "steps": found["rules"]["steps"],
        "score": scores,
        "took": {system: one["took"] for system, one in found.items()},
        "gain": {name: gained(name) for name in systems if name != "rules"},
    }  # fmt: skip


def _found(
    system: str, table: Table, split: int, options: argparse.Namespace, folder: Path, known: dict[str, Any] | None
) -> dict[str, Any]:
    """What a system predicts, the seconds it took, the machine's load; from `ENV/predictions` where that is known, and
    of `rules` the score alone where the table has no more."""
    ours = system == "rules"
    beside = "-boosters" if ours and options.boosters else ""
    kept: Path = options.rivals / "predictions" / f"{table.name}-{split}-{options.seconds:g}-{system}{beside}.json"
    if kept.is_file() and not (ours and options.again):
        return dict(json.loads(kept.read_text(encoding="utf-8")))
    if ours and known:
        parts = {"score": known["score"]["rules"], "took": known["took"]["rules"]}
        return parts | {"load": known["load"], "steps": known["steps"]}
    python = options.rivals / "bin" / "python"
    if ours:
        found = search(table, split, options.seconds, folder, python if options.boosters else None)
    else:
        found = _ask(python, system, table, folder, options.seconds)
    found["load"] = round(os.getloadavg()[1], 1)
    kept.parent.mkdir(exist_ok=True)
    kept.write_text(json.dumps(found), encoding="utf-8")
    return found


def _array(found: dict[str, Any]) -> Any:
    """Numbers, or a column for each class."""
    import numpy as np

    values = np.array(found["predicted"], float)
    return values if values.shape[1] > 1 else values[:, 0]


def write_split(table: Table, split: int, folder: Path) -> Any:
    """`train.csv` and `test.csv`; the targets of the latter."""
    import numpy as np

    frame = table.read()
    if table.metric == "auc":
        first = sorted(frame[table.target].unique(), key=str)[0]
        frame[table.target] = (frame[table.target] != first).astype(int)
    drawn = np.random.default_rng(split).permutation(len(frame))
    cut = round((1 - HELD_OUT) * len(frame))
    train, test = (frame.iloc[np.sort(part)] for part in (drawn[:cut], drawn[cut:]))
    if table.metric == "logloss":
        test = test[test[table.target].isin(set(train[table.target]))]
    train.to_csv(folder / "train.csv", index=False)
    test.drop(columns=table.target).to_csv(folder / "test.csv", index=False)
    if table.metric != "logloss":
        return test[table.target].to_numpy(float)
    places = {name: place for place, name in enumerate(sorted(train[table.target].unique()))}
    return test[table.target].map(places).to_numpy()


def search(table: Table, seed: int, seconds: float, folder: Path, python: Path | None) -> dict[str, Any]:
    """Predictions of the winner of a search after its refit, the seconds of it all, and the steps."""
    import pandas as pd

    data, project = folder / "data", folder / "project"
    data.mkdir()
    for name in ("train.csv", "test.csv"):
        shutil.copy(folder / name, data)
    words = [f"--data.dir={data}", f"--data.target={table.target}", f"--data.metric={table.metric}"]
    words += [f"--project.dir={project}", f"--project.seed={seed}", "--search.max_steps=null", "--logging.view=quiet"]
    words += [f"--budget.seconds={SHARE * seconds}", "--logging.report=false", "--llm.code.provider=rules"]
    words += [f"--execution.python={python}"] if python else []
    started = time.monotonic()
    _main(words)
    _main(["export-best", "latest", "--refit", f"--out={folder / 'best'}", f"--project.dir={project}"])
    took = time.monotonic() - started
    shown = json.loads(_main(["show", "latest", "--json", f"--project.dir={project}"]))
    mine = pd.read_csv(folder / "best" / "submission.csv").set_index(KEY)
    mine = mine.loc[pd.read_csv(folder / "test.csv")[KEY]]
    return {"predicted": mine.to_numpy(float).tolist(), "took": took, "steps": int(shown["steps"])}


def _main(words: list[str]) -> str:
    done = subprocess.run([sys.executable, str(MAIN), *words], capture_output=True, text=True, timeout=3600)
    if done.returncode:
        raise SystemExit(f"main.py {' '.join(words)}: exit {done.returncode}: {done.stderr[-1000:]}")
    return done.stdout


def _ask(python: Path, system: str, table: Table, folder: Path, seconds: float) -> dict[str, Any]:
    import pandas as pd

    started = time.monotonic()
    words = [str(python), str(HERE / "_automl_rival.py"), system, str(folder), table.target, table.metric, str(seconds)]
    patient = {**os.environ, "OMP_WAIT_POLICY": "passive"}  # threads that spin for each other starve on a busy machine
    done = subprocess.run(words, capture_output=True, text=True, timeout=3600, env=patient)
    if done.returncode:
        raise SystemExit(f"{system} on {table.name}: {done.stderr[-1000:]}")
    found = pd.read_csv(folder / "predictions.csv").to_numpy(float)
    return {"predicted": found.tolist(), "took": time.monotonic() - started}


def scorer(metric: str) -> Any:
    """`score(truth, predicted)` as a number."""
    import numpy as np
    from sklearn.metrics import log_loss, roc_auc_score

    def rmsle(truth: Any, found: Any) -> float:
        return float(np.sqrt(np.mean((np.log1p(np.clip(found, 0, None)) - np.log1p(truth)) ** 2)))

    return {
        "rmsle": rmsle,
        "rmse": lambda truth, found: float(np.sqrt(np.mean((found - truth) ** 2))),
        "mae": lambda truth, found: float(np.mean(np.abs(found - truth))),
        "auc": lambda truth, found: float(roc_auc_score(truth, found)),
        "logloss": lambda truth, found: float(log_loss(truth, found, labels=range(found.shape[1]))),
    }[metric]


def gain(table: Table, truth: Any, ours: Any, theirs: Any) -> dict[str, float]:
    """How much better `rules` is, as a share of the rival's score (of what it lacks to 1 for AUC), and its standard
    error over rows that are drawn again."""
    import numpy as np

    score, rng = scorer(table.metric), np.random.default_rng(0)

    def share(rows: Any) -> float:
        return _share(table, score(truth[rows], ours[rows]), score(truth[rows], theirs[rows]))

    drawn = [rng.integers(0, len(truth), len(truth)) for _ in range(DRAWS)]
    whole = [share(rows) for rows in drawn if table.metric != "auc" or 0 < truth[rows].mean() < 1]
    return {"mean": share(np.arange(len(truth))), "error": float(np.std(whole))}


def _share(table: Table, mine: float, other: float) -> float:
    if not table.lower_is_better:
        mine, other = 1 - mine, 1 - other
    return (other - mine) / max(other, 1e-12)


def _read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.is_file() else []


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
