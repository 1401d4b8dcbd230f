"""The main process of a search with `rules` loads nothing heavy before its first query; forked ones are as others."""

from __future__ import annotations

import ast
import signal

import pytest
from support.command_line import ROOT, toy_words

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


@pytest.mark.parametrize("words", [["config", "budget.usd"], ["show", "latest"], ["nonsense"], ["run", "-h"]])
def test_a_forked_command_says_what_one_that_begins_anew_says(cli, words):
    """Else what tests see of `cli(…)` would be no user's command line."""
    assert cli(*words, COLUMNS="80") == cli.anew(*words, COLUMNS="80")


def test_a_forked_command_dies_of_a_signal_and_has_a_folder_and_environment_of_its_own(cli):
    assert cli(*toy_words(3), SWARM_EVO_FAULT="after:commit:1").code == -signal.SIGKILL
    assert cli("config", "search.batch", SWARM_EVO__SEARCH__BATCH="3").out.startswith("search.batch = 3")
    assert cli("config", "search.batch").out.startswith("search.batch = 2")
    assert [path.parent.parent for path in cli.runs] == [cli.folder]


@pytest.mark.parametrize("name, told", [("main.py", "swarm-evo: Python 3.11 or"), ("swarm_evo/__init__.py", "")])
def test_an_older_python_is_told_what_is_needed(name, told, monkeypatch, capsys):
    """Many systems' own `python3` is older; it ended in `'sys.flags' object has no attribute 'safe_path'`."""
    source = (ROOT / name).read_text()
    ast.parse(source, feature_version=(3, 7))
    assert name != "main.py" or "from __future__" not in source, "Python 3.6 knows no annotations of the future"
    code = compile(source, name, "exec")
    monkeypatch.setattr("sys.version_info", (3, 10, 13))
    with pytest.raises(SystemExit if told else ImportError, match="^2$" if told else r"needs Python 3\.11 or newer"):
        exec(code, {"__name__": "__main__", "__file__": name})
    assert capsys.readouterr().err.startswith(told)
