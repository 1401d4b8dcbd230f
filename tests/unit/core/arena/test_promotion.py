from __future__ import annotations

import random

import pytest

from core.arena import promotion
from core.arena.promotion import RULES, SPRT_PAIRS
from core.arena.standings import Crosstable, Played


def table(results):
    """(white, black) → result text, one letter a game: w, d or l for white; an opening each."""
    names = {"w": "1-0", "d": "1/2-1/2", "l": "0-1"}
    games = []
    for (white, black), letters in results.items():
        games += [Played(white, black, names[r], "end", (str(i),), (white, str(i))) for i, r in enumerate(letters)]
    players = sorted({name for pair in results for name in pair})
    return Crosstable(players, games)


def decide(rule, results, champion="champ", more=None, seed=1, rated=None):
    found = table(results)
    known = found.players if rated is None else rated
    return promotion.decide(rule, found, known, champion, random.Random(seed), more or (lambda *_: found))


EVEN = {("champ", "new"): "wwll", ("new", "champ"): "wwll", ("champ", "old"): "ww", ("new", "old"): "ww"}
BETTER = {("champ", "new"): "lllllll", ("new", "champ"): "wwwwwww", ("champ", "old"): "ww", ("old", "champ"): "ll"}


def test_argmax_takes_the_top_two_by_score():
    decision = decide("argmax", BETTER)
    assert decision.promoted == ("new", "champ") and decision.numbers["scores"]["new"] == 1.0


def test_ties_fall_by_lot_of_the_seed():
    champions = {decide("argmax", {("a", "b"): "wl"}, seed=seed).promoted[0] for seed in range(20)}
    assert champions == {"a", "b"}
    assert len({decide("argmax", {("a", "b"): "wl"}, seed=4).promoted for _ in range(5)}) == 1


@pytest.mark.parametrize("rule", ["los", "sprt"])
def test_careful_rules_keep_the_champion_until_there_is_proof(rule):
    decision = decide(rule, EVEN)
    assert decision.promoted[0] == "champ" and decision.promoted[1] in ("new", "old")


def test_los_crowns_with_95_percent():
    decision = decide("los", BETTER)
    assert decision.promoted == ("new", "champ") and decision.numbers["los"]["new"] > 0.95


def test_sprt_plays_on_until_it_knows():
    asked = []

    def more(first, second, pairs):
        asked.append((first, second, pairs))
        count = 8 * (len(asked) + 1)
        return table({("champ", "new"): "l" * count, ("new", "champ"): "w" * count})

    decision = decide("sprt", {("champ", "new"): "ll", ("new", "champ"): "ww"}, more=more)
    assert decision.promoted == ("new", "champ") and decision.numbers["verdict"] == "H1"
    assert asked[0] == ("new", "champ", 8) and decision.numbers["llr"] > decision.numbers["bounds"][1]


def test_sprt_ends_undecided():
    count = 2

    def more(first, second, pairs):
        nonlocal count
        count += pairs
        letters = ("wl" * SPRT_PAIRS)[:count]
        return table({("champ", "new"): letters, ("new", "champ"): letters.translate(str.maketrans("wl", "lw"))})

    decision = decide("sprt", {("champ", "new"): "wl", ("new", "champ"): "wl"}, more=more)
    assert decision.promoted[0] == "champ" and decision.numbers["verdict"] is None
    assert sum(decision.numbers["pentanomial"]) == count == SPRT_PAIRS


@pytest.mark.parametrize("rule", list(RULES))
def test_nobody_without_a_score_is_promoted(rule):
    """It had met other candidates alone, beaten them all, and was the champion, or the runner-up, without a rating."""
    assert decide(rule, BETTER, rated=["champ", "old"]).promoted[0] == "champ"
    assert decide(rule, BETTER, rated=["champ"]).promoted == ("champ",)


@pytest.mark.parametrize("rule", list(RULES))
def test_without_a_champion_the_best_two_are_taken(rule):
    assert decide(rule, BETTER, champion=None).promoted == ("new", "champ")
