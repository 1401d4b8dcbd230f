"""metrics.json by generation: candidates are what the search wrote, and the plot shows the same numbers."""

from __future__ import annotations

import json

import pytest
from support.command_line import toy_words

from core.storage.reader import RunReader
from reports.series import by_generation


def test_metrics_and_plot_tell_the_same(cli):
    (cli.folder / "own.py").write_text("x = 2.5\n")
    words = [*toy_words(40, "initial=own.py"), "search.policy=islands", "search.num_islands=2", "search.per_island=4"]
    assert cli.here(*words).code == 0
    rows = json.loads((cli.run_dir / "metrics.json").read_text())
    with RunReader(cli.run_dir) as reader:
        drawn = by_generation(list(reader.journal()), lower_is_better=True)
    assert [row["num_candidates"] for row in rows] == [8] * 5, "the user's own program is no candidate"
    assert [(row["generation"], row["num_valid"]) for row in rows] == [(one.generation, one.valid) for one in drawn]
    for row, one in zip(rows, drawn, strict=True):
        assert row["top_k_avg_score"] == pytest.approx(one.top_k_average)
        assert row["avg_score"] == pytest.approx(one.average)
    assert any(row["top_k_avg_score"] < row["avg_score"] for row in rows)
