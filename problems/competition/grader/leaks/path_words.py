"""What the name of a file says: its folder, itself and its words, as a line of a table."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

_SIGNS = re.compile(r"(?:[\s_=,;]|(?<=[^\W_])(?<!\d[eE])-|-(?!\d))+")
"""What stands between words: of `17_-2.5`, `17--2.5` and `17_1e-05` the last word is a number with its sign."""
_ENDING = re.compile(r"\.(?:[^\W\d_][^\W_]{0,9}|7z)")
"""No part of a number, nor of what comes behind it."""
_BLANKS = re.compile(r"\s+")


def bare_name(path: str) -> str:
    """`17_12.5` of `good/17_12.5.txt`; of `17.csv.gz` `17`."""
    name = PurePosixPath(path).name
    while _ENDING.fullmatch(suffix := PurePosixPath(name).suffix):
        name = name.removesuffix(suffix)
    return name


def words_of(path: str) -> list[str]:
    """Folder, name without ending, words of the name where there are several; none holds a blank."""
    name = bare_name(path)
    parts = [part for part in _SIGNS.split(name) if part]
    words = [str(PurePosixPath(path).parent), name, *(parts if len(parts) > 1 else [])]
    return [_BLANKS.sub("_", word).casefold() for word in words]
