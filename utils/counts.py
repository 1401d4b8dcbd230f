"""Counts as people say them."""

from __future__ import annotations


def counted(number: int, one: str, several: str = "") -> str:
    """`1 step`, `2 steps`, `0 steps`; `several` is the plural where an s is not enough: `2 tries`."""
    return f"{number} {one if number == 1 else several or f'{one}s'}"
