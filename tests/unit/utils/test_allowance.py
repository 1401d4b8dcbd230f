"""What a run may take beside its search."""

from __future__ import annotations

import math

from utils.allowance import Allowance


def test_a_tenth_of_the_search_and_half_a_minute_in_any_case():
    assert (Allowance.of(None), Allowance.of(15), Allowance.of(3600)) == (30, 30, 360)
    assert Allowance().before(3600) == 180


def test_the_end_has_what_was_not_taken_before():
    now = [100.0]
    allowance = Allowance(lambda: now[0])
    assert math.isinf(allowance.left) and allowance.told == ""
    allowance.spend(20)
    allowance.begin(600)
    assert allowance.left == 40 and allowance.told == ", at most 40 s in all"
    now[0] += 50
    assert allowance.left == 0


def test_a_search_that_ended_early_still_has_an_end():
    allowance = Allowance(lambda: 0.0)
    allowance.spend(180)
    allowance.begin(20)
    assert allowance.left == 15


def test_what_is_beside_it_takes_nothing_of_it():
    now = [0.0]
    allowance = Allowance(lambda: now[0])
    allowance.begin(600)
    now[0] += 10
    with allowance.beside():
        now[0] += 1000
        assert allowance.left == 50, "a second look at the blend"
    now[0] += 20
    assert allowance.left == 30


def test_what_only_chooses_has_a_share_of_it_and_is_cut_off_at_its_end():
    now = [0.0]
    allowance = Allowance(lambda: now[0])
    allowance.begin(600)
    with allowance.within(0.5):
        now[0] += 10
        assert allowance.left == allowance.until_cut == 20
    assert allowance.left == 50 and math.isinf(allowance.until_cut), "the winner's own score is owed"


def test_before_the_end_nothing_is_cut_off():
    allowance = Allowance()
    with allowance.within(0.5):
        assert math.isinf(allowance.until_cut)
