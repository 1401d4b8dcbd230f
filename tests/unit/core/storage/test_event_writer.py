"""What waits for the next transaction: who asks for it finds it stored, and told."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from types import SimpleNamespace

import pytest
from support.processes import eventually

from core.contracts import CallRecord
from core.events import StageDone, Warned
from core.state.task import Task
from core.storage import chain
from core.storage.fault import FaultPoint
from core.storage.reader import RunReader
from core.storage.repository import RunStore
from core.storage.store_check import check_store
from utils.errors import StoreError


def done(stage):
    return StageDone(node_id="n", stage=stage)


def call(sample, **more):
    return CallRecord(request_hash="a" * 64, sample=sample, node_id="n", system="s", user="u", reply="ok", **more)


class Late:
    """Another thread has something to store, just when what waits was taken."""

    def __init__(self, store):
        self.store = store

    def before(self, kind):
        self.store._fault = FaultPoint()
        later = threading.Thread(target=self.store.save_stage, args=("n", "second", {}, [done("second")]))
        later.start()
        later.join(60)


def test_who_settles_waits_for_what_another_thread_is_telling(tmp_path):
    """The end of a search was told before its last verdict: nothing waited, and another thread had not told it yet."""
    store = RunStore(tmp_path, delay=0.01)
    begun, go_on, told = threading.Event(), threading.Event(), []

    class Slow:
        def emit(self, event):
            begun.set()
            go_on.wait(60)
            told.append(event)

    store.sinks = [Slow()]
    store.open_round([Task(node_id="n", operator="draft", round=0, slot=0, seed=1)], [{}])
    assert begun.wait(60)
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
    store.open_round([Task(node_id="n", operator="draft", round=0, slot=0, seed=1)], [{}])
    assert begun.wait(60)
    with pytest.raises(RuntimeError, match="a view of ours is broken"):
        store.settle()
    store.sinks = []
    store.put_fact("more", 1)  # once
    store.close()


def test_what_comes_to_wait_meanwhile_is_stored_behind_what_waited_before(tmp_path):
    """Between the taking of what waits and its transaction another thread's write slipped before it."""
    store = RunStore(tmp_path, delay=60.0)
    told: list[str] = []

    class Told:
        def emit(self, event):
            told.append(event.stage)

    store.sinks, store._fault = [Told()], Late(store)
    store.save_stage("n", "first", {}, [done("first")])
    store.append([done("own")])
    store.close()
    assert told == ["first", "own", "second"]


def test_a_transaction_that_fails_takes_no_number_of_what_came_meanwhile(tmp_path):
    store = RunStore(tmp_path, delay=60.0)

    def broken():
        raise StoreError("the disk is full")

    store._fault = Late(store)
    with pytest.raises(StoreError, match="the disk is full"):
        store._write("events", broken, [done("own")])
    store.append([done("next")])
    store.close()
    with RunReader(tmp_path) as reader:
        assert [event.stage for event in reader.events()] == ["second", "next"]


def gathered(store, works):
    """What each of these works raised, which were all begun while another thread stored something."""
    begun, go_on = threading.Event(), threading.Event()

    class Slow:
        def emit(self, event):
            begun.set()
            go_on.wait(60)

    store.sinks = [Slow()]
    with ThreadPoolExecutor(len(works) + 1) as pool:
        pool.submit(store.append, [done("first")])
        assert begun.wait(60)
        found = [pool.submit(work) for work in works]
        eventually(lambda: len(store._waiting) == len(works))
        go_on.set()
        return [one.exception(timeout=60) for one in found]


def test_writes_that_come_while_one_is_stored_share_a_transaction(tmp_path):
    store = RunStore(tmp_path)
    before = store.db.value("SELECT max(seq) FROM chain") or 0
    raised = gathered(store, [partial(store.save_call, call(f"s{number}")) for number in range(4)])
    assert raised == [None] * 4
    assert store.db.value("SELECT max(seq) FROM chain") == before + 2
    assert sorted(one.sample for one in store.calls()) == ["s0", "s1", "s2", "s3"]
    store.close()
    assert not check_store(tmp_path).findings


def test_who_shares_a_transaction_with_a_write_that_fails_is_not_refused(tmp_path):
    """The one that fails hears of it, and nothing of it is stored."""
    store = RunStore(tmp_path)

    def broken():
        raise StoreError("no such value")

    works = [partial(store._write, "events", broken, [done("bad")])]
    works += [partial(store.append, [done(f"good {number}")]) for number in range(3)]
    raised = gathered(store, works)
    assert [str(error) for error in raised if error is not None] == ["no such value"]
    assert raised[0] is not None
    store.close()
    with RunReader(tmp_path) as reader:
        told = [event.stage for event in reader.events()]
    assert told[0] == "first"
    assert sorted(told[1:]) == ["good 0", "good 1", "good 2"]


class Broken:
    """A view of ours."""

    def __init__(self):
        self.told = threading.Event()

    def emit(self, event):
        self.told.set()
        raise RuntimeError("a view of ours is broken")


def in_a_thread(work):
    """What it raised."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(work).exception(timeout=60)


def test_a_fault_of_a_sink_is_not_taken_for_that_of_another_threads_write(tmp_path):
    """A writer outside was refused a ticket that was stored as leased; the search did not hear of the broken view."""
    store = RunStore(tmp_path, delay=0.01)
    store.sinks = [view := Broken()]
    store.save_stage("n", "execute", {}, [done("execute")])
    assert view.told.wait(60)
    assert in_a_thread(lambda: store.put_fact("ticket", 1)) is None
    assert in_a_thread(lambda: store.append([done("review")])) is None
    with pytest.raises(RuntimeError, match="a view of ours is broken"):
        store.put_fact("more", 1)
    store.sinks = []
    store.close()


@pytest.mark.parametrize("raised", [OSError("the disk is full"), KeyboardInterrupt()])
def test_what_ends_the_telling_of_one_sink_keeps_no_other_from_hearing(tmp_path, raised):
    """Of the verdict that the full disk kept from metrics.json neither the page, the log nor a waiting writer heard."""
    store, told = RunStore(tmp_path, delay=60.0), {"before": [], "behind": []}
    faults = [raised]

    def broken(event):
        if faults:
            raise faults.pop()

    heard = {name: SimpleNamespace(emit=lambda event, own=own: own.append(event.stage)) for name, own in told.items()}
    store.sinks = [heard["before"], SimpleNamespace(emit=broken), heard["behind"]]
    store.save_stage("n", "first", {}, [done("first")])
    with pytest.raises(type(raised)):
        store.append([done("second")])
    store.append([done("third")])
    store.close()
    assert told == {"before": ["first", "second", "third"], "behind": ["first", "second", "third"]}


def test_half_a_character_keeps_no_event_from_being_stored(tmp_path):
    """A warning that named a file whose name is no UTF-8 ended the run, with all that shared its transaction."""
    store, told = RunStore(tmp_path, delay=60.0), []
    store.sinks = [SimpleNamespace(emit=told.append)]
    store.save_stage("n", "waits", {}, [done("waits")])
    store.append([Warned(text="data/m\udcfcll.csv: left out", node_id="n"), done("behind")])
    store.close()
    with RunReader(tmp_path) as reader:
        assert reader.events() == told
    assert [event.type for event in told] == ["node.stage", "warning", "node.stage"]
    assert told[1].text == "data/m?ll.csv: left out"


def test_a_search_that_only_writes_what_may_wait_hears_of_a_broken_sink(tmp_path):
    """Up to its end, hours later, it heard nothing."""
    store = RunStore(tmp_path, delay=0.01)
    store.sinks = [view := Broken()]
    store.save_stage("n", "execute", {}, [done("execute")])
    assert view.told.wait(60)
    with pytest.raises(RuntimeError, match="a view of ours is broken"):
        eventually(lambda: store.save_stage("n", "execute", {}))
    store.sinks = []
    store.close()


class Stopped:
    """A connection: a second Ctrl-C comes while the disk writes, and is raised behind the `COMMIT` that was done."""

    def __init__(self, connection):
        self._connection = connection
        self._is_to_come = True

    def __getattr__(self, name):
        return getattr(self._connection, name)

    def execute(self, statement, *values):
        found = self._connection.execute(statement, *values)
        if statement == "COMMIT" and self._is_to_come:
            self._is_to_come = False
            raise KeyboardInterrupt
        return found


def test_a_stop_right_behind_a_commit_stores_nothing_twice(tmp_path):
    """What was stored was taken for lost: why the run had ended could not be stored, and its end was an error."""
    store, told = RunStore(tmp_path, delay=60.0), []
    store.append([done("first")])
    store.sinks = [SimpleNamespace(emit=lambda event: told.append(event.stage))]
    store.save_stage("n", "waits", {}, [done("waits")])
    store.db._connection = Stopped(store.db._connection)
    with pytest.raises(KeyboardInterrupt):
        store.append([done("second")])
    store.append([done("third")])
    head = store.journal_head
    store.close()
    assert told == ["waits", "second", "third"]
    assert not check_store(tmp_path).findings
    with RunReader(tmp_path) as reader:
        assert [event.stage for event in reader.events()] == ["first", "waits", "second", "third"]
        assert reader.journal_head() == head


@pytest.mark.parametrize(("raised", "heard"), [(KeyboardInterrupt, KeyboardInterrupt), (ValueError, StoreError)])
def test_a_stop_inside_of_sqlite_is_a_stop_and_no_error_of_the_store(tmp_path, monkeypatch, raised, heard):
    """SQLite calls us for each row, and knows only that we raised something: a run that was stopped then had failed."""
    store = RunStore(tmp_path)

    def stopped(values):
        raise raised

    with monkeypatch.context() as patched, pytest.raises(heard):
        patched.setattr(chain, "row_hash", stopped)
        store.append([done("first")])
    store.append([done("second")])
    store.close()
    assert not check_store(tmp_path).findings


def test_a_resumed_run_looks_for_answers_without_writing_what_waits(tmp_path):
    """Each call of a resumed run wrote the batch that was to wait: a step took a fifth longer than in a new run."""
    first = RunStore(tmp_path)
    first.save_call(call("1/n/code/0"))
    first.close()
    store = RunStore(tmp_path, delay=60.0)
    ours = call("1/m/code/0", provider="rules")
    assert store.find_call("a" * 64, "1/n/code/0") == call("1/n/code/0")
    store.save_call(ours)
    assert store.find_call("a" * 64, "1/o/code/0") is None
    assert len(store.db.select("SELECT 1 FROM calls", stored=True)) == 1
    assert store.find_call("a" * 64, "1/m/code/0") == ours
    store.close()
