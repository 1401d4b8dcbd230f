"""Text that a program, a model or a stranger wrote, made safe to store, to print and to put into a prompt.

A terminal obeys control characters: they can clear the screen, forge lines and fill the clipboard. Marks that turn the
direction of text, and characters that nobody sees, make a reader see another text than a machine.
"""

from __future__ import annotations

import re
from typing import Any

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
LONGEST_LINE = 1000
"""Characters of a message."""

_BREAKS = re.compile("\r\n|[\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
"""What some program or other takes for the end of a line."""
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff"  # controls, half characters
    "\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069"  # direction marks, separators
    "\u00ad\u115f\u1160\u180e\u200b\u2060-\u2064\u3164\ufeff\uffa0"  # no width (the two that join letters stay)
    "\ufff9-\ufffb\U000e0000-\U000e01ef]"  # annotations, tags
)

_PATH = re.compile(r"[^\s'\"<>:,()=]+")
_ROOT = re.compile(r"(?<![\w.<>/])/(?!/)")
_INSTALLATION = re.compile(r"/(?=lib(?:64)?/python\d)")


def whole(text: str) -> str:
    """`text` with half characters (lone surrogates) replaced: JSON can carry them, but no file, database or API."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text


def clean(text: str) -> str:
    """`text` without anything that a terminal obeys or a reader cannot see; line breaks become line feeds."""
    return _UNSEEN.sub(REPLACEMENT, _BREAKS.sub("\n", text))


def without_host(text: str) -> str:
    """`text` with `<env>` for the folder of any Python installation: a path of this machine is nobody's business."""
    return shortened(text, _PATH, _ROOT, _INSTALLATION, "<env>/")


def shortened(text: str, words: re.Pattern[str], begin: re.Pattern[str], end: re.Pattern[str], put: str) -> str:
    """`text` with `put` in place of what stands in a word from the first `begin` to the last `end` behind it.

    One pattern of all three would look through the rest of a word from each place where it may begin: hours, for a
    megabyte that a program printed for it.
    """

    def of(word: re.Match[str]) -> str:
        first = begin.search(text, *word.span())
        ends = list(end.finditer(text, first.start(), word.end())) if first else []
        if first is None or not ends:
            return word[0]
        return f"{text[word.start() : first.start()]}{put}{text[ends[-1].end() : word.end()]}"

    return words.sub(of, text) if end.search(text) else text


def one_line(text: str, limit: int = LONGEST_LINE) -> str:
    """`text` cleaned, in one line of at most `limit` characters."""
    line = " ".join(clean(text[: 4 * limit]).split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def visible(text: str) -> str:
    """`text` with everything that a terminal would obey written out (`\\u001b`), for stored text that is only shown."""
    return _UNSEEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def whole_all(value: Any) -> Any:
    """Plain JSON with `whole` on every text in it, keys too; what is no JSON in it stays."""
    if isinstance(value, str):
        return whole(value)
    if isinstance(value, dict):
        return {whole_all(key): whole_all(item) for key, item in value.items()}
    return [whole_all(item) for item in value] if isinstance(value, list | tuple) else value
