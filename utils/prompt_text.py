"""Texts in prompts: what a token is, a text within so many bytes, a text of somebody else's as a fenced block."""

from __future__ import annotations

import re

from utils.counts import counted

BYTES_PER_TOKEN = 4
"""Rule of thumb for English text and code; UTF-8 makes other scripts count more, as tokenizers do."""


def shorten(text: str, limit: int, *, head: float = 0.5) -> str:
    """`text` within `limit` bytes: its beginning (`head` of what stays) and its end, with a note between."""
    raw = text.encode()
    if len(raw) <= limit:
        return text
    note = f"\n[… {counted(len(raw) - limit, 'byte', form=',')} left out …]\n"
    keep = limit - len(note.encode())
    if keep <= 0:
        return raw[: max(0, limit)].decode(errors="ignore")
    first = raw[: int(keep * head)].decode(errors="ignore")
    last = raw[len(raw) - (keep - int(keep * head)) :].decode(errors="ignore")
    return first + note + last


def fence(text: str, language: str = "") -> str:
    """`text` as a fenced block whose fence is longer than any run of backticks inside."""
    longest = max(map(len, re.findall(r"`{3,}", text)), default=2) if "```" in text else 2
    marks = "`" * (longest + 1)
    return f"{marks}{language}\n{text.rstrip()}\n{marks}"


def closed(text: str) -> str:
    """A text that was cut, with the end of the fenced block that it was cut in."""
    opened = ""
    for marks in re.findall(r"^(`{3,})[^`\n]*$", text, re.MULTILINE):
        opened = "" if opened and marks.startswith(opened) else opened or marks
    return f"{text.rstrip()}\n{opened}" if opened else text


def fenced_data(text: str) -> str:
    """`text` of a program or a model as a fenced block, so that it is not read as a part of the prompt; '' stays ''."""
    return fence(text) if text.strip() else ""
