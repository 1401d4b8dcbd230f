"""Fingerprints of programs: equal text, or equal up to names of locals, comments, layout and constant folding.

Equal fingerprints must mean equal behaviour, since a duplicate is never run: in doubt, two programs differ.
"""

from __future__ import annotations

from hashlib import sha256

from core.state.normal_form import normal_form
from utils.syntax import parse_shared


def text_hash(code: str) -> str:
    """SHA-256 of the text, blank lines around it and line ends aside: the first and cheapest rung of the ladder."""
    text = code.replace("\r\n", "\n").strip("\n").rstrip()
    return sha256(text.encode(errors="surrogatepass")).hexdigest()


def ast_hash(code: str) -> str | None:
    """SHA-256 of the normal form: locals renamed in order of appearance, no docstrings or comments, constants folded.

    None if the code does not parse, or is too deep or holds too long a number to be written down.
    """
    try:
        text = normal_form(parse_shared(code), docstrings="__doc__" in code)
        return sha256(text.encode(errors="surrogatepass")).hexdigest()
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
