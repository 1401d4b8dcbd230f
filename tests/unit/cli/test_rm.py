"""`rm` asks a person, who may give no answer."""

from __future__ import annotations

import io
import sys
from pathlib import Path

from cli.parser import main
from cli.rm import _agreed


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_only_yes_is_an_answer_and_ctrl_d_is_none(monkeypatch, capsys):
    for said, agreed in (("y\n", True), ("Yes\n", True), ("\n", False), ("no\n", False), ("", False)):
        monkeypatch.setattr(sys, "stdin", Terminal(said))
        assert _agreed([Path("logs/r")]) is agreed, repr(said)


def test_runs_are_chosen_as_the_list_chooses_them(tmp_path, monkeypatch, capsys):
    rows = [
        {"run": name, "problem": "tsp", "status": status, "tags": tags, "archived": archived}
        for name, status, tags, archived in (
            ("done", "finished", ["draft"], False),
            ("broke", "failed", ["draft"], False),
            ("away", "failed", ["draft"], True),
        )
    ]
    monkeypatch.setattr("cli.run_choice.run_rows", lambda folder: rows)
    monkeypatch.setattr("cli.rm.find_run", lambda folder, name: tmp_path / name)
    asked: list[list[str]] = []
    monkeypatch.setattr("cli.rm._agreed", lambda folders: asked.append([path.name for path in folders]))
    for words in (["--status=failed"], ["--tag=draft", "--archived"], ["done"]):
        assert main(["rm", *words, f"project.dir={tmp_path}"]) == 0
    assert asked == [["broke"], ["done", "broke", "away"], ["done"]]
    assert main(["rm", "--tag=none", f"project.dir={tmp_path}"]) == 0 and len(asked) == 3
    capsys.readouterr()
    for words, told in ((["done", "--tag=draft"], "not both"), ([], "which runs?"), (["--archived"], "which runs?")):
        assert main(["rm", *words, f"project.dir={tmp_path}"]) == 2
        assert told in capsys.readouterr().err
    assert len(asked) == 3
