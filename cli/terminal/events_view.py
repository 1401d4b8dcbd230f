"""The run as JSON lines on standard output, for the program that started it: what Python's front door reads."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from typing import Any

from cli.terminal.best_so_far import BestSoFar
from cli.terminal.closing import ended_already
from cli.terminal.output import Output, say_finishing
from core.contracts import Progress
from core.events import BaselineScored, Event, FinalScored, NodeCommitted, RunFinished, Warned
from runs.ending.outcome import Outcome
from runs.facts import RunFacts
from runs.view import SilentView

TOLD = (BaselineScored, FinalScored, RunFinished, Warned)


class EventsView(SilentView):
    """First `{"type": "run.opened", run, folder, limits…}`, then the run's own events as they are stored.

    Between them `run.doing`: what goes on besides the search, and `run.best`: who leads, both in words.
    In place of all that, `run.nothing_left` says why a run that had ended does not go on.
    """

    def __init__(self) -> None:
        self._out = Output(on_gone=lambda: signal.raise_signal(signal.SIGINT))
        self._best = BestSoFar(False)
        self._leads = ""

    def doing(self, text: str) -> None:
        """'' too: what went on is over."""
        self.say({"type": "run.doing", "text": text})

    def start(self, facts: RunFacts, progress: Callable[[], Progress]) -> None:
        now = progress()
        self._best = BestSoFar(facts.problem.lower_is_better, facts.standing, facts.problem.family)
        self._opened(facts, now)

    def nothing_left(self, outcome: Outcome, progress: Progress) -> None:
        self._opened(outcome.facts, progress)
        self.say({"type": "run.nothing_left", "text": ended_already(outcome)})

    def _opened(self, facts: RunFacts, now: Progress) -> None:
        self.say(
            {
                "type": "run.opened",
                "run": facts.run,
                "folder": str(facts.run_dir.resolve()),
                "problem": facts.problem.name,
                "unit": facts.problem.unit,
                "lower_is_better": facts.problem.lower_is_better,
                "writer": facts.writer,
                "steps": now.steps,
                "max_steps": facts.config.search.max_steps,
                "seconds": facts.config.budget.seconds,
            }
        )

    def emit(self, event: Event) -> None:
        if isinstance(event, NodeCommitted):
            self.say({**event.model_dump(mode="json", exclude={"number"}), "step": event.number, "place": event.step})
        elif isinstance(event, TOLD):
            self._out.say(event.model_dump_json())
        self._best.learn(event)
        if self._best.text != self._leads:
            self._leads = self._best.text
            self.say({"type": "run.best", "text": self._leads})

    def finishing(self, search_is_over: bool) -> None:
        say_finishing(search_is_over)

    def say(self, line: dict[str, Any]) -> None:
        self._out.say(json.dumps(line))
