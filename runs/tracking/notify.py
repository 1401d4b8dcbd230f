"""`notify.command`, `notify.url`: a message on a new best and at the end, one JSON object each.

`{"event": "best" | "end", "text", "run", "problem", "node_id", "metric", "unit", "direction", "step", "status",
"reason", "verdict"}`; `text` says it in a sentence, as chat services show it.
"""

from __future__ import annotations

import json
import subprocess
import time
import urllib.request
from abc import ABC, abstractmethod
from typing import Any

from core.events import Event, NodeCommitted, RunFinished
from core.storage.reader import RunReader
from reports.conclusion import conclusion_of
from runs.facts import RunFacts
from utils.direction import Direction

SECONDS = 10.0
"""What a command or a server may take."""


class Notifier(ABC):
    """Sends at most one new best in `notify.seconds`; the newest is sent with the end if it is still waiting."""

    def __init__(self, facts: RunFacts) -> None:
        self._facts = facts
        self._every = facts.config.notify.seconds
        self._sent = float("-inf")
        self._waiting: dict[str, Any] | None = None

    def emit(self, event: Event) -> None:
        """Tell of a new best or the end."""
        if isinstance(event, NodeCommitted) and event.is_best and event.metric is not None:
            self._waiting = self._best(event)
            self._send_waiting(time.monotonic() - self._sent >= self._every)
        elif isinstance(event, RunFinished):
            try:
                self._send_waiting(True)
            finally:  # the end is told whatever became of the best
                self.send(self._end(event))

    def close(self) -> None:
        """A best that is still waiting is told: the process ends, not the run."""
        self._send_waiting(True)

    @abstractmethod
    def send(self, message: dict[str, Any]) -> None:
        """Deliver one message; OSError and subprocess errors where it cannot be."""

    def _send_waiting(self, now: bool) -> None:
        if self._waiting is not None and now:
            message, self._waiting, self._sent = self._waiting, None, time.monotonic()
            self.send(message)

    def _best(self, event: NodeCommitted) -> dict[str, Any]:
        is_step = event.number is not None
        named = f"step {event.number}, {event.node_id}" if is_step else f"{event.operator} {event.node_id}"
        told = f"new best {'candidate ' * is_step}{event.metric:.6g} {self._facts.problem.unit}, {named}"
        text = f"{self._facts.run}: {told}"
        return self._message("best", text, node_id=event.node_id, metric=event.metric, step=event.number)

    def _end(self, event: RunFinished) -> dict[str, Any]:
        verdict = ""
        if event.status == "finished":
            with RunReader(self._facts.run_dir) as reader:
                verdict = conclusion_of(reader).verdict.text
        text = f"{self._facts.run} {event.status} ({event.reason}). {verdict}".strip()
        return self._message(
            "end", text, node_id=event.best_node_id, metric=event.best_metric, step=event.steps,
            status=event.status, reason=event.reason, verdict=verdict,
        )  # fmt: skip

    def _message(self, event: str, text: str, **more: Any) -> dict[str, Any]:
        problem = self._facts.problem
        fixed = {"event": event, "text": text, "run": self._facts.run, "problem": problem.name, "unit": problem.unit}
        empty = {"status": "running", "reason": "", "verdict": ""}
        return {**fixed, "direction": Direction(problem.lower_is_better).optimum, **empty, **more}


class CommandNotifier(Notifier):
    """Starts the user's command with the message on its standard input, never in its words."""

    def send(self, message: dict[str, Any]) -> None:
        command = self._facts.config.notify.command or ""
        subprocess.run(
            command, shell=True, input=f"{json.dumps(message)}\n".encode(), timeout=SECONDS, check=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip


class UrlNotifier(Notifier):
    """Posts the message as JSON."""

    def send(self, message: dict[str, Any]) -> None:
        url = self._facts.config.notify.url
        assert url is not None
        request = urllib.request.Request(
            url.get_secret_value(), json.dumps(message).encode(), {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=SECONDS) as answer:
            answer.read(1000)
