"""What goes on right now: which programs are written, run or judged, since when, and who is asked."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from core.contracts import Progress
from core.events import (
    Event,
    LLMCalled,
    NodeCommitted,
    NodeProposed,
    RunFinished,
    StageDone,
    TicketClosed,
    TicketLeased,
)
from core.state.live_work import LiveWork, NodeWork, WorkState
from utils.clean_text import one_line
from utils.counts import counted

NOTHING: Mapping[str, int] = MappingProxyType({})
NOBODY_ASKED = frozenset({"baseline", "user", "tune", "ensemble"})
"""Operators of programs that no writer is asked for."""
OUTSIDE = "external/client"
"""The writer of a run that is written from outside."""
HOLDER = 60
"""Characters of who holds a ticket."""
IDLE = LiveWork()
WORDS: dict[WorkState, str] = {
    "waits_writer": "waits for a writer", "waits_worker": "waits for a worker", "runs": "runs", "scored": "is scored",
    "reviewed": "is reviewed",
}  # fmt: skip
"""Of what is known live. `written` names the writer."""


@dataclass(frozen=True, slots=True)
class Open:
    """A program that has no verdict yet."""

    node_id: str
    operator: str
    doing: str
    since: float


class OpenWork:
    """Learns from the events; is asked by whoever draws. The caller keeps the two apart.

    Args:
        writer: who writes programs, as people call it.
        clock: seconds that only grow.
        wall: seconds since the epoch.
    """

    def __init__(
        self, writer: str, clock: Callable[[], float] = time.monotonic, wall: Callable[[], float] = time.time
    ) -> None:
        known = {"rules": "is written by rules", OUTSIDE: "waits for a writer to ask"}
        self._asking = known.get(writer, f"asks {writer}")
        self._waits_for_models = writer not in known
        self._clock, self._wall = clock, wall
        self._open: dict[str, Open] = {}
        self._calls = 0
        self._failed: Counter[str] = Counter()

    def learn(self, event: Event) -> None:
        """Take in what happened."""
        now = self._clock()
        if isinstance(event, NodeProposed):
            doing = "is run" if event.operator in NOBODY_ASKED else self._asking
            self._open[event.node_id] = Open(event.node_id, event.operator, doing, now)
        elif isinstance(event, LLMCalled):
            self._calls += event.provider != "rules"
            if event.role != "ideas":
                self._next(event.node_id, "is reviewed" if event.role == "feedback" else "waits for its turn", now)
        elif isinstance(event, StageDone) and event.stage == "execute":
            self._next(event.node_id, "is scored, waits for its place", now)
        elif isinstance(event, TicketLeased):
            self._next(event.node_id, f"is with {one_line(event.holder, HOLDER) or 'a writer'}", now)
        elif isinstance(event, TicketClosed):  # withdrawn: no node comes of it
            self._open.pop(event.node_id, None)
        elif isinstance(event, NodeCommitted):
            self._open.pop(event.node_id, None)
            self._failed.update([event.failure.value] if event.failure else [])
        elif isinstance(event, RunFinished):
            self._open.clear()

    def lines(self, written: Mapping[str, int] = NOTHING, work: LiveWork = IDLE) -> list[str]:
        """A line an open program, the longest first: `ab12cd improve asks openai/gpt, 12 s, some 340 tokens so far`.

        Args:
            written: node → tokens of its reply that have come, where replies are streamed.
            work: what each waits for or does, as the run's process tells it live.
        """
        now = self._clock()
        waiting = sorted((self._live(one, work.nodes.get(one.node_id)) for one in self._open.values()), key=_since)
        lines = [f"{one.node_id[:6]} {one.operator} {one.doing}, {now - one.since:.0f} s" for one in waiting]
        counts = (written.get(one.node_id) for one in waiting)
        return [
            f"{line}, some {counted(n, 'token')} so far" if n else line for line, n in zip(lines, counts, strict=True)
        ]

    def _live(self, one: Open, told: NodeWork | None) -> Open:
        """The program with what is known of it live."""
        if told is None or (told.state == "waits_writer" and not self._waits_for_models):
            return one
        since = self._clock() - max(0.0, self._wall() - told.since)
        asked = self._asking if self._waits_for_models else one.doing  # again, too, where a reply was of no use
        doing = asked if told.state == "written" else WORDS[told.state]
        return replace(one, doing=doing, since=since)

    def summary(self, progress: Progress, work: LiveWork = IDLE, most: float | None = None) -> str:
        """One line for who only hears: what is open, what it has cost, what failed.

        Args:
            most: seconds that the search may take; what is under way then may take longer.
        """
        lines = self.lines(work=work)
        over = [past_time(most)] if lines and most is not None and progress.seconds > most else []
        parts = [
            f"{progress.seconds:.0f} s",
            *over,
            counted(progress.steps, "step"),
            *(lines[:2] or ["nothing is open"]),
        ]
        parts += [f"{len(lines) - 2} more open"] if len(lines) > 2 else []
        return "… " + "; ".join([*parts, *self.spent(progress)])

    def spent(self, progress: Progress, cap: float | None = None) -> list[str]:
        """Calls, tokens, dollars (of at most `cap`) and failures so far; [] where there were none."""
        bill = f"{counted(progress.tokens, 'token', form=',')}, ${progress.usd:.4f}" + (
            f" of ${cap:g}" if cap is not None else ""
        )
        parts = [counted(self._calls, "call")] if self._calls else []
        parts += [bill] if self._calls or progress.tokens else []
        kinds = ", ".join(f"{kind} {count}" for kind, count in self._failed.most_common(3))
        return parts + ([f"{sum(self._failed.values())} failed: {kinds}"] if kinds else [])

    def _next(self, node_id: str | None, doing: str, now: float) -> None:
        known = self._open.get(node_id or "")
        if known is not None:
            self._open[known.node_id] = replace(known, doing=doing, since=now)


def past_time(most: float) -> str:
    """Why a search goes on whose time is over."""
    return f"past budget.seconds={most:g}: nothing more is begun, what is under way is waited for"


def _since(one: Open) -> float:
    return one.since
