"""The list of runs on a narrow terminal: what says how a run did is kept."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cli.list_runs import CELLS, _print
from cli.parser import main
from reports.run_index import RunLine

ROOT = Path(__file__).resolve().parents[3]


def test_a_list_loads_no_database():
    """The nodes and their store took two thirds of its time, for the words of a verdict."""
    script = "import sys, cli.list_runs; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert not {"core.storage.database", "core.state.node", "core.events", "numpy"} & set(done.stdout.split())


def row(run, status="finished", verdict="better", **more):
    line = RunLine(run=run, problem="competition/house_prices", status=status, verdict=verdict, steps=1200)
    known = {"started_at": "2026-11-22T16:24:54", "best_metric": 0.0051713, "final_metric": 0.0051607, "gain": -0.0363}
    return {**line.model_dump(), "tags": [], "title": "", "archived": False, **known, "writer": "rules", **more}


@pytest.mark.parametrize("longest", ["weibull_5k-20261122-162454", "chess_engines-20261122-162454"])
def test_eighty_columns_hold_gain_and_steps(longest, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "80")
    rows = [row(longest), row("a", "interrupted", "open", gain=None), row("b", verdict="unconfirmed"),
            row("c", verdict="no_gain")]  # fmt: skip
    _print(rows)
    head, *lines = capsys.readouterr().out.splitlines()
    assert all(len(line) <= 80 for line in (head, *lines))
    assert {"run", "result", "best", "gain", "steps"} <= set(head.split())
    assert {"-0.0363", "1200", longest} <= set(lines[0].split())
    assert [line[head.index("result") :].split("  ")[0] for line in lines] == [
        "better", "interrupted", "unconfirmed", "no gain",
    ]  # fmt: skip


def test_a_wide_terminal_shows_every_column_that_has_a_cell(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "250")
    _print([row("a")])
    head = capsys.readouterr().out.splitlines()[0].split()
    assert head == [name for name in CELLS if name not in ("search time", "cost", "tags", "title")]


def test_where_not_even_the_score_fits_a_run_is_some_lines(monkeypatch, capsys):
    """Forty columns held the run and its verdict alone; scores have the six digits of the page."""
    rows = [row("chess_engines-20261122-162454"), row("b", best_metric=1234.5678, lower_is_better=True)]
    monkeypatch.setenv("COLUMNS", "40")
    _print(rows)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"run {rows[0]['run']}" and "  best    0.0051713 ↑" in lines and "  best    1234.57 ↓" in lines
    assert all(len(line) <= 40 for line in lines)


def test_a_run_began_by_the_clock_on_the_wall(monkeypatch, capsys):
    """The list told UTC beside names that hold the local time, which the page tells."""
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    try:
        _print([row("a", started_at="2026-11-22T16:24:54+00:00", seconds=125.2)])
    finally:
        monkeypatch.undo()
        time.tzset()
    told = capsys.readouterr().out
    assert "2026-11-23 01:24" in told and "2 min 05 s" in told


def test_the_best_is_last_within_its_problem(tmp_path, monkeypatch, capsys):
    """Scores of other problems, units and directions do not compare: each problem has a head of its own."""
    rows = [
        row("worse", problem="tsp", unit="length", lower_is_better=True, best_metric=9.0),
        row("elo", problem="chess", unit="Elo", lower_is_better=False, best_metric=100.0),
        row("better", problem="tsp", unit="length", lower_is_better=True, best_metric=3.0),
        row("none", problem="tsp", unit="length", lower_is_better=True, best_metric=None),
    ]
    monkeypatch.setattr("cli.list_runs.run_rows", lambda folder: list(rows))
    words = ["list-runs", "--sort=best", f"project.dir={tmp_path}"]
    assert main(words) == 0
    told = [line.split()[0] for line in capsys.readouterr().out.splitlines() if line]
    assert told == ["run", "chess", "elo", "tsp", "none", "worse", "better"]
    assert main([*words, "--last=1", "--json"]) == 0
    assert [one["run"] for one in json.loads(capsys.readouterr().out)] == ["elo", "better"]
    assert main([*words, "--problem=tsp"]) == 0
    assert "best last" not in capsys.readouterr().out


def test_a_list_of_archived_runs_says_where_they_are(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("cli.list_runs.run_rows", lambda folder: [row("put-away", archived=True)])
    assert main(["list-runs", f"project.dir={tmp_path}"]) == 0
    assert "--archived" in capsys.readouterr().out
    monkeypatch.setattr("cli.list_runs.run_rows", lambda folder: [])
    assert main(["list-runs", f"project.dir={tmp_path}"]) == 0
    assert "no runs yet" in capsys.readouterr().out
