"""Errors of the Python front: the line that the command line would print, as an exception."""

from __future__ import annotations


class SwarmEvoError(RuntimeError):
    """Everything that this package raises on purpose."""


class SearchError(SwarmEvoError):
    """The search could not be started or failed; the text is its own line.

    Attributes:
        exit_code: of the search's process; None where none was started.
    """

    def __init__(self, text: str, exit_code: int | None = None) -> None:
        super().__init__(text)
        self.exit_code = exit_code
