"""What waits for the next transaction: who asks for it finds it stored, and told."""

from __future__ import annotations

import threading

import pytest

from core.state.task import Task
from core.storage.repository import RunStore


def test_who_settles_waits_for_what_another_thread_is_telling(tmp_path):
    """The end of a search was told before its last verdict: nothing waited, and another thread had not told it yet."""
    store = RunStore(tmp_path, delay=0.01)
    begun, go_on, told = threading.Event(), threading.Event(), []

    class Slow:
        def emit(self, event):
            begun.set()
            go_on.wait(10)
            told.append(event)

    store.sinks = [Slow()]
    store.open_round(0, [Task(node_id="n", operator="draft", round=0, slot=0, seed=1)], [{}])
    assert begun.wait(10)
    threading.Timer(0.2, go_on.set).start()
    store.settle()
    assert [event.type for event in told] == ["node.proposed"]
    store.close()


def test_a_fault_of_a_sink_is_raised_where_it_can_be_told(tmp_path):
    """The thread that stores what waits can tell nobody: a view that broke there was never heard of."""
    store = RunStore(tmp_path, delay=0.01)
    begun = threading.Event()

    class Broken:
        def emit(self, event):
            begun.set()
            raise RuntimeError("a view of ours is broken")

    store.sinks = [Broken()]
    store.open_round(0, [Task(node_id="n", operator="draft", round=0, slot=0, seed=1)], [{}])
    assert begun.wait(10)
    with pytest.raises(RuntimeError, match="a view of ours is broken"):
        store.settle()
    store.sinks = []
    store.put_fact("more", 1)  # once
    store.close()
