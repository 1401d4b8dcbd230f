"""Where a run comes from: the command that began it, and those that took it up again with other keys."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

RESUMED = "resumed"
"""Of the fact `origin`: the words of each resume that gave keys, oldest first."""

_LLM = "llm"


def taken_up(stored: Mapping[str, Any] | None, now: Mapping[str, Any]) -> dict[str, Any]:
    """The fact `origin` as the process of now leaves it.

    Args:
        stored: as the process before left it; None: this one begins the run.
        now: where this process comes from; `words`: as they were typed.
    """
    words = list(now.get("words") or ())
    if stored is None:
        return dict(now)
    return {**stored, RESUMED: [*stored.get(RESUMED, ()), words]} if _keys(words) else dict(stored)


def words_now(origin: Mapping[str, Any]) -> tuple[str, ...]:
    """The words that would begin the same search with the keys that are in force now; () where none were typed."""
    words = list(origin.get("words") or ())
    for resumed in origin.get(RESUMED) or () if words else ():
        if _LLM in _keys(resumed):  # it took the place of all that was said of models
            words = [word for word in words if not any(key.startswith("llm") for key in _keys([word]))]
        for key, word in _keys(resumed).items():
            place = next((n for n, known in enumerate(words) if key in _keys([known])), len(words))
            words[place : place + 1] = [word]
    return tuple(words)


def commands(origin: Mapping[str, Any], run: str) -> list[list[str]]:
    """The words of each command that made the run what it is: its first, and each resume that changed a key."""
    words = origin.get("words")
    if not isinstance(words, list):
        return []
    resumes = [["resume", run, *_keys(resumed).values()] for resumed in origin.get(RESUMED) or ()]
    return [list(map(str, words)), *resumes]


def _keys(words: list[str]) -> dict[str, str]:
    """Dotted key → the word that sets it; `llm` for the preset."""
    pairs = ((word.lstrip("-").partition("=")[0].removeprefix("presets."), word) for word in words if "=" in word)
    return {key: word for key, word in pairs if "." in key or key == _LLM}
