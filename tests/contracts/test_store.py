"""What every Store must do. A new one joins by a line in STORES."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.contracts import CallRecord
from core.events import GameFinished, NodeCommitted, NoteAdded, RoundOpened, Warned
from core.state.fingerprint import text_hash
from core.state.journal import Journal
from core.state.node import Node
from core.state.task import Task
from core.storage.reader import RunReader
from core.storage.repository import RunStore

STORES: dict[str, Callable[[Path], Any]] = {"sqlite": RunStore}


@pytest.fixture(params=STORES)
def opened(request, tmp_path):
    """Opens the store of one place, as often as asked."""
    made: list[Any] = []

    def open_() -> Any:
        made.append(STORES[request.param](tmp_path / "run"))
        return made[-1]

    yield open_
    for store in made:
        store.close()


def task(number: int, slot: int = 0, **more: Any) -> Task:
    return Task(node_id=f"n{number}{slot}", operator="draft", round=number, slot=slot, seed=number, **more)


def node(name: str, **more: Any) -> Node:
    return Node(id=name, code=f"print('{name}')\n", **more)


class Listener:
    def __init__(self) -> None:
        self.told: list[Any] = []

    def emit(self, event: Any) -> None:
        self.told.append(event)


# ---------------------------------------------------------------- rounds and stages


def test_a_round_is_there_for_the_next_process(opened):
    store = opened()
    assert store.rounds() == 0 and store.open_tasks() == []
    tasks = [task(0, 0), task(0, 1)]
    store.open_round(tasks, [{"rule": "a"}, {"rule": "b"}], [RoundOpened(round=0, node_ids=["n00", "n01"])])
    store.close()
    again = opened()
    assert again.open_tasks() == tasks
    assert again.rounds() == 1
    with RunReader(again.run_dir) as reader:
        assert reader.why("n01") == {"rule": "b"} and reader.why("unknown") == {}


def test_facts_of_a_round_are_known_at_once_and_stored_with_it(opened, monkeypatch):
    store = opened()
    store.open_round([task(0)], [{}], [], {"round/0/notes": ["try trees"]})
    assert store.get_fact("round/0/notes") == ["try trees"]
    with monkeypatch.context() as broken:
        broken.setattr(store, "_number", lambda event: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            store.open_round([task(1)], [{}], [], {"round/1/notes": ["try forests"]})
    store.db.close()
    again = opened()
    assert again.get_fact("round/0/notes") == ["try trees"]
    assert again.get_fact("round/1/notes") is None and again.rounds() == 1


def test_open_tasks_come_in_order_and_leave_when_committed(opened):
    store = opened()
    store.open_round([task(1, 1), task(1, 0)], [{}, {}], [])
    store.open_round([task(0, 0)], [{}], [])
    assert [t.node_id for t in store.open_tasks()] == ["n00", "n10", "n11"]
    store.commit([node("n10")], [])
    assert [t.node_id for t in store.open_tasks()] == ["n00", "n11"]


def test_a_stage_is_kept_until_its_node_is_committed(opened):
    store = opened()
    store.save_stage("a", "reply", {"text": "hello"})
    store.save_stage("a", "reply", {"text": "hello again"})
    store.save_stages("execute", {"a": {"metric": 1.5}, "b": {"metric": None}})
    assert store.stages("a") == {"reply": {"text": "hello again"}, "execute": {"metric": 1.5}}
    assert store.stages("b") == {"execute": {"metric": None}}
    store.commit([node("a")], [])
    assert store.stages("a") == {} and store.stages("b")


# ---------------------------------------------------------------- nodes

TEXT = st.text(st.characters(codec="utf-8"), max_size=200) | st.sampled_from(["", "\x00", "a\ud800b", "é\n" * 50])
NODES = st.builds(
    Node,
    id=st.just("n"),
    code=TEXT,
    plan=TEXT,
    term_out=TEXT,
    analysis=TEXT,
    metric_value=st.none() | st.floats(allow_nan=False, allow_infinity=False),
    signature=st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=4).map(tuple),
    is_buggy=st.booleans(),
    is_valid=st.booleans(),
    metadata=st.dictionaries(st.text(max_size=5), st.none() | st.integers(-(2**53), 2**53) | TEXT, max_size=3),
    generation=st.none() | st.integers(0, 9),
    operator=st.sampled_from(["draft", "merge", "tune", "user"]),
)


@given(found=NODES)
def test_a_node_comes_back_as_it_went(opened, found):
    store = opened()
    number = len(store.nodes())
    stored = found.model_copy(update={"id": f"n{number}", "step": number})
    store.commit([stored], [])
    (back,) = [n for n in store.nodes() if n.id == stored.id]
    assert back == stored


def test_the_journal_of_a_stored_run_has_the_same_hash(opened):
    journal, store = Journal(lower_is_better=True), opened()
    for number in range(20):
        parents = (f"n{number // 2}",) if number else ()
        one = node(f"n{number}", parent_ids=parents, metric_value=1 / (number + 3), signature=(0.1 * number, 1e-17))
        store.commit([journal.append(one)], [])
    again = Journal(lower_is_better=True, nodes=opened().nodes())
    assert again.sha256 == journal.sha256
    assert again.get_best_node().id == journal.get_best_node().id == "n19"


def test_a_commit_is_all_or_nothing(opened):
    store = opened()
    store.commit([node("a", step=0)], [Warned(text="one")])
    listener = Listener()
    store.sinks = [listener]
    with pytest.raises(Exception, match=r".+"):
        store.commit([node("b", step=1), node("a", step=2)], [Warned(text="two")])
    assert [n.id for n in store.nodes()] == ["a"] and listener.told == []
    store.commit([node("b", step=1)], [Warned(text="three")])
    assert [n.code for n in store.nodes()] == ["print('a')\n", "print('b')\n"], "texts of the failed write are there"
    assert [event.seq for event in listener.told] == [2], "the failed write has taken no number"


# ---------------------------------------------------------------- facts, calls, games


@pytest.mark.parametrize("value", [None, 0, 1.5, "é", [1, {"a": None}], {"deep": {"er": [True]}}])
def test_a_fact_is_plain_json_and_the_last_word_counts(opened, value):
    store = opened()
    assert store.get_fact("x") is None
    store.put_fact("x", "before")
    store.put_facts({"x": value, "y": 2})
    assert opened().get_fact("x") == value and store.get_fact("y") == 2


def test_a_call_is_found_by_its_request_and_its_draw(opened):
    store, listener = opened(), Listener()
    store.sinks = [listener]
    call = CallRecord(
        request_hash="h", sample="1/n/code/0", node_id="n", system="# S\nbe brief\n## More\nx", user="hello", reply="ok"
    )
    store.save_call(call)
    assert opened().find_call("h", "1/n/code/0") == call
    assert store.find_call("h", "1/n/code/1") is None and store.find_call("other", "1/n/code/0") is None
    assert store.calls("n") == [call] == store.calls() and store.calls("m") == []
    assert [event.type for event in listener.told] == ["llm.called"]


def test_a_game_is_told_once(opened):
    store, listener = opened(), Listener()
    store.sinks = [listener]
    told = GameFinished(game_id="g", game="chess", white="a", black="b", result="1-0", termination="mate", plies=3)
    game = {"white": "a", "black": "b", "result": "1-0", "generation": 2}
    store.put("k", game, [told])
    assert opened().get("k") == game and store.get("other") is None and store.all() == [game]
    assert [event.type for event in listener.told] == ["game.finished"]


# ---------------------------------------------------------------- one sequence


def test_events_are_numbered_without_gaps_across_processes(opened):
    store, listener = opened(), Listener()
    store.sinks = [listener]
    store.append([NoteAdded(text="a"), NoteAdded(text="b")])
    store.put_fact("x", 1, [NoteAdded(text="c")])
    store.close()
    again = opened()
    again.sinks = [listener]
    again.commit([node("n")], [NodeCommitted(node_id="n", step=0, operator="draft")])
    assert [event.seq for event in listener.told] == [1, 2, 3, 4]
    assert [event.node_id for event in again.committed_events()] == ["n"]
    assert all(event.at.utcoffset() is not None for event in listener.told)


def test_many_threads_share_it(opened):
    store, listener = opened(), Listener()
    store.sinks = [listener]

    def write(thread: int) -> None:
        for number in range(20):
            store.save_stage(f"{thread}-{number}", "execute", {"metric": number}, [NoteAdded(text=f"{thread}")])
            assert store.stages(f"{thread}-{number}") == {"execute": {"metric": number}}

    threads = [threading.Thread(target=write, args=(thread,)) for thread in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [event.seq for event in listener.told] == list(range(1, 121))


def test_sinks_are_told_after_the_fact(opened):
    store = opened()

    class Looking:
        seen: list[Any]

        def emit(self, event: Any) -> None:
            self.seen = [n.id for n in store.nodes()]

    looking = Looking()
    store.sinks = [looking]
    store.commit([node("n")], [Warned(text="!")])
    assert looking.seen == ["n"]


def test_what_a_sink_stores_is_told_behind_what_was_stored_before(opened):
    """What a sink stored among the events of a transaction was told first: rows of metrics.json changed places."""
    store = opened()

    class Storing:
        def emit(self, event: Any) -> None:
            if event.text == "first":
                store.append([Warned(text="of the sink")])

    listener = Listener()
    store.sinks = [Storing(), listener]
    store.append([Warned(text="first"), Warned(text="second")])
    assert [event.text for event in listener.told] == ["first", "second", "of the sink"]
    assert [event.seq for event in listener.told] == [1, 2, 3]


def test_nodes_are_read_page_by_page_and_a_reader_may_stop(opened):
    store = opened()
    for number in range(450):
        store.commit([node(f"n{number}").model_copy(update={"step": number})], [])
    assert list(store.stored_nodes()) == store.nodes() and len(store.nodes()) == 450
    assert next(store.stored_nodes()).id == "n0" and list(opened().stored_nodes())[-1].id == "n449"


def test_the_seeds_candidate_store(opened):
    """As in the seed: a candidate is saved with its score alone, and the same program once."""
    store = opened()
    for number, score in enumerate([1.0, 3.0, 2.0]):
        assert store.save(node(f"n{number}", metric_value=score))
    assert store.save(node("bad", is_buggy=True))
    assert not store.save(Node(id="again", code="print('n1')\n", metric_value=9.0))
    assert store.get_by_id("n1").metric_value == 3.0 and store.get_by_id("again") is None
    assert [n.id for n in store.get_top_k(2)] == ["n1", "n2"]
    assert [(n.id, n.step) for n in store.nodes()] == [("n0", 0), ("n1", 1), ("n2", 2), ("bad", 3)]
    assert store.exists("print('n0')\n") and not store.exists("print('new')\n")
    assert store.exists_by_hash(text_hash("print('bad')\n"))


def test_the_top_are_the_lowest_where_lower_is_better(opened):
    store = opened()
    for score in (2.0, 1.0, 3.0):
        store.save(node(f"s{score:g}", metric_value=score, lower_is_better=True))
    assert [n.id for n in store.get_top_k(2)] == ["s1", "s2"]
