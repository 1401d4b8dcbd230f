"""When a search ends while programs run."""

from __future__ import annotations

import math
import threading

import pytest

from runs.parts.deadline import Deadline


@pytest.mark.parametrize(
    ("seconds", "usd", "per_hour", "spent", "left", "limit"),
    [
        (None, None, 0.0, 0.0, math.inf, "budget.seconds"),
        (100.0, None, 12.0, 0.0, 90.0, "budget.seconds"),
        (100.0, 1.0, 0.0, 0.9, 90.0, "budget.seconds"),
        (None, 1.0, 36.0, 0.0, 90.0, "budget.usd"),
        (None, 1.0, 36.0, 0.5, 40.0, "budget.usd"),
        (60.0, 1.0, 36.0, 0.5, 40.0, "budget.usd"),
        (20.0, 1.0, 36.0, 0.5, 10.0, "budget.seconds"),
        (None, 1.0, 36.0, 2.0, -110.0, "budget.usd"),
    ],
)
def test_it_is_the_first_of_the_seconds_and_of_what_the_dollars_buy(seconds, usd, per_hour, spent, left, limit):
    deadline = Deadline(seconds, lambda: 10.0, threading.Event(), usd=usd, usd_per_hour=per_hour)
    deadline.spent_usd = lambda: spent
    assert (deadline.seconds_left(), deadline.limit) == (left, limit)
    deadline.lifted = True
    assert deadline.seconds_left() == math.inf
    deadline.allowance.begin(100)
    with deadline.allowance.within():
        assert 0 < deadline.seconds_left() <= 30, "what only chooses ends with the end's allowance"
    assert deadline.seconds_left() == math.inf
