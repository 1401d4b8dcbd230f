from __future__ import annotations

import pytest

from utils.time_share import is_worth_a_word, time_share, without_times


@pytest.mark.parametrize(
    ("seconds", "told"),
    [
        (3, "under 10 %"),
        (10, "10 to 25 %"),
        (49.9, "25 to 50 %"),
        (89, "75 to 90 %"),
        (90, "over 90 %"),
        (400, "over 90 %"),
    ],
)
def test_shares_are_coarse_and_all_look_alike_to_a_cache(seconds, told):
    share = time_share(seconds, 100.0)
    assert share == f"took {told} of its time" and is_worth_a_word(share) == (seconds >= 10)
    assert without_times(f"[3] improve, {share}.") == "[3] improve, took its time."


def test_nothing_is_said_where_nothing_was_measured():
    assert time_share(0.0, 100.0) == time_share(5.0, None) == "" and not is_worth_a_word("")
