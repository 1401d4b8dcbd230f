"""What our own arrows, dashes and dots are called on a terminal whose encoding does not have them."""

from __future__ import annotations

from functools import lru_cache

WORDS = {
    "→": "->", "←": "<-", "↔": "<->", "↑": "^", "↓": "v", "…": "...", "–": "-", "—": "-", "−": "-", "·": ".", "•": "*",
    "×": "x", "±": "+-", "≤": "<=", "≥": ">=", "≠": "!=", "≈": "~", "’": "'", "‘": "'", "“": '"', "”": '"', "√": "sqrt",
    "Σ": "sum", "Δ": "delta", "∞": "inf", "²": "^2", "³": "^3", "½": "1/2", "°": " deg", "✓": "yes", "✗": "no",
    "│": "|", "─": "-", "├": "+", "└": "+", "\N{NO-BREAK SPACE}": " ",
}  # fmt: skip
"""Character → words of plain ASCII."""


def in_words(text: str, encoding: str | None) -> str:
    """The text with words for those of the characters that the encoding lacks; what else it lacks stays.

    Args:
        encoding: None: what is written to keeps text as it is (a `StringIO`).
    """
    return text if encoding is None or text.isascii() else text.translate(_lacking(encoding))


@lru_cache(maxsize=8)
def _lacking(encoding: str) -> dict[int, str]:
    return {ord(sign): word for sign, word in WORDS.items() if not _has(encoding, sign)}


def _has(encoding: str, sign: str) -> bool:
    try:
        sign.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True
