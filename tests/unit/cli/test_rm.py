"""`rm` asks a person, who may give no answer."""

from __future__ import annotations

import io
import sys
from pathlib import Path

from cli.rm import _agreed


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_only_yes_is_an_answer_and_ctrl_d_is_none(monkeypatch, capsys):
    for said, agreed in (("y\n", True), ("Yes\n", True), ("\n", False), ("no\n", False), ("", False)):
        monkeypatch.setattr(sys, "stdin", Terminal(said))
        assert _agreed([Path("logs/r")]) is agreed, repr(said)
