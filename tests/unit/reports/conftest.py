"""Runs on disk, written by the real store."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.contracts import CallRecord
from core.events import FinalScored, GenerationFinished, NoteAdded, RunFinished, RunStarted, Warned
from core.state.failure import FailureKind
from core.state.journal import Journal
from core.state.node import Node
from core.storage.repository import RunStore


def node(id: str, metric: float | None = None, parents: tuple[str, ...] = (), **fields: Any) -> Node:
    failure = fields.pop("failure", None)
    failed = failure is not None
    return Node(
        id=id, metric_value=metric, parent_ids=parents, parent_id=parents[0] if parents else None,
        code=fields.pop("code", f"x = '{id}'\nprint(x)\n"), failure=failure, is_buggy=failed,
        metric_source=None if metric is None else fields.pop("source", "verified"),
        writer=fields.pop("writer", "openai/gpt"), **fields,
    )  # fmt: skip


def small_search() -> list[Node]:
    return [
        node("draft0", 0.5, code="import a\nx = 1\n", plan="first plan"),
        node("broken", None, failure=FailureKind.TIMEOUT, message="ran past 5 s"),
        node("better", 0.3, ("draft0",), operator="improve", code="import a\nx = 2\n", plan="double x", exec_time=1.5),
        node("twin", None, ("draft0",), operator="improve", is_valid=False, duplicate_of="better", rung="text"),
        node("merged", 0.2, ("better", "draft0"), operator="merge", code="import a\nx = 3\n", claimed_metric=0.1),
    ]


@pytest.fixture
def write_run(tmp_path: Path) -> Callable[..., Path]:
    """Write a run: nodes, facts (those given replace the usual ones; None leaves one out), further events."""

    def write(
        nodes: list[Node], events: list[Any] | None = None, calls: list[CallRecord] | None = None, **facts: Any
    ) -> Path:
        run_dir = tmp_path / "logs" / "run-1"
        store = RunStore(run_dir)
        usual = {
            "run": "run-1", "problem": "competition/ames", "unit": "RMSLE", "family": "competition",
            "lower_is_better": True, "writer": "openai/gpt", "status": "finished", "active_seconds": 12.5,
            "started_at": "2026-01-02T03:04:05+00:00", "sandbox": {"tier": "warm"},
            "problem_note": "6 rows are hidden",
            "environment": {"python": "3.11", "packages": {"numpy": "2"}},
            "origin": {"words": ["run", "--data.goal=a b"]},
            "config": {"llm": {"code": {"api_key": "********", "model": "gpt"}}, "search": {"max_steps": 5}},
        }  # fmt: skip
        for key, value in {**usual, **facts}.items():
            if value is not None:
                store.put_fact(key, value)
        store.append([RunStarted(run="run-1", problem="competition/ames", lower_is_better=True, policy="three_phase")])
        journal = Journal(lower_is_better=bool({**usual, **facts}["lower_is_better"]))
        store.commit([journal.append(n) for n in nodes], [])
        for call in calls or []:
            store.save_call(call)
        store.append([*(events or []), RunFinished(status="finished", reason="max_steps: 5 of 5 steps")])
        store.close()
        return run_dir

    return write


@pytest.fixture
def full_run(write_run: Callable[..., Path]) -> Path:
    """A finished run with everything a report can show."""
    final = {"node_id": "merged", "metric": 0.25, "interval": [0.2, 0.3], "detail": {"final_reveals": 3}}
    call = dict(sample="s", provider="openai", model="gpt", prompt_tokens=1000, completion_tokens=50, cost_usd=0.0123)
    return write_run(
        small_search(),
        events=[
            GenerationFinished(
                generation=4,
                ratings=[{"node_id": "merged", "name": "Rook", "elo": 120.0, "low": 80.0, "high": 160.0, "wins": 9}],
                promoted=["merged"],
            ),
            NoteAdded(text="try trees"),
            Warned(text="claimed 0.1, scored 0.2"),
            FinalScored(node_id="merged", metric=0.25, interval=(0.2, 0.3)),
        ],
        calls=[CallRecord(request_hash="h", node_id="merged", role="code", **call)],
        final=final,
        baselines=[
            {"name": "ridge", "metric": 0.4, "final": 0.41, "failure": None, "final_interval": [0.4, 0.5]},
            {"name": "dummy", "metric": None, "failure": "timeout"},
        ],
    )


@pytest.fixture
def small_nodes() -> list[Node]:
    return small_search()
