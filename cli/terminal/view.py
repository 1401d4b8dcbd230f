"""The terminal while a search runs: a live picture, or plain lines when nobody watches a terminal."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Protocol, TextIO

from core.events import BaselineScored, Event, NodeCommitted, Warned

if TYPE_CHECKING:
    from cli.terminal.messages import StepLines
    from runs.composition import Search
    from runs.outcome import Outcome
    from runs.session import RunSession


class View(Protocol):
    """Told of everything after it is stored."""

    def start(self, search: Search) -> None: ...

    def emit(self, event: Event) -> None: ...

    def conclude(self, outcome: Outcome) -> None: ...

    def interrupted(self) -> None: ...

    def close(self) -> None: ...


def open_view(kind: str, session: RunSession) -> View:
    """`live` on a terminal, `plain` elsewhere, `quiet` for programs."""
    if kind == "auto":
        kind = "live" if sys.stdout.isatty() else "plain"
    if kind == "quiet":
        return QuietView()
    if kind == "live":
        from cli.terminal.live_view import LiveView

        return LiveView(session)
    return PlainView(session)


class QuietView:
    """Says nothing."""

    def start(self, search: Search) -> None: ...

    def emit(self, event: Event) -> None: ...

    def conclude(self, outcome: Outcome) -> None: ...

    def interrupted(self) -> None: ...

    def close(self) -> None: ...


class PlainView:
    """One line an event worth reading; at most one line a second where steps are fast."""

    def __init__(self, session: RunSession, out: TextIO | None = None) -> None:
        self._session = session
        self._out = out or sys.stdout
        self._last = 0.0
        self._hidden = 0
        self._lines: StepLines | None = None
        """None until it starts: `step` says in its own words what it does."""

    def start(self, search: Search) -> None:
        from cli.terminal.messages import StepLines, banner

        self._lines = StepLines(self._session.config.search.max_steps, search.journal.steps)
        for line in banner(self._session):
            self._say(line)

    def emit(self, event: Event) -> None:
        if isinstance(event, NodeCommitted) and self._lines is not None:
            self._committed(event, self._lines)
        elif isinstance(event, BaselineScored):
            score = "failed" if event.metric is None else f"{event.metric:.6g}"
            self._say(f"baseline {event.name}: {score}")
        elif isinstance(event, Warned):
            self._say(f"warning: {event.text}")

    def _committed(self, event: NodeCommitted, lines: StepLines) -> None:
        now = time.monotonic()
        line = lines.line(event)
        if not event.is_best and now - self._last < 1.0 and event.step > 40:
            self._hidden += 1
            return
        self._last = now
        skipped = f" (+{self._hidden} not shown)" if self._hidden else ""
        self._hidden = 0
        self._say(line + skipped)

    def conclude(self, outcome: Outcome) -> None:
        from cli.terminal.messages import closing

        for line in closing(outcome):
            self._say(line)

    def interrupted(self) -> None:
        name = self._session.run_dir.name
        self._say(f"interrupted; everything is saved. Go on with: python main.py resume {name}")

    def close(self) -> None: ...

    def _say(self, line: str) -> None:
        print(line, file=self._out, flush=True)
