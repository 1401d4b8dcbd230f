"""Baselines beside the search: scored by the same evaluator in the same sandbox, kept as a fact of the run."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any

from core.contracts import Store
from core.events import BaselineScored, Event
from core.loop.commit_events import failed_baseline
from core.state.node import Node
from core.state.task import node_id
from core.storage.repository import RunStore
from core.storage.rows import BESIDE
from runs.search import Search
from utils.errors import BudgetExhausted, ConfigError, Interrupted
from utils.logger_system import log_msg
from utils.stats import proper_interval


class BaselineRunner:
    """Scores the problem's baselines in a thread of its own while the search goes on.

    The fact `baselines` is a list of `{name, own, node_id, metric, failure, message, final, files}`; what it holds is
    not run again. Each stands whole, as a node, in a fact of its own, so that one that leads can be shown. Problems
    whose baselines seed the search have them in the journal, and nothing happens here.

    Args:
        stop: ends the search, where a baseline shows that the user's configuration can score nothing.
    """

    def __init__(self, search: Search, store: RunStore, stop: Callable[[], None] = lambda: None) -> None:
        self._search = search
        self._store = store
        self._stop = stop
        self._thread = threading.Thread(target=self._work, name="baselines", daemon=True)
        self._error: BaseException | None = None
        self._abandoned = threading.Event()

    def start(self) -> None:
        if not self._search.problem.seeds_search:
            self._thread.start()

    def finish(self) -> None:
        """Wait for the last one; what the budget cut off is scored now. ConfigError: as `check`."""
        if self._thread.ident is None:
            return
        self._thread.join()
        if isinstance(self._error, BudgetExhausted):
            self._error = None
            self._work()
        self.check()
        if self._error is not None and not isinstance(self._error, Interrupted):
            log_msg("WARNING", f"baselines: {self._error}")

    def check(self) -> None:
        """Raise what a baseline has shown to be wrong with the configuration, if anything."""
        if isinstance(self._error, ConfigError):
            raise self._error

    def abandon(self) -> None:
        """The process ends before its run: what is being scored meets closed doors, and a resume scores it anew."""
        self._abandoned.set()

    def _work(self) -> None:
        known: list[dict[str, Any]] = list(self._store.get_fact("baselines") or [])
        try:
            for slot, baseline in enumerate(self._search.problem.baselines()):
                if any(row["name"] == baseline.name for row in known):
                    continue
                node = baseline_node(self._search.config.project.seed, slot, baseline.name, baseline.code)
                verdict = self._search.evaluator.evaluate([node])[0]
                if self._abandoned.is_set():
                    return
                row = {
                    "name": baseline.name,
                    "own": baseline.own,
                    "node_id": node.id,
                    "metric": verdict.metric,
                    "source": verdict.source,
                    "failure": verdict.failure.value if verdict.failure else None,
                    "message": verdict.message,
                    "files": verdict.files,
                    "interval": list(verdict.interval) if verdict.interval else None,
                }
                known.append(row)
                name, own, failure = baseline.name, baseline.own, verdict.failure
                events: list[Event] = [
                    BaselineScored(name=name, own=own, node_id=node.id, metric=verdict.metric, failure=failure)
                ]
                if failure is not None:
                    events.append(failed_baseline(name, own, failure, verdict.message, node.id))
                program = scored_as(node, row).model_dump(mode="json")
                self._store.put_facts({"baselines": known, f"{BESIDE}{node.id}": program}, events)
        except ConfigError as error:
            self._error = error
            self._stop()
        except Exception as error:  # noqa: BLE001 - told at the end: a baseline must not stop the search
            self._error = error


def told_baselines(store: Store) -> str:
    """What the baselines beside the search score, for prompts, a line each; '' where there are none."""
    rows: list[dict[str, Any]] = store.get_fact("baselines") or []
    return "\n".join(f"- {row['name']}: {row['metric']:.6g}" for row in rows if row["metric"] is not None)


def scored_as(node: Node, row: Mapping[str, Any]) -> Node:
    """A baseline with what its row says of it."""
    known = {
        "metric_value": row["metric"],
        "metric_source": row.get("source"),
        "interval": proper_interval(row.get("interval")),
        "files": row.get("files") or {},
        "failure": row["failure"],
        "is_buggy": row["failure"] is not None,
        "message": row["message"],
        "writer": "user" if row.get("own") else "baseline",
    }
    return Node.model_validate({**node.model_dump(), **known})


def baseline_node(seed: int, slot: int, name: str, code: str) -> Node:
    return Node(id=node_id(seed, "baseline", slot), code=code, operator="baseline", plan=name, name=name)
