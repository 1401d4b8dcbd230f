"""Commands that a user can type as they stand."""

from __future__ import annotations

import re
import shlex
import sys

import pytest
from support.command_line import toy_words

from cli.terminal.commands import without_model
from swarm_evo.language import in_python
from utils.program import SPOKEN, command, interpreter, program


@pytest.mark.parametrize(
    ("file", "typed", "shown"),
    [
        ("main.py", ["python", "main.py", "run"], "python main.py"),
        ("main.py", [".venv/bin/python", "main.py"], ".venv/bin/python main.py"),
        ("main.py", ["python3.13", "-X", "dev", "main.py"], "python3.13 main.py"),
        ("/my evo/main.py", ["/my env/python", "/my evo/main.py"], "'/my env/python' '/my evo/main.py'"),
        ("/our/main.py", ["/venv/bin/python", "/venv/bin/swarm-evo", "show"], "/venv/bin/swarm-evo"),
        ("/our/main.py", ["python3", "-P", "-m", "swarm_evo", "show"], "python3 -m swarm_evo"),
        ("pytest", ["python", "-m", "pytest"], "python main.py"),
    ],
)  # fmt: skip
def test_the_program_is_named_as_it_was_started(monkeypatch, file, typed, shown):
    """After `make run`, whose environment nobody has activated, the commands that it advised did not work."""
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.setattr(sys, "argv", [file])
    monkeypatch.setattr(sys, "orig_argv", typed)
    assert program() == shown and interpreter() == (typed[0] if file != "pytest" else "python")
    assert re.fullmatch(SPOKEN, shown)
    assert in_python(f"`{shown} resume r` goes on") == "`swarm_evo.resume(…)` goes on"


def test_an_installed_program_that_a_shell_finds_is_named_by_its_name(monkeypatch, tmp_path):
    (tmp_path / "swarm-evo").touch(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "argv", ["/our/main.py"])
    for typed in (["python", f"{tmp_path}/swarm-evo"], ["python", "-m", "swarm_evo"]):
        monkeypatch.setattr(sys, "orig_argv", typed)
        assert program() == "swarm-evo"


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
