"""Rich's console for tables and colours, on which the text of strangers is written out as everywhere."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Any

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType
from rich.markup import escape
from rich.segment import Segment
from rich.table import Column, Table
from rich.text import Text

from cli.terminal.ascii_words import in_words
from cli.terminal.edge import edge, row_lines
from cli.terminal.visible_output import VisibleStream
from utils.clean_text import visible

NO_EDGE = 100_000
"""Columns of a file or a pipe."""
RULE = 80
"""Columns of a line across a file or a pipe."""
NARROWEST = 20
"""Columns that a cell of several words keeps, unless its words are shorter."""
AROUND = 3
"""Columns of a cell's frame."""


class VisibleConsole(Console):
    """Rich's console. Its own colours go past the stream of `visible_output`; the text in them is written out.

    A terminal wraps between words, and cuts no id and no number. A file or a pipe has no edge: each fact and each row
    is one line there, without blanks at its end.
    """

    def __init__(self) -> None:
        stream = sys.stdout
        super().__init__(file=stream.stream if isinstance(stream, VisibleStream) else None)
        self.has_edge = self.is_terminal or edge() is not None
        if not self.has_edge:
            self.width = NO_EDGE

    def print(self, *objects: Any, **how: Any) -> None:
        if self.has_edge:
            super().print(*objects, **how)
            return
        with self.capture() as printed:
            super().print(*objects, **how)
        self.file.write("".join(f"{line.rstrip(' ')}\n" for line in printed.get().removesuffix("\n").split("\n")))

    def rule(self, title: Any = "", **how: Any) -> None:
        width = self.width
        self.width = min(width, RULE) if not self.has_edge else width
        super().rule(title, **how)
        self.width = width

    def facts(self, facts: Sequence[tuple[str, str]]) -> None:
        """A line a fact, and more where the terminal is narrow: nothing is cut, and a hash or a path can be copied."""
        facts = [(in_words(name, self.encoding), in_words(told, self.encoding)) for name, told in facts]
        wide = max((len(name) for name, _ in facts), default=0)
        for name, told in facts:
            if " " in told or "\n" in told:
                shown = Table.grid(Column(width=wide + 2), Column(overflow="fold"))
                shown.add_row(Text(name, style="bold"), Text(told))
                self.print(shown)
            else:
                self.print(Text.assemble((f"{name:{wide}s}  ", "bold"), told), soft_wrap=True)

    def table(self, heads: Sequence[str], rows: Iterable[Sequence[str]], title: str = "") -> None:
        """A table; where it would not fit without cutting an id or a number, some lines a row.

        Args:
            heads: text, as all cells are: no markup.
        """
        heads = [in_words(head, self.encoding) for head in heads]  # before widths are reckoned
        rows = [[in_words(cell, self.encoding) for cell in row] for row in rows]
        by_column = [[head, *(row[place] for row in rows)] for place, head in enumerate(heads)]
        widths = fitting([_ranges(cells) for cells in by_column], self.width - 1 - AROUND * len(heads))
        if widths is None:
            self.print(Text(title, style="bold")) if title else None
            for row in rows:
                for line in row_lines(heads, row):
                    self.print(Text(line), soft_wrap=True)
            return
        whole = zip(heads, widths, strict=True)
        columns = [Column(escape(head), width=width, overflow="fold") for head, width in whole]
        shown = Table(*columns, title=Text(title) if title else None, title_justify="left")
        for row in rows:
            shown.add_row(*map(Text, row))
        self.print(shown)

    def on_broken_pipe(self) -> None:
        """Who stops reading (`| head`) is no fault, here as for every verb; Rich's own answer is exit code 1."""
        raise BrokenPipeError

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(visible(segment.text), segment.style)


def _ranges(cells: Sequence[str]) -> tuple[int, int]:
    """(columns without which a word would be cut, columns without which a line would be wrapped)."""
    least = [min(_longest(cell.split()), NARROWEST) if " " in cell.strip() else cell_len(cell) for cell in cells]
    return max(least), max(_longest(cell.splitlines()) for cell in cells)


def _longest(texts: Iterable[str]) -> int:
    return max(map(cell_len, texts), default=0)


def fitting(ranges: Sequence[tuple[int, int]], width: int) -> list[int] | None:
    """The columns of each cell of a row that has so many in all: the widest are wrapped first. None: too few.

    Args:
        ranges: the fewest and the most that each needs.
    """
    widths = [min(most, width) for _, most in ranges]
    while sum(widths) > width:
        free = [place for place, (least, _) in enumerate(ranges) if widths[place] > least]
        if not free:
            return None
        widths[max(free, key=widths.__getitem__)] -= 1
    return widths
