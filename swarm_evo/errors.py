"""Errors of the Python front: the line that the command line would print, as an exception."""

from __future__ import annotations

import traceback
from pathlib import Path

_OTHERS = (str(Path(__file__).parent), "/IPython/")


class SwarmEvoError(RuntimeError):
    """Everything that this package raises on purpose."""

    def _render_traceback_(self) -> list[str]:
        """What IPython shows: the lines of the user's that led here, and what is wrong; `%debug` has all frames."""
        frames = traceback.extract_tb(self.__traceback__)
        theirs = [frame for frame in frames if not any(part in frame.filename for part in _OTHERS)]
        return [*"".join(traceback.format_list(theirs)).splitlines(), f"{type(self).__name__}: {self}"]


class SearchError(SwarmEvoError):
    """The search could not be started or failed; the text is its own line.

    Attributes:
        exit_code: of the search's process; None where none was started.
    """

    def __init__(self, text: str, exit_code: int | None = None) -> None:
        super().__init__(text)
        self.exit_code = exit_code
