"""Programs that are stored are read while another thread's transaction is under way, not after it."""

import threading

from core.state.node import Node
from core.storage.recent_texts import RecentTexts
from core.storage.repository import RunStore


def node(number: int) -> Node:
    return Node(id=f"{number:012x}", step=number, code=f"x = {number}  # " + "long " * 200, term_out=f"out {number}")


def forget(store: RunStore) -> None:
    """As after many other nodes: its texts are read from the file."""
    store._recent = RecentTexts()


def test_a_program_is_read_beside_a_transaction(tmp_path):
    store = RunStore(tmp_path / "run")
    store.commit([node(0), node(1)], [])
    forget(store)
    inside, read = threading.Event(), threading.Event()

    def write() -> None:
        with store.db.transaction() as connection:
            connection.execute("INSERT INTO facts VALUES ('a', '1')")
            inside.set()
            assert read.wait(30)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        assert inside.wait(30)
        assert store.texts(node(1).id) == (node(1).code, "out 1")
        read.set()
    finally:
        read.set()
        writer.join()
    store.close()


def test_what_waits_or_is_being_stored_is_read_when_it_is_stored(tmp_path):
    store = RunStore(tmp_path / "run", delay=60.0)
    store.commit([node(0)], [])
    forget(store)
    assert store.texts(node(0).id)[1] == "out 0"
    found: list[str] = []
    committing, go_on = threading.Event(), threading.Event()
    transaction = store.db.transaction

    def slow():
        committing.set()
        assert go_on.wait(30)
        return transaction()

    store.commit([node(1)], [])
    forget(store)
    store.db.transaction = slow
    storing = threading.Thread(target=store.settle)
    storing.start()
    assert committing.wait(30)
    store.db.transaction = transaction
    reader = threading.Thread(target=lambda: found.append(store.texts(node(1).id)[1]))
    reader.start()
    reader.join(0.2)
    assert not found, "a node that is not committed yet was read"
    go_on.set()
    reader.join(30)
    storing.join(30)
    assert found == ["out 1"]
    store.close()
