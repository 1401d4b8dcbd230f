"""Fingerprints of programs: equal text, or equal up to names of locals, comments, layout and constant folding.

Equal fingerprints must mean equal behaviour, since a duplicate is never run: in doubt, two programs differ.
"""

from __future__ import annotations

import re
from functools import lru_cache
from hashlib import sha256

from core.state.normal_form import normal_form
from utils.syntax import parse_shared

_ENCODING = re.compile(r"(?:[^\r\n]*(?:\r\n?|\n))?[ \t\f]*#.*coding[:=](?![ \t]*utf-?8)")
_TYPES = re.compile(r"#[ \t]*type:(?![ \t]*ignore)")
"""Comments that somebody reads: the encoding of a file, in its first two lines; types, for `torch.jit`."""
_REMEMBERED = 64
"""Texts whose hash is kept: each is asked for several times on its way into the journal."""


@lru_cache(maxsize=_REMEMBERED)
def text_hash(code: str) -> str:
    """SHA-256 of the text as it is: the first and cheapest rung of the ladder.

    Even blank lines at the end count: after a backslash they decide whether a program parses.
    """
    return sha256(code.encode(errors="surrogatepass")).hexdigest()


def ast_hash(code: str) -> str | None:
    """SHA-256 of the normal form: locals renamed in order of appearance, no docstrings or comments, constants folded.

    None if the code does not parse or may read its own text, or is too deep or holds too long a number to be written.
    """
    if _ENCODING.match(code) or _TYPES.search(code):
        return None
    try:
        text = normal_form(parse_shared(code))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return None if text is None else sha256(text.encode(errors="surrogatepass")).hexdigest()
