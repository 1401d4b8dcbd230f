"""Counts as people say them: one is told as one."""

import pytest

from problems.competition.grader.tables import counts as of_the_grader
from utils import counts


@pytest.mark.parametrize("counted", [counts.counted, of_the_grader.counted])
def test_one_is_told_as_one(counted):
    assert [counted(number, "step") for number in (0, 1, 2)] == ["0 steps", "1 step", "2 steps"]
    assert [counted(number, "try", "tries") for number in (1, 3)] == ["1 try", "3 tries"]
    assert [counted(number, "row", form=",") for number in (1, 12_345)] == ["1 row", "12,345 rows"]


@pytest.mark.parametrize(
    ("seconds", "told"), [(35.4, "35 s"), (119.9, "120 s"), (120, "2 min"), (7199, "120 min"), (9000, "2.5 h")]
)
def test_a_time_that_is_guessed_is_told_in_round_words(seconds, told):
    assert counts.about(seconds) == told
