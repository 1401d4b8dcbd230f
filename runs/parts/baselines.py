"""Baselines beside the search: scored by the same evaluator in the same sandbox, kept as a fact of the run."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any

from core.contracts import Baseline, Evaluation, Store
from core.events import BaselineScored, Event
from core.loop.commit_events import failed_baseline
from core.state.node import Node
from core.state.task import node_id
from core.storage.repository import RunStore
from core.storage.rows import BESIDE
from runs.search import Search
from utils.direction import Direction
from utils.errors import BudgetExhausted, ConfigError, Interrupted
from utils.logger_system import log_msg
from utils.packages import missing_module
from utils.stats import proper_interval

TOLD = "baselines_told"
"""The fact: names of the baselines that prompts tell, fixed before the first of them."""


class BaselineRunner:
    """Scores the problem's baselines on the workers while the search goes on, or before it.

    The fact `baselines` is a list of `{name, own, node_id, metric, failure, message, final, files}` in the problem's
    order; what it holds is not run again. Each stands whole, as a node, in a fact of its own, so that one that leads
    can be shown. Problems whose baselines seed the search have them in the journal, and nothing happens here.

    Beside a search at most half of the workers score baselines.

    Args:
        stop: ends the search, where a baseline shows that the user's configuration can score nothing.
        needed: modules that every program of this search imports; none where models write: they are told what there is.
    """

    def __init__(
        self, search: Search, store: RunStore, stop: Callable[[], None] = lambda: None, needed: Sequence[str] = ()
    ) -> None:
        self._search = search
        self._store = store
        self._stop = stop
        self._needed = {name.partition(".")[0] for name in needed}
        self._lock = threading.Lock()
        self._pool: ThreadPoolExecutor | None = None
        self._scored: dict[str, Future[None]] = {}
        self._abandoned = threading.Event()
        self._wrong: ConfigError | None = None
        self._order: dict[str, int] = {}

    def start(self) -> None:
        """Begin with the first, beside the search."""
        self._begin(max(1, self._search.deps.jobs.slots // 2))

    def score_first(self, searched: float | None, told: Sequence[str] | None = None) -> None:
        """Score them before the search, whose prompts tell what they score: all the same, so that what is not scored in
        the time that the run's allowance has for it is never told. It goes on beside the search.

        Args:
            searched: seconds of the search; None: without a limit.
            told: names of those that a run told which is replayed: they are waited for.
        """
        allowance, deps = self._search.deps.allowance, self._search.deps
        told = self._store.get_fact(TOLD) if told is None else told
        seconds = allowance.before(searched) if told is None else math.inf
        limit = f", in at most {seconds:.0f} s" if told is None else ""
        deps.doing(f"the baselines are scored first: prompts tell what they score{limit}")
        began = time.monotonic()
        self._begin(deps.jobs.slots)
        if not self._wait(seconds, told):
            log_msg("WARNING", f"baselines: not all are scored{limit}; prompts do not tell the others")
        self._store.put_fact(TOLD, [row["name"] for row in self._rows()] if told is None else list(told))
        allowance.spend(time.monotonic() - began)
        deps.doing("")

    def _wait(self, seconds: float, names: Sequence[str] | None = None) -> bool:
        """Wait for those of that name, or for all, but no longer than so many seconds; True if all of them are over."""
        wanted = [future for name, future in self._scored.items() if names is None or name in names]
        return not wait(wanted, None if math.isinf(seconds) else seconds).not_done

    def finish(self, seconds: float = math.inf) -> None:
        """Wait for the last; what the budget cut off is scored now. What takes longer is left out. ConfigError: as
        `check`.
        """
        if self._pool is None:
            return
        self._pool.shutdown(wait=False, cancel_futures=True)
        end = time.monotonic() + seconds
        for _ in range(2):  # what the budget is just about to cut off shows only when it is over
            cut = [name for name, future in self._scored.items() if _is_open(future)]
            self._begin(self._search.deps.jobs.slots, cut)
            in_time = self._wait(max(0.0, end - time.monotonic()))
        if not in_time:
            late = [name for name, future in self._scored.items() if not future.done()]
            self._abandoned.set()
            log_msg("WARNING", f"baselines left out: {', '.join(late)}: the end of this run has {seconds:.0f} s")
        self.check()
        for name, future in self._scored.items():
            error = future.exception() if future.done() and not future.cancelled() else None
            if error is not None and not isinstance(error, Interrupted):
                log_msg("WARNING", f"baselines: {name}: {error}")

    def check(self) -> None:
        """Raise what a baseline has shown to be wrong with the configuration, if anything."""
        if self._wrong is not None:
            raise self._wrong

    def abandon(self) -> None:
        """The process ends before its run: what is being scored meets closed doors, and a resume scores it anew."""
        self._abandoned.set()

    def _begin(self, at_once: int, names: Sequence[str] | None = None) -> None:
        """Score those of `names`, or all that are not known."""
        problem = self._search.problem
        if problem.seeds_search:
            return
        known = {row["name"] for row in self._rows()}
        self._pool = ThreadPoolExecutor(at_once, thread_name_prefix="baselines")
        baselines = problem.baselines()
        self._order = {baseline.name: slot for slot, baseline in enumerate(baselines)}
        for slot, baseline in enumerate(baselines):
            if baseline.name not in known and (names is None or baseline.name in names):
                self._scored[baseline.name] = self._pool.submit(self._score, slot, baseline)

    def _rows(self) -> list[dict[str, Any]]:
        return list(self._store.get_fact("baselines") or [])

    def _score(self, slot: int, baseline: Baseline) -> None:
        if self._abandoned.is_set():
            return
        node = baseline_node(self._search.config.project.seed, slot, baseline.name, baseline.code)
        try:
            verdict = self._search.evaluator.evaluate([node])[0]
            self._check_packages(baseline, verdict)
        except ConfigError as error:
            self._wrong = error
            self._stop()
            return
        with self._lock:
            if not self._abandoned.is_set():
                self._keep(node, baseline, verdict)

    def _check_packages(self, baseline: Baseline, verdict: Evaluation) -> None:
        lacks = "" if baseline.own or verdict.failure is None else missing_module(verdict.message)
        if lacks.partition(".")[0] in self._needed:
            python = self._search.config.execution.python
            raise ConfigError(
                f"execution.python={python}: it has no '{lacks}', which all that `rules` writes for this problem "
                "imports; name an interpreter that has it"
            )

    def _keep(self, node: Node, baseline: Baseline, verdict: Evaluation) -> None:
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
        name, own, failure = baseline.name, baseline.own, verdict.failure
        events: list[Event] = [
            BaselineScored(name=name, own=own, node_id=node.id, metric=verdict.metric, failure=failure)
        ]
        if failure is not None:
            events.append(failed_baseline(name, own, failure, verdict.message, node.id))
        program = scored_as(node, row, Direction(self._search.problem.lower_is_better)).model_dump(mode="json")
        order = self._order
        rows = sorted([*self._rows(), row], key=lambda one: order.get(one["name"], len(order)))
        self._store.put_facts({"baselines": rows, f"{BESIDE}{node.id}": program}, events)


def _is_open(future: Future[None]) -> bool:
    """True if it was not begun, or cut off by the budget of the search."""
    return future.cancelled() or (future.done() and isinstance(future.exception(), BudgetExhausted))


def told_baselines(store: Store) -> str:
    """What the baselines beside the search score, for prompts, a line each; '' where there are none."""
    rows: list[dict[str, Any]] = store.get_fact("baselines") or []
    told = store.get_fact(TOLD)
    scored = [row for row in rows if row["metric"] is not None and (told is None or row["name"] in told)]
    return "\n".join(f"- {row['name']}: {row['metric']:.6g}" for row in scored)


def scored_as(node: Node, row: Mapping[str, Any], direction: Direction) -> Node:
    """A baseline with what its row says of it, and what the journal would say of a node of its own."""
    known = {
        "metric_value": row["metric"],
        "lower_is_better": direction.lower_is_better,
        "fitness": direction.fitness(row["metric"]),
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
