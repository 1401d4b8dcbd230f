"""What requests that left can cost: written before they leave, read after a kill."""

import os
import time

import pytest

from core.storage import holds
from core.storage.holds import Holds
from core.storage.repository import RunStore
from utils.errors import StoreError
from utils.thread_pool import threads


def test_what_is_held_is_there_in_the_next_process_until_it_is_let_go_of(tmp_path):
    path = tmp_path / holds.FILE
    first = Holds(path)
    first.add("a", 10, 0.5)
    first.add("b", 20, 0.25)
    first.drop("a")
    first.drop("never there")
    assert Holds(path).all() == [(20, 0.25)]  # no close: it was killed
    second = Holds(path)
    second.add("c", 1, 0.0)
    second.drop("b")
    second.close()
    assert Holds(path).all() == [(1, 0.0)]


def test_requests_that_leave_at_once_are_all_held(tmp_path, monkeypatch):
    """Each thread of a new run may be the first to ask for the file."""
    read = holds._read

    def read_slowly(path):
        found = read(path)
        time.sleep(0.1)  # for the others to write: what they hold is not in what was read
        return found

    class SlowStore(RunStore):
        def get_fact(self, key):
            time.sleep(0.1)  # for the others to ask, too
            return super().get_fact(key)

    monkeypatch.setattr(holds, "_read", read_slowly)
    store = SlowStore(tmp_path)
    with threads(8, "requests") as pool:
        list(pool.map(lambda number: store.hold_call(str(number), number, 0.5), range(8)))
    assert sorted(Holds(tmp_path / holds.FILE).all()) == [(number, 0.5) for number in range(8)]  # after a kill
    store.close()


def test_a_line_that_was_cut_off_is_of_a_request_that_never_left(tmp_path):
    path = tmp_path / holds.FILE
    Holds(path).add("a", 10, 0.5)
    with path.open("a") as file:
        file.write('["b", 20')
    assert Holds(path).all() == [(10, 0.5)]
    further = Holds(path)
    further.add("c", 30, 1.0)
    assert Holds(path).all() == [(10, 0.5), (30, 1.0)]


def test_the_file_stays_short(tmp_path, monkeypatch):
    monkeypatch.setattr(holds, "_LONG", 2000)
    path = tmp_path / holds.FILE
    held = Holds(path)
    held.add("lost", 7, 0.125)
    for number in range(500):
        held.add(f"call {number}", 1, 0.5)
        held.drop(f"call {number}")
        assert path.stat().st_size < 2200
    assert Holds(path).all() == [(7, 0.125)]


@pytest.mark.parametrize(
    "text",
    ["5\n", "null\n", '["a", 5]\n', '["a", "x", "y"]\n', '["a", 1, 1e999]\n', '["a", 1, NaN]\n', '["a", -1, 0.5]\n',
     '["a", 1, -1000.0]\n', '[["a"], 1, 1.0]\n', "[" * 100_000 + "\n", "{}\n", "\n", '["a", true, 1]\n'],
)  # fmt: skip
def test_a_file_that_we_did_not_write_is_refused_in_one_line(tmp_path, text):
    path = tmp_path / holds.FILE
    path.write_text(text)
    with pytest.raises(StoreError, match="is not as it was written") as refused:
        Holds(path).all()
    assert "\n" not in str(refused.value)


def test_what_is_no_file_is_refused_and_never_waited_for(tmp_path):
    run = tmp_path / "run"
    RunStore(run).close()
    os.mkfifo(run / holds.FILE)
    store = RunStore(run)  # who only looks has no use for it
    with pytest.raises(StoreError, match=r"cannot be read: .* is no regular file"):
        store.held()
    store.close()
    (run / holds.FILE).unlink()
    (run / holds.FILE).symlink_to("/dev/zero")
    store = RunStore(run)
    with pytest.raises(StoreError, match=r"cannot be read: .*symbolic links"):
        store.held()
    store.close()


def test_a_line_that_the_disk_has_no_room_for_holds_nothing_and_the_next_is_whole(tmp_path, monkeypatch):
    path = tmp_path / holds.FILE
    held = Holds(path)
    held.add("a", 1, 0.5)
    with monkeypatch.context() as full:
        full.setattr(holds.os, "write", lambda handle, data: os.pwrite(handle, data[:5], 0) and 5)
        with pytest.raises(StoreError, match="cannot be written"):
            held.add("b", 2, 0.5)
    held.add("c", 3, 0.5)
    assert held.all() == Holds(path).all() == [(1, 0.5), (3, 0.5)]
