"""The terminal while a search runs: a live picture, or plain lines when nobody watches a terminal."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import TextIO

from cli.terminal.activity import Activity
from cli.terminal.banner import banner
from cli.terminal.best_so_far import BestSoFar
from cli.terminal.closing import closing, ended_already
from cli.terminal.commands import interrupted_line
from cli.terminal.held_back import HeldBack
from cli.terminal.open_work import IDLE, OpenWork
from cli.terminal.output import Output, say_finishing
from cli.terminal.step_text import StepLines, baseline_line
from core.contracts import Progress
from core.events import BaselineScored, Event, GenerationFinished, NodeCommitted, Warned
from core.state.live_work import LiveWork, read_live_work
from reports.ratings import title_in
from runs.ending.outcome import Outcome
from runs.facts import RunFacts
from runs.view import SilentView, View

SILENCE_SECONDS = 10.0
"""After so long without a line, what goes on is told."""
MOMENT_SECONDS = 2.0
"""What goes on besides the search is told once it has taken so long, and again when it has got on."""
CROWDED = 40
"""Steps after which at most one line a second is printed, but for failures and a new best."""


def open_view(kind: str) -> View:
    """`live` on a terminal, `plain` elsewhere, `quiet` for programs; `auto` looks where stdout leads."""
    if kind == "auto":
        kind = "live" if sys.stdout.isatty() else "plain"
    if kind == "quiet":
        return QuietView()
    if kind == "live":
        from cli.terminal.live_view import LiveView

        return LiveView()
    return PlainView()


class QuietView(SilentView):
    """Answers Ctrl-C, and says nothing else."""

    def finishing(self, search_is_over: bool) -> None:
        say_finishing(search_is_over)

    def nothing_left(self, outcome: Outcome, progress: Progress) -> None:
        print(ended_already(outcome), file=sys.stderr)  # stdout is for the facts


class PlainView:
    """One line an event worth reading; at most one line a second where steps are fast.

    A reader who goes away ends the run in good order, as Ctrl-C would.

    Args:
        stream: stdout if None.
        clock: seconds that only grow.
    """

    def __init__(self, stream: TextIO | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._out = Output(stream, on_gone=lambda: signal.raise_signal(signal.SIGINT))
        self._facts: RunFacts | None = None
        self._lines: StepLines | None = None
        """None until the search starts: `step` says itself what it does."""
        self._last = -1.0
        self._held = HeldBack()
        self._work = OpenWork("", clock)
        self._activity = Activity(clock)
        self._told = ""
        """What was said last of what goes on besides the search."""
        self._spoken = clock()
        self._watcher: threading.Thread | None = None
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._progress: Callable[[], Progress] = Progress

    def doing(self, text: str) -> None:
        if text:
            self._tell_held()
            self._begin_watching()
        self._activity.tell(text)

    def start(self, facts: RunFacts, progress: Callable[[], Progress]) -> None:
        self._facts = facts
        now = progress()
        best = BestSoFar(facts.problem.lower_is_better, facts.standing, facts.problem.family)
        self._lines = StepLines(best, facts.config.search.max_steps, now.steps)
        self._activity.tell("")
        self._work, self._progress = OpenWork(facts.writer, self._clock), progress
        for line in banner(facts):
            self._say(line)
        self._begin_watching()

    def beat(self) -> None:
        """Say what goes on where nothing was said for a while."""
        silent, doing = self._clock() - self._spoken, self._activity.text
        if doing:
            news = doing != self._told and min(self._activity.seconds, silent) >= MOMENT_SECONDS
            if news or silent >= SILENCE_SECONDS:
                self._told = doing
                self._say(f"… {self._activity.line}")
        elif self._facts is not None and self._lines is not None and silent >= SILENCE_SECONDS:
            most = self._facts.config.budget.seconds
            with self._lock:
                text = self._work.summary(self._progress(), self._now(), most)
            self._say(text)

    def _now(self) -> LiveWork:
        return (read_live_work(self._facts.run_dir) if self._facts else None) or IDLE

    def _begin_watching(self) -> None:
        if self._watcher is None:
            watcher = threading.Thread(target=self._watch, name="terminal", daemon=True)
            watcher.start()
            self._watcher = watcher

    def _watch(self) -> None:
        while not self._ended.wait(1.0):
            self.beat()

    def _say(self, line: str) -> None:
        self._spoken = self._clock()
        self._out.say(line)

    def emit(self, event: Event) -> None:
        with self._lock:
            self._work.learn(event)
        if isinstance(event, NodeCommitted) and self._lines is not None:
            if event.operator == "baseline":  # told by its name, below
                self._lines.learn(event)
            else:
                self._committed(event, self._lines)
        elif isinstance(event, BaselineScored):
            if self._lines is not None:
                self._lines.learn(event)
            self._say(baseline_line(event))
        elif isinstance(event, GenerationFinished) and (title := title_in(event)):
            if self._lines is not None:
                self._lines.learn(event)
            self._say(f"generation {event.generation}: {title}")
        elif isinstance(event, Warned):
            self._say(f"warning: {event.text}")

    def _committed(self, event: NodeCommitted, lines: StepLines) -> None:
        now = self._clock()
        line = lines.line(event)
        worth_it = event.is_best or event.failure is not None
        if not worth_it and now - self._last < 1.0 and event.step > CROWDED:
            with self._lock:
                self._held.add(event, lines.steps)
            return
        self._last = now
        hidden = self._take_held().steps
        self._say(line + (f" (+{hidden} not shown)" if hidden else ""))

    def _take_held(self) -> HeldBack:
        with self._lock:
            held, self._held = self._held, HeldBack()
        return held

    def _tell_held(self) -> None:
        """Sum up the steps without a line since the last that had one."""
        held = self._take_held()
        if held.steps and self._lines is not None:
            self._say("  ".join(part for part in (held.text, self._lines.best) if part))

    def finishing(self, search_is_over: bool) -> None:
        say_finishing(search_is_over)

    def conclude(self, outcome: Outcome) -> None:
        self._ended.set()
        self._tell_held()
        for line in closing(outcome):
            self._say(line)

    def nothing_left(self, outcome: Outcome, progress: Progress) -> None:
        self._ended.set()
        self._say(ended_already(outcome))

    def interrupted(self, how: str = "interrupted") -> None:
        self._ended.set()
        self._tell_held()
        if self._facts is not None and self._lines is not None:
            self._say(interrupted_line(self._facts.config.project.dir, self._facts.run, self._lines.best, how))

    def close(self) -> None:
        self._ended.set()
