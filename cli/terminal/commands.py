"""Commands as a user can type them next, in the folder where this one was typed."""

from __future__ import annotations

from collections.abc import Sequence

from utils.program import command


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


def interrupted_line(project_dir: str, run: str, best: str, how: str = "interrupted") -> str:
    """What a user reads whose run was interrupted, or broken off by what is not its own fault.

    Args:
        best: who leads and how, in words; '' before the first score.
    """
    go_on = command(project_dir, "resume", run)
    return f"{how}, everything is saved; {best or 'no score yet'}. Go on with: {go_on}"
