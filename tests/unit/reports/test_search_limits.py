"""How the limits of a search changed from one process of a run to the next, in words."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.events import Event, NodeCommitted, RunStarted
from core.storage.reader import RunReader
from core.storage.repository import RunStore
from reports.search_limits import changed_limits


def begun(steps: int | None, **more: object) -> RunStarted:
    return RunStarted(run="r", problem="p", lower_is_better=True, max_steps=steps, **more)


def made(*operators: str) -> list[NodeCommitted]:
    return [NodeCommitted(node_id=f"{i}", step=i, operator=operator) for i, operator in enumerate(operators)]


@pytest.mark.parametrize(("events", "told"), [
    ([begun(5), *made("baseline", "draft"), begun(5)], ""),
    ([begun(5), *made("baseline", "draft", "improve"), begun(8)], "at most 5 steps, from step 3 on at most 8 steps"),
    ([begun(5), begun(8), *made("draft"), begun(8), begun(8, budget={"seconds": 90})],
     "at most 5 steps, from step 1 on at most 8 steps, from step 2 on at most 8 steps, 90 s"),
    ([begun(1), *made("draft"), begun(None)], "at most 1 step, from step 2 on no limit"),
])  # fmt: skip
def test_only_what_changed_is_told_with_the_step_from_which_it_holds(tmp_path: Path, events: list[Event], told: str):
    """A baseline is no step, and a resume with the same limits no change."""
    store = RunStore(tmp_path)
    store.append(events)
    store.close()
    with RunReader(tmp_path) as reader:
        assert changed_limits(reader) == told
