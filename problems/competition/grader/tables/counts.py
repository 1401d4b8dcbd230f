"""Counts as people say them: as `utils.counts`, which an interpreter of the user's cannot find."""

from __future__ import annotations


def counted(number: int, one: str, several: str = "", form: str = "") -> str:
    """`1 row`, `2 rows`; `several` is the plural where an s is not enough, `form` how the number is written."""
    return f"{number:{form}} {one if number == 1 else several or f'{one}s'}"
