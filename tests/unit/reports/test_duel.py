"""The direct match in words."""

from __future__ import annotations

import pytest

from reports.duel import duel_text

GAMES = {"wins_draws_losses": [6, 2, 4], "los": 0.74}


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({}, "6 won, 2 drawn, 4 lost"),
        ({"elo": 58.0, "low": -90.0, "high": 210.0}, "4 lost: +58 Elo (95 % -90 to +210)"),
        ({"elo": -58.0, "low": -90.0, "high": -2.0}, "4 lost: -58 Elo (95 % -90 to -2)"),
        ({"elo": None, "low": 10.0, "high": None}, "4 lost: Elo 95 % +10 to no upper end"),
        ({"elo": -0.2, "low": -90.0, "high": 90.0}, "4 lost: +0 Elo (95 % -90 to +90)"),
        ({"elo": None, "low": None, "high": None}, "4 lost: too few games to tell them apart"),
    ],
)
def test_it_is_told_with_its_interval_and_not_judged(more, words):
    assert duel_text({**GAMES, **more}).endswith(words) and "LOS" not in duel_text({**GAMES, **more})


@pytest.mark.parametrize("none", [None, {}, {"los": 0.5}])
def test_without_a_match_nothing_is_said(none):
    assert duel_text(none) == ""
