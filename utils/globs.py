"""Patterns of paths: `src/**/*.py`, `docs/`, `*.toml`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache


def matches(path: str, patterns: Sequence[str]) -> bool:
    """True if any pattern names the path, or a folder above it.

    `*` and `?` stay within a name, `**` goes through any folders; a pattern is taken from the top folder.
    """
    return any(_compiled(pattern).fullmatch(path) for pattern in patterns)


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> re.Pattern[str]:
    text = pattern.strip().removeprefix("./").rstrip("/")
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", text)
    words = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return re.compile("".join(words.get(part, re.escape(part)) for part in parts) + "(?:/.*)?", re.DOTALL)
