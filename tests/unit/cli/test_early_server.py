"""The sandbox's server is the first thing that a verb begins with, before what reads its configuration is loaded."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from cli.early_server import _about, early_server
from core.executor import early as module

ROOT = Path(__file__).parents[3]
PROBE = """
import os, sys
sys.path.insert(0, {root!r})
import core.executor.early as early
def made(state_dir, about):
    print([name for name in ("omegaconf", "pydantic", "cli.run", "utils.config") if name in sys.modules])
    sys.stdout.flush()
    os._exit(0)
early.EarlyServer = made
from cli.parser import main
main([])
"""


@pytest.fixture
def places(monkeypatch):
    """Folders of states that a server was looked for in."""
    found: list[Path] = []

    class Noted:
        def __init__(self, state_dir, about):
            found.append(state_dir)

        def close(self):
            found.append(None)

    monkeypatch.setattr(module, "EarlyServer", Noted)
    return found


def test_it_starts_before_the_configuration_can_be_read():
    done = subprocess.run(
        [sys.executable, "-c", PROBE.format(root=str(ROOT))], capture_output=True, text=True, timeout=60
    )
    assert done.stdout.strip() == "[]", done.stdout + done.stderr


@pytest.mark.parametrize("words", [[], ["--problem", "tsp"], ["search.max_steps=1"], ["run"], ["resume", "latest"]])
def test_verbs_that_run_programs_have_one(words, places, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with early_server(words) as early:
        assert early is not None
    assert places == [tmp_path / "workspaces", None]


@pytest.mark.parametrize("words", [["list-runs"], ["show", "latest"], ["run", "-h"], ["--plan"], ["step", "--dry-run"]])
def test_others_have_none(words, places):
    with early_server(words) as early:
        assert early is None
    assert places == []


@pytest.mark.parametrize(
    "words, about",
    [
        ([], ""),
        (["search.max_steps=3", "--llm=rules"], ""),
        (["--problem", "tsp", "project.seed=3"], "--problem tsp"),
        (["run", "execution.python=/a", "--problem=tsp"], "--problem=tsp execution.python=/a"),
        (["--data.dir=x", "--config", "a.yaml"], "--config a.yaml --data.dir=x"),
    ],
)
def test_it_goes_by_the_words_that_say_what_the_sandbox_is_for(words, about):
    assert _about(words) == about


def test_it_lies_where_the_words_or_the_environment_say(places, tmp_path, monkeypatch):
    monkeypatch.setenv("SWARM_EVO__PROJECT__DIR", str(tmp_path / "a"))
    for words in ([], ["run", f"--project.dir={tmp_path / 'b'}"]):
        with early_server(words):
            pass
    assert places[::2] == [tmp_path / "a" / "workspaces", tmp_path / "b" / "workspaces"]
