"""Commands that a user can type as they stand."""

from __future__ import annotations

import shlex
import sys

import pytest
from support.command_line import toy_words

from cli.terminal.commands import command, without_model
from utils.program import program


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("main.py", "python main.py"),
        ("/opt/swarm evo/main.py", "python '/opt/swarm evo/main.py'"),
        ("/usr/bin/swarm-evo", "swarm-evo"),
        ("pytest", "python main.py"),
    ],
)
def test_the_program_is_named_as_it_was_started(monkeypatch, typed, shown):
    monkeypatch.setattr(sys, "argv", [typed])
    assert program() == shown


def test_only_the_words_that_say_who_writes_are_left_out():
    words = ["run", "--problem", "llm_scaling", "--llm=rules", "--llm.code.model=m", "--llm", "rules", "--data.dir=llm"]
    assert without_model(words) == ["--problem", "llm_scaling", "--data.dir=llm"]


def test_the_project_folder_is_repeated_where_it_is_another(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert command(".", "show", "r").endswith(" show r")
    assert command(str(tmp_path), "show", "r").endswith(" show r")
    assert shlex.split(command("my runs", "show", "r"))[-1] == "--project.dir=my runs"


def test_what_a_run_advises_works_as_it_stands(cli):
    """Every `next:` line that names the run, typed again in the same folder."""
    ended = cli.here(*toy_words(2), "project.dir=elsewhere")
    advised = [line for line in ended.out.splitlines() if line.startswith("  python main.py show")]
    assert len(advised) == 1, ended.out
    shown = cli.here(*shlex.split(advised[0])[2:])
    assert shown.code == 0 and "best" in shown.out, shown.err
