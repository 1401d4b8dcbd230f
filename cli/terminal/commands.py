"""Commands as a user can type them next, in the folder where this one was typed."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from utils.program import program


def without_model(words: Sequence[str]) -> list[str]:
    """The words of a run as they were typed, but for those that say who writes: the problem stays the user's own."""
    kept, skip = [], False
    for word in words:
        name = word.lstrip("-")
        if skip or name == "llm" or name.startswith(("llm=", "llm.", "presets.llm=")):
            skip = word == "--llm"
        elif word != "run" and name != "json" and "********" not in word:
            kept.append(word)
    return kept


def command(project_dir: str, *words: str) -> str:
    """The program with `words`, and with `--project.dir` where that is not the current folder."""
    elsewhere = [] if Path(project_dir).resolve() == Path.cwd() else [f"--project.dir={shlex.quote(project_dir)}"]
    return " ".join([program(), *words, *elsewhere])


def interrupted_line(project_dir: str, run: str, best: str, how: str = "interrupted") -> str:
    """What a user reads whose run was interrupted, or broken off by what is not its own fault.

    Args:
        best: who leads and how, in words; '' before the first score.
    """
    go_on = command(project_dir, "resume", run)
    return f"{how}, everything is saved; {best or 'no score yet'}. Go on with: {go_on}"
