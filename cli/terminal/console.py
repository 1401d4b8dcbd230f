"""Rich's console for tables and colours, on which the text of strangers is written out as everywhere."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from cli.terminal.visible_output import VisibleStream
from utils.clean_text import visible


class VisibleConsole(Console):
    """Rich's console. Its own colours go past the stream of `visible_output`; the text in them is written out."""

    def __init__(self) -> None:
        stream = sys.stdout
        super().__init__(file=stream.stream if isinstance(stream, VisibleStream) else None)

    def on_broken_pipe(self) -> None:
        """Who stops reading (`| head`) is no fault, here as for every verb; Rich's own answer is exit code 1."""
        raise BrokenPipeError

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(visible(segment.text), segment.style)
