"""What running programs print and what models write, for viewers: bounded, and gone when it is stored."""

from __future__ import annotations

import threading

from core.events import LLMCalled, NodeCommitted
from runs.beside.live_output import CAP, LiveOutput


def committed(node_id):
    return NodeCommitted(node_id=node_id, step=0, operator="draft")


def test_a_file_a_node_until_it_is_committed(tmp_path):
    live = LiveOutput(tmp_path)
    live.tell("n1", "epoch 1\n")
    live.tell("n1", "epoch 2\n")
    live.tell("n2", "other\ud800\n")
    assert (tmp_path / "live" / "n1.out").read_text() == "epoch 1\nepoch 2\n"
    live.emit(committed("n1"))
    assert [path.name for path in (tmp_path / "live").iterdir()] == ["n2.out"]
    live.close()
    assert not (tmp_path / "live").exists()


def test_a_disk_that_takes_nothing_ends_no_program(tmp_path):
    """What viewers look at is kept nowhere: a job whose output had no room there passed for a fault of ours."""
    live = LiveOutput(tmp_path)
    (tmp_path / "live").write_text("in its place")
    live.tell("n1", "epoch 1\n")
    live.hear("n1", "a reply")
    live.emit(committed("n1"))
    live.close()


def test_a_reply_until_it_is_whole_and_anew_with_each_try(tmp_path):
    stale = tmp_path / "live" / "n1.reply"
    stale.parent.mkdir()
    stale.write_text("of a process that was killed")
    live = LiveOutput(tmp_path)
    live.hear("n1", None)
    live.hear("n1", "first try")
    live.hear("n1", None)
    live.hear("n1", "second ")
    live.hear("n1", "try")
    assert stale.read_text() == "second try"
    live.emit(LLMCalled(call_id=1, node_id="n1", role="code", provider="openai", model="m"))
    assert not stale.exists()
    live.close()
    live.hear("n1", "from a call that nobody waits for any longer")
    assert not stale.parent.exists()


def test_what_a_killed_process_left_is_gone(tmp_path):
    """The same program prints it once more, and was told twice; what nobody runs again stayed for good."""
    for name in ("n1.out", "n2.out", "n3.reply", ".work.json.t0rn"):
        (tmp_path / "live").mkdir(exist_ok=True)
        (tmp_path / "live" / name).write_text("epoch 1\n")
    live = LiveOutput(tmp_path)
    live.tell("n1", "epoch 1\n")
    assert {path.name: path.read_text() for path in (tmp_path / "live").iterdir()} == {"n1.out": "epoch 1\n"}
    live.close()
    assert not (tmp_path / "live").exists()


def test_it_is_bounded(tmp_path):
    live = LiveOutput(tmp_path)
    for _ in range(20):
        live.tell("n1", "x" * (CAP // 8))
    assert (tmp_path / "live" / "n1.out").stat().st_size <= CAP + CAP // 8
    live.close()


def test_threads_write_whole_pieces(tmp_path):
    live = LiveOutput(tmp_path)
    threads = [
        threading.Thread(target=lambda n=n: [live.tell("n1", f"{n}" * 50 + "\n") for _ in range(50)]) for n in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    lines = (tmp_path / "live" / "n1.out").read_text().splitlines()
    assert len(lines) == 200 and all(len(set(line)) == 1 and len(line) == 50 for line in lines)
    live.close()


def test_nothing_is_begun_once_it_is_closed(tmp_path):
    """A piece that came just then left a file behind: a viewer showed a program that ran in a run that had ended."""
    live = LiveOutput(tmp_path)
    in_time, closing = threading.Event(), threading.Thread(target=live.close)

    class Slow(type(tmp_path)):
        def mkdir(self, *args, **named):
            in_time.set()
            closing.start()
            closing.join(0.5)
            super().mkdir(*args, **named)

    live._folder = Slow(tmp_path / "live")
    live.tell("n1", "epoch 1\n")
    closing.join(60)
    assert in_time.is_set() and not (tmp_path / "live").exists()
