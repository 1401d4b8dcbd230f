"""The limit that a run has reached, kept over a stop while programs are under way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict

from core.contracts import Progress, Store

REACHED = "reached"
"""Fact: how far the run was when a limit was reached, and how many rounds had been opened by then."""


class ReachedLimit:
    """A limit that is reached stays so until something new is proposed, whatever the programs under way then score.

    They may end the row that counted (steps without a new best, programs known already, writers with nothing left): a
    run that goes on with itself does not look again, and so a resume must not either. What is kept is how far the run
    was, not which limit spoke: a resume with a higher one goes on.

    Args:
        stop: Progress → the reason to stop, or None.
    """

    def __init__(self, stop: Callable[[Progress], str | None], store: Store) -> None:
        self._stop = stop
        self._store = store
        self._then: Progress | None = None

    def restore(self, rounds: int) -> None:
        """Read what an earlier process kept; of no account where a round has been opened since.

        Args:
            rounds: as many have been opened.
        """
        known = self._store.get_fact(REACHED)
        if known and known["rounds"] == rounds:
            self._then = Progress(**known["progress"])

    def reason(self, now: Progress) -> str | None:
        """The limit that is reached, or None."""
        return (self._stop(self._then) if self._then else None) or self._stop(now)

    def keep(self, now: Progress, rounds: int) -> None:
        """After a commit with programs still under way: store how far the run is, where that reaches a limit."""
        if not (self._then and self._stop(self._then)) and self._stop(now):
            self._then = now
            self._store.put_fact(REACHED, {"rounds": rounds, "progress": asdict(now)}, can_be_made_again=True)

    def forget(self) -> None:
        """Something new is proposed."""
        self._then = None
