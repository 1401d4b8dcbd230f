"""What is kept of programs and outputs is bounded, and is what the store would read."""

from core.state.node import Node
from core.storage.recent_texts import RecentTexts
from core.storage.repository import RunStore


def test_the_one_asked_for_longest_ago_leaves_first():
    kept = RecentTexts()
    for number in range(256):
        kept.keep(f"{number}", "code", "output")
    assert kept.find("0") == ("code", "output")
    kept.keep("another", "code", "output")
    assert kept.find("0") is not None and kept.find("1") is None


def test_long_texts_push_others_out_and_one_beyond_the_bound_is_not_kept():
    kept = RecentTexts()
    for number in range(5):
        kept.keep(f"{number}", "x" * 200_000, "y" * 100_000)
    assert [number for number in range(5) if kept.find(f"{number}")] == [2, 3, 4]
    kept.keep("huge", "x" * 2_000_000, "")
    assert kept.find("huge") is None and kept.find("4") is not None


def test_a_node_that_waits_to_be_stored_is_read_without_a_transaction_and_as_it_comes_back(tmp_path):
    odd = "x = 1\n# \ud800 \u2028 \x0c"
    store = RunStore(tmp_path / "run", delay=60.0)
    store.commit([Node(id="0a", code=odd, term_out="\x1b[0m " * 9, step=0)], [])
    assert store.texts("0a") == (odd, "\x1b[0m " * 9)
    assert store.db.select("SELECT count(*) FROM nodes", stored=True) == [(0,)]
    store.close()
    again = RunStore(tmp_path / "run")
    assert again.texts("0a") == (odd, "\x1b[0m " * 9) == again.texts("0a")
    again.close()
