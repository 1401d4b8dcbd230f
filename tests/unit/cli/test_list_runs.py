"""The list of runs on a narrow terminal: what says how a run did is kept."""

from __future__ import annotations

import pytest

from cli.list_runs import CELLS, _print
from reports.run_index import RunLine


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
    assert lines[0].split()[-2:] == ["-0.0363", "1200"] and longest in lines[0]
    assert [line[head.index("result") :].split("  ")[0] for line in lines] == [
        "better", "interrupted", "unconfirmed", "no gain",
    ]  # fmt: skip


def test_a_wide_terminal_shows_every_column_that_has_a_cell(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "250")
    _print([row("a")])
    head = capsys.readouterr().out.splitlines()[0].split()
    assert head == [name for name in CELLS if name not in ("seconds", "cost", "tags", "title")]
