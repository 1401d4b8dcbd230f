"""What requests that left can cost: written before they leave, read after a kill."""

from core.storage import holds
from core.storage.holds import Holds


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
