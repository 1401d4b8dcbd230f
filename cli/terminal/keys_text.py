"""Configuration keys as lines of the terminal."""

from __future__ import annotations

import json
import shutil
import textwrap
from collections.abc import Iterator, Mapping, Sequence

from utils.key_docs import KeyDoc

INDENT = "      "


def key_lines(docs: Sequence[KeyDoc], values: Mapping[str, object] | None = None) -> Iterator[str]:
    """`key = value`, and below it what is allowed and what it means, as wide as the terminal."""
    width = min(shutil.get_terminal_size((100, 24)).columns, 120)
    section = ""
    for doc in docs:
        if doc.key.partition(".")[0] != section:
            yield from ([""] if section else [])
            section = doc.key.partition(".")[0]
        value = doc.default if values is None else values[doc.key]
        changed = "" if values is None or value == doc.default else f"   (default {plain(doc.default)})"
        yield f"{doc.key} = {plain(value)}{changed}"
        yield from _wrapped(f"{doc.meaning} [{doc.allowed}]".strip(), width)


def plain(value: object) -> str:
    """As it would be typed."""
    return value if isinstance(value, str) and value else json.dumps(value, ensure_ascii=False, default=str)


def _wrapped(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, width, initial_indent=INDENT, subsequent_indent=INDENT)
