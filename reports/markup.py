"""Markup in which nothing is trusted: every text is escaped here and nowhere else."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

from utils.clean_text import visible
from utils.counts import counted


@dataclass(frozen=True, slots=True)
class Markup:
    """Text that is markup already. Only the functions of this package make one."""

    text: str


Content = str | int | float | None | Markup

EMPTY = Markup("")
LONGEST_CODE = 200_000
LONGEST_TEXT = 4000
"""Characters shown of a program, and of a plan, a review, a message."""


def tag(name: str, *content: Content, **attributes: Content) -> Markup:
    """`<name …>content</name>`; texts are escaped, `class_` is `class`, None leaves an attribute out."""
    shown = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(_plain(value), quote=True)}"'
        for key, value in attributes.items()
        if value is not None
    )
    return Markup(f"<{name}{shown}>{join(content).text}</{name}>")


def join(content: Iterable[Content]) -> Markup:
    return Markup("".join(part.text if isinstance(part, Markup) else escape(_plain(part)) for part in content))


def table(head: Sequence[str], rows: Iterable[Sequence[Content]], class_: str | None = None) -> Markup:
    """A table with a head; columns of numbers stand right."""
    rows = list(rows)
    sides = [_side(column) for column in zip(*rows, strict=True)] or [None] * len(head)
    body = [
        tag("tr", *(tag("td", _number(cell), class_=side) for cell, side in zip(row, sides, strict=True)))
        for row in rows
    ]
    header = tag(
        "thead", tag("tr", *(tag("th", title, scope="col", class_=s) for title, s in zip(head, sides, strict=True)))
    )
    return tag("div", tag("table", header, tag("tbody", *body), class_=class_), class_="scroll")


def code(text: str) -> Markup:
    """A program or an output: escaped, in a box that scrolls."""
    return tag("pre", tag("code", visible(clip(text, LONGEST_CODE))), tabindex="0")


def clip(text: str, most: int = LONGEST_TEXT) -> str:
    """The beginning of what others wrote, so that the file stays small whatever they wrote; says what it left out."""
    return text if len(text) <= most else f"{text[:most]}… ({counted(len(text) - most, 'more character', form=',')})"


def figure(value: float | int | None, missing: str = "—") -> str:
    """A number as people read it."""
    if value is None:
        return missing
    return f"{value:,}" if isinstance(value, int) else f"{value:.6g}"


def _number(cell: Content) -> Content:
    return figure(cell) if isinstance(cell, int | float) or cell is None else cell


def _side(column: Sequence[Content]) -> str | None:
    """Most of what a column says is numbers: it stands right, what is missing or has failed too."""
    said = [cell for cell in column if cell is not None and cell != "" and cell != EMPTY]
    return "number" if sum(isinstance(cell, int | float) for cell in said) * 2 > len(said) else None


def _plain(value: Content) -> str:
    return "" if value is None else visible(str(value))
