"""What the settings of a sweep are called, wherever people see them."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

Setting = tuple[str, ...]
_CONTROL = re.compile(r"search\.control=1(\.0)?")
"""All steps of it are drawn without knowing what the search has found."""


def setting_names(settings: Sequence[Setting]) -> dict[Setting, str]:
    """Name of each setting: its words without the sections of their keys, `policy=mcts`; `the defaults` for no word.

    Where two keys of the sweep end alike, both keep what parts them: `code.model=a feedback.model=b`.
    """
    keys = {_key(word) for setting in settings for word in setting}
    short = {key: _shortest(key, keys) for key in keys}
    return {setting: " ".join(_name(word, short) for word in setting) or "the defaults" for setting in settings}


def _key(word: str) -> str:
    return word.partition("=")[0]


def _name(word: str, short: dict[str, str]) -> str:
    if _CONTROL.fullmatch(word):
        return "independent draws"
    key, equals, value = word.partition("=")
    return f"{short[key]}{equals}{value}"


def _shortest(key: str, keys: Collection[str]) -> str:
    """The shortest end of the key that none of the others has."""
    parts = key.split(".")
    ends = (".".join(parts[-length:]) for length in range(1, len(parts) + 1))
    others = [f".{other}" for other in keys if other != key]
    return next((end for end in ends if not any(other.endswith(f".{end}") for other in others)), key)
