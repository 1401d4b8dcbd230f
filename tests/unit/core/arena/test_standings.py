from __future__ import annotations

from core.arena.standings import Crosstable, Played, Ratings, cross_rows, table_rows
from utils.stats import PENTANOMIAL, elo_estimate, elo_of


def game(white, black, result, opening=("1",), moves=("2",), termination="four_in_a_row"):
    return Played(white, black, result, termination, tuple(opening), tuple(moves))


GAMES = [
    game("a", "b", "1-0", ["1"]),
    game("b", "a", "1/2-1/2", ["1"]),
    game("a", "b", "1-0", ["2"]),
    game("b", "a", "0-1", ["2"]),
    game("a", "c", "0-1", ["1"], termination="crash"),
]


def test_totals_and_scores():
    table = Crosstable(["a", "b", "c"], GAMES)
    assert table.total("a") == (3, 1, 1) and table.total("b") == (0, 1, 3) and table.total("c") == (1, 0, 0)
    assert table.score("a") == 0.7 and table.results["a", "b"] == (3, 1, 0)
    assert table.forfeits("a") == {"crash": 1} and table.forfeits("c") == {}


def test_pentanomial_pairs_the_two_games_of_an_opening():
    table = Crosstable(["a", "b", "c"], GAMES)
    assert table.pentanomial("a", "b") == (0, 0, 0, 1, 1)
    assert table.pentanomial("b", "a") == (1, 1, 0, 0, 0)
    assert table.pentanomial("a", "c") == (0, 0, 0, 0, 0)  # no pair is complete


def test_a_match_of_a_few_pairs_is_measured_by_students_interval():
    """Four pairs, three of them 1.5 to 0.5: the normal interval would leave zero out, which four results cannot."""
    pairs = [("1-0", "1/2-1/2")] * 3 + [("1/2-1/2", "1/2-1/2")]
    games = [
        made
        for i, (white, black) in enumerate(pairs)
        for made in (game("a", "b", white, f"{i}", "w"), game("b", "a", black, f"{i}", "b"))
    ]
    table = Crosstable(["a", "b"], games)
    assert table.pentanomial("a", "b") == (0, 0, 1, 3, 0)
    duel = table.head_to_head("a", "b")
    assert duel.elo > 130 and duel.low < 0 < duel.high
    assert elo_estimate((0, 0, 1, 3, 0), PENTANOMIAL).low > 0
    won = Crosstable(["a", "b"], [g for g in games if g.result == "1-0"][:1]).head_to_head("a", "b")
    assert won.low < 0 < won.high  # no pair is complete


def test_identical_games_count_once():
    """Also when a different opening runs into the same moves."""
    again = game("a", "b", "1-0", ["1", "2"], ())
    table = Crosstable(["a", "b"], [GAMES[0], GAMES[0], again])
    assert table.total("a") == (1, 0, 0)


def test_only_games_among_the_players_count():
    assert Crosstable(["a", "b"], GAMES).total("a") == (3, 1, 0)


def test_ratings_count_a_game_once_and_keep_the_anchor_at_zero():
    ratings = Ratings()
    for _ in range(3):
        for played in GAMES[:4]:
            ratings.add(played)
    estimates = ratings.estimates("b")
    assert estimates["b"].elo == 0
    assert 0 < estimates["a"].elo < elo_of(3.5 / 4)  # the prior draws it in


def test_rows_are_plain_json_best_first():
    table = Crosstable(["b", "a"], GAMES[:4])
    rows = table_rows(table, Ratings(GAMES[:4]).estimates("b"), {"a": "Alpha"})
    assert [row["node_id"] for row in rows] == ["a", "b"] and rows[0]["name"] == "Alpha"
    assert (rows[0]["wins"], rows[0]["draws"], rows[0]["losses"], rows[0]["score"]) == (3, 1, 0, 0.875)
    assert rows[0]["low"] < rows[0]["elo"] < rows[0]["high"]
    (pair,) = cross_rows(table)
    assert pair["a"] == "b" and pair["pentanomial"] == [1, 1, 0, 0, 0] and pair["los"] < 0.05
