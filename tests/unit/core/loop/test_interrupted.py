"""Ctrl-C at any moment of a pipeline: what is resumed after it is the run that nobody stopped."""

from __future__ import annotations

import threading

import pytest
from support.loop import open_loop, told
from support.plugins.toy import ToyEvaluator

from core.loop.plan import Control

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
@pytest.mark.parametrize("at", [1, 3, 8, 9, 12, 21, 32])
def test_a_resume_after_ctrl_c_is_the_run_that_was_not_stopped(tmp_path, together, at):
    at = 1 + at // 5 if together else at  # a round of four is one write
    whole = played(tmp_path / "whole", together=together)
    stopped = played(tmp_path / "stopped", together=together, at=at)
    assert stopped[0] == "interrupted" and len(stopped[1]) < STEPS
    assert stopped[1] == whole[1][: len(stopped[1])]
    played(tmp_path / "stopped", together=together, at=2)  # and once more
    assert played(tmp_path / "stopped", together=together)[1:] == whole[1:]


def test_what_is_kept_for_the_resume_is_not_begun(tmp_path):
    """What was under way is committed; as many as the lag holds lie there, proposed and not written."""
    played(tmp_path, together=False, at=12)
    loop = open_loop(tmp_path, steps=STEPS, batch=4, schedule="pipeline")
    waiting = loop.store.open_tasks()
    assert len(waiting) == 8 and not any(loop.store.calls(task.node_id) for task in waiting)
    loop.close()
