"""`tracking.mlflow`: a run of MLflow for each run: parameters, metrics by step, tags, status.

The server is asked by MLflow's own client; tokens come from its variables (`MLFLOW_TRACKING_TOKEN`, …). A resumed run
goes on in the same run of MLflow. Files leave only with `tracking.programs=true`.
"""

from __future__ import annotations

import os
import time
from typing import Any

from core.events import Event, FinalScored, NodeCommitted, RunFinished
from core.storage.reader import RunReader
from reports.conclusion import conclusion_of
from runs.facts import RunFacts
from utils.config import to_plain

METRICS = ("metric", "best_metric", "exec_time", "prompt_tokens", "completion_tokens", "cost_usd", "elapsed")
"""Fields of a step that become metrics, under the same names."""
BATCH, SECONDS = 200, 2.0
"""Metrics are sent when so many have gathered or so long has passed."""
MOST_PARAMS = 100
"""Of one request; the server takes no more."""
TAG = "swarm_evo.run"


class MlflowTracker:
    """Finds or makes the experiment and the run, then sends metrics in batches."""

    def __init__(self, facts: RunFacts) -> None:
        os.environ.setdefault("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "2")
        os.environ.setdefault("MLFLOW_HTTP_REQUEST_TIMEOUT", "10")
        from mlflow.tracking import MlflowClient

        self._facts = facts
        self._client: Any = MlflowClient(tracking_uri=facts.config.tracking.mlflow)
        self._waiting: list[Any] = []
        self._sent = time.monotonic()
        with RunReader(facts.run_dir) as reader:
            self._step, self._failures = reader.steps(), sum(reader.failures().values())
        self._finished = False
        self._run_id = self._open()

    def emit(self, event: Event) -> None:
        """Keep a step's numbers, and send them in batches."""
        if isinstance(event, NodeCommitted):
            self._failures += event.failure is not None
            self._step = self._step if event.number is None else event.number
            numbers = {name: getattr(event, name) for name in METRICS} | {"failures": self._failures}
            self._add(numbers, self._step, event.at.timestamp())
        elif isinstance(event, FinalScored):
            self._add({"final_metric": event.metric}, self._step, event.at.timestamp())
        elif isinstance(event, RunFinished):
            self._send()
            self._end(event)
        if len(self._waiting) >= BATCH or time.monotonic() - self._sent > SECONDS:
            self._send()

    def close(self) -> None:
        """Send what is left; the winner's files are whole by now."""
        self._send()
        best = self._facts.run_dir / "best_solution"
        if self._finished and self._facts.config.tracking.programs and best.is_dir():
            self._client.log_artifacts(self._run_id, str(best), "best_solution")

    def _open(self) -> str:
        name, run = self._facts.config.tracking.experiment, self._facts.run
        found = self._client.get_experiment_by_name(name)
        experiment = found.experiment_id if found else self._client.create_experiment(name)
        known = self._client.search_runs([experiment], f"tags.`{TAG}` = '{run}'", max_results=1)
        if known:
            self._client.update_run(known[0].info.run_id, status="RUNNING")
            return str(known[0].info.run_id)
        problem = self._facts.problem
        tags = {TAG: run, "swarm_evo.problem": problem.name, "swarm_evo.writer": self._facts.writer}
        made = self._client.create_run(experiment, run_name=run, tags=tags)
        from mlflow.entities import Param

        params = [Param(name, str(value)[:500]) for name, value in _flat(to_plain(self._facts.config))]
        for start in range(0, len(params), MOST_PARAMS):
            self._client.log_batch(made.info.run_id, params=params[start : start + MOST_PARAMS])
        return str(made.info.run_id)

    def _add(self, numbers: dict[str, Any], step: int, at: float) -> None:
        from mlflow.entities import Metric

        known = [(name, value) for name, value in numbers.items() if value is not None]
        self._waiting += [Metric(name, float(value), int(at * 1000), step) for name, value in known]

    def _send(self) -> None:
        waiting, self._waiting, self._sent = self._waiting, [], time.monotonic()
        for start in range(0, len(waiting), 1000):
            self._client.log_batch(self._run_id, metrics=waiting[start : start + 1000])

    def _end(self, event: RunFinished) -> None:
        status = {"finished": "FINISHED", "interrupted": "KILLED", "failed": "FAILED"}[event.status]
        if event.status == "finished":
            with RunReader(self._facts.run_dir) as reader:
                verdict = conclusion_of(reader).verdict
            self._client.set_tag(self._run_id, "swarm_evo.verdict", verdict.text[:5000])
            self._finished = True
        self._client.set_terminated(self._run_id, status)


def _flat(plain: Any, path: str = "") -> Any:
    """Dotted key and value of everything that is set; secrets are masked already."""
    if isinstance(plain, dict):
        for name, value in plain.items():
            yield from _flat(value, f"{path}.{name}" if path else str(name))
    elif plain is not None and plain != [] and path:
        yield path, plain
