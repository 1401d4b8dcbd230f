"""View: whoever watches a run. A verb hands one to the session; without one nobody watches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from core.contracts import Progress
from core.events import Event
from runs.ending.outcome import Outcome
from runs.facts import RunFacts


class View(Protocol):
    """Told of everything after it is stored."""

    def doing(self, text: str) -> None:
        """What goes on besides the search, before it begins and after its end, and how far it is; '' when it is over.

        A view shows it where it takes more than a moment. Called from any thread.
        """

    def start(self, facts: RunFacts, progress: Callable[[], Progress]) -> None:
        """The search begins. `progress` may be asked at any time, from any thread, until `close`."""

    def emit(self, event: Event) -> None:
        """Something happened. Called from any thread; also before `start`."""

    def finishing(self, search_is_over: bool) -> None:
        """A signal asked for the end in good order; where the search is over, its final scoring is finished all the
        same. Called inside the signal's handler: it may take no lock."""

    def conclude(self, outcome: Outcome) -> None:
        """The search is over and all its files are written."""

    def nothing_left(self, outcome: Outcome, progress: Progress) -> None:
        """In place of `start` and all that follows: the run had ended, and nothing is left to do."""

    def interrupted(self, how: str = "interrupted") -> None:
        """The process ends before its run; all that was done is stored."""

    def close(self) -> None:
        """Nothing more will be told. Called once, whatever happened since the session was opened."""


class SilentView:
    """Says nothing."""

    def doing(self, text: str) -> None: ...

    def start(self, facts: RunFacts, progress: Callable[[], Progress]) -> None: ...

    def emit(self, event: Event) -> None: ...

    def finishing(self, search_is_over: bool) -> None: ...

    def conclude(self, outcome: Outcome) -> None: ...

    def nothing_left(self, outcome: Outcome, progress: Progress) -> None: ...

    def interrupted(self, how: str = "interrupted") -> None: ...

    def close(self) -> None: ...
