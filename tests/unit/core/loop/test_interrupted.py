"""Ctrl-C at any moment of a pipeline: what is resumed after it is the run that nobody stopped."""

from __future__ import annotations

import threading

import pytest
from support.loop import open_loop, told
from support.plugins.toy import ToyEvaluator
from support.stops import stopped_before_its_block

from core.loop.plan import Control
from core.storage.reader import RunReader
from core.storage.store_check import check_store
from utils.errors import Interrupted

STEPS = 24


class Interrupting:
    """A store that has the user's Ctrl-C come at its n-th write of a round or of commits."""

    def __init__(self, store, at: int, pressed: threading.Event) -> None:
        self._store, self._left, self._pressed = store, at, pressed

    def __getattr__(self, name):
        found = getattr(self._store, name)
        if name not in ("open_round", "commit"):
            return found

        def call(*args, **options):
            self._left -= 1
            if self._left == 0:
                self._pressed.set()
            return found(*args, **options)

        return call


def played(folder, *, together, at=0):
    """(why it ended, its nodes, its hash); `at`: the write at which the user presses Ctrl-C, 0: never."""
    pressed = threading.Event()
    loop = open_loop(
        folder, steps=STEPS, batch=4, writers=2, schedule="pipeline", evaluator=ToyEvaluator(together=together),
        wrap=lambda store: Interrupting(store, at, pressed), control=Control(interrupted=pressed),
    )  # fmt: skip
    reason = loop.run()
    return reason, told(loop.journal), loop.journal.sha256


@pytest.mark.parametrize("together", [False, True], ids=["alone", "together"])
@pytest.mark.parametrize("at", [3, 12, *(pytest.param(at, marks=pytest.mark.long) for at in (1, 8, 9, 21, 32))])
def test_a_resume_after_ctrl_c_is_the_run_that_was_not_stopped(tmp_path, together, at):
    at = 1 + at // 5 if together else at  # a round of four is one write
    whole = played(tmp_path / "whole", together=together)
    stopped = played(tmp_path / "stopped", together=together, at=at)
    assert stopped[0] == "interrupted" and len(stopped[1]) < STEPS
    assert stopped[1] == whole[1][: len(stopped[1])]
    played(tmp_path / "stopped", together=together, at=2)  # and once more
    assert played(tmp_path / "stopped", together=together)[1:] == whole[1:]


def test_what_is_kept_for_the_resume_is_not_begun(tmp_path):
    """As many as the lag holds lie there, proposed: what nobody had begun by then is not written."""
    played(tmp_path, together=False, at=12)
    loop = open_loop(tmp_path, steps=STEPS, batch=4, schedule="pipeline")
    waiting = loop.store.open_tasks()
    assert len(waiting) == 8 and sum(bool(loop.store.calls(task.node_id)) for task in waiting) <= 2
    loop.close()


class Workers:
    """Stands for a pool of two: at the first evaluation Ctrl-C comes, and no third program is begun after it."""

    together = False

    def __init__(self, slots: int, pressed: threading.Event) -> None:
        self._toy, self._pressed = ToyEvaluator(), pressed
        self._slots = threading.Semaphore(slots)
        self.judged: list[str] = []

    def check(self, node):
        return self._toy.check(node)

    def evaluate(self, nodes):
        with self._slots:
            if self._pressed.is_set():
                raise Interrupted("interrupted")
            self._pressed.set() if len(self.judged) == 5 else None
            self.judged += [node.id for node in nodes]
            return self._toy.evaluate(nodes)


@pytest.mark.parametrize("schedule", ["pipeline", "rounds"])
def test_ctrl_c_lets_what_runs_end_and_begins_nothing_more(tmp_path, schedule):
    """Nothing is judged twice either, though what ended behind a program that was not begun is not committed yet."""
    whole = open_loop(tmp_path / "whole", steps=STEPS, batch=4, schedule=schedule)
    whole.run()
    pressed, loops = threading.Event(), []
    judged: list[str] = []
    for _ in range(2):
        workers = Workers(2, pressed)
        loop = open_loop(
            tmp_path / "stopped", steps=STEPS, batch=4, writers=8, schedule=schedule, evaluator=workers,
            control=Control(interrupted=pressed),
        )  # fmt: skip
        loops.append((loop.run(), len(loop.journal), loop.journal.sha256))
        judged += workers.judged
        pressed = threading.Event()
        pressed.is_set = lambda: False  # the second process is left alone
    assert loops[0][0] == "interrupted" and loops[0][1] <= 7
    assert loops[1][1:] == (STEPS, whole.journal.sha256)
    assert len(judged) == len(set(judged)), "evaluated once more"


def test_a_stop_between_a_transaction_and_its_block_holds_nobody_up(tmp_path):
    """The lock of the store was held for as long as the stop was on its way: the end of the run waited for it."""
    loop = open_loop(tmp_path, steps=STEPS, batch=4, writers=2, schedule="pipeline")
    loop.store.put_fact("lower_is_better", loop.journal.lower_is_better)
    with pytest.raises(KeyboardInterrupt) as stop, stopped_before_its_block("_store", 9):
        loop.orchestrator.run()
    other = threading.Thread(target=loop.store.put_fact, args=("status", "interrupted"), daemon=True)
    other.start()
    other.join(60)
    assert not other.is_alive()
    assert stop.tb is not None, "it is still on its way"
    loop.store.close()
    assert not check_store(tmp_path).findings
    with RunReader(tmp_path) as reader:
        assert reader.fact("status") == "interrupted"
