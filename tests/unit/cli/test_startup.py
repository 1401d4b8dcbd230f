"""The main process of a search with `rules` loads nothing heavy before its first query."""

from __future__ import annotations

import pytest
from support.command_line import toy_words

from benchmarks.starts import HEAVY, modules_at_first_query


@pytest.mark.parametrize(
    "words",
    [toy_words(1), pytest.param(["--problem.name=diabetes", "search.max_steps=1"], marks=pytest.mark.long)],
    ids=["toy", "real"],
)
def test_no_heavy_module_before_the_first_query(tmp_path, words):
    assert modules_at_first_query(tmp_path, words) == []


@pytest.mark.long
def test_the_probe_sees_heavy_modules(tmp_path, monkeypatch):
    (tmp_path / "heavy.py").write_text("import numpy\nfrom support.plugins.toy import build\n")
    monkeypatch.setenv("PYTHONPATH", str(__import__("pathlib").Path(__file__).parents[2]))
    found = modules_at_first_query(tmp_path, ["problem.kind=heavy", "problem.plugins=.", "search.max_steps=1"])
    assert found == ["numpy"] and "numpy" in HEAVY
