"""Counts as people say them."""

from __future__ import annotations


def counted(number: int, one: str, several: str = "", form: str = "") -> str:
    """`1 step`, `2 steps`, `0 steps`.

    Args:
        several: the plural where an s is not enough: `2 tries`, `2 rows are`.
        form: how the number is written, as in an f-string: `,` parts its thousands.
    """
    return f"{number:{form}} {one if number == 1 else several or f'{one}s'}"
