"""Counts as people say them: one is told as one."""

from utils.counts import counted


def test_one_is_told_as_one():
    assert [counted(number, "step") for number in (0, 1, 2)] == ["0 steps", "1 step", "2 steps"]
    assert [counted(number, "try", "tries") for number in (1, 3)] == ["1 try", "3 tries"]
