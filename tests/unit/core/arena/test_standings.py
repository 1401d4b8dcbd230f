from __future__ import annotations

from dataclasses import replace
from itertools import permutations

from hypothesis import given
from hypothesis import strategies as st

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
    game("c", "a", "1-0", ["1"]),
]


def test_totals_and_scores():
    table = Crosstable(["a", "b", "c"], GAMES)
    assert table.total("a") == (3, 1, 2) and table.total("b") == (0, 1, 3) and table.total("c") == (2, 0, 0)
    assert table.score("a") == 3.5 / 6 and table.results["a", "b"] == (3, 1, 0)
    assert table.forfeits("a") == {"crash": 1} and table.forfeits("c") == {}


def test_pentanomial_pairs_the_two_games_of_an_opening():
    table = Crosstable(["a", "b", "c"], GAMES)
    assert table.pentanomial("a", "b") == (0, 0, 0, 1, 1)
    assert table.pentanomial("b", "a") == (1, 1, 0, 0, 0)
    assert table.pentanomial("a", "c") == (1, 0, 0, 0, 0)


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


def test_identical_pairs_count_once_and_it_is_told():
    """Also when a different opening runs into the same moves."""
    again = [game("a", "b", "1-0", ["1", "2"], ()), game("b", "a", "1/2-1/2", ["1", "2"], ())]
    table = Crosstable(["a", "b"], [*GAMES[:2], GAMES[0], *again])
    assert table.total("a") == (1, 1, 0)
    assert table.left_out == "games that do not count: 2 between players that repeat pairs move by move"


def test_of_a_pair_with_one_copy_both_games_count_and_of_half_a_pair_none():
    """A game without its reversed one would make the advantage of a colour a rating."""
    other = [game("a", "b", "1-0", ["1", "2"], ()), game("b", "a", "1-0", ["1", "2"], ["5"])]
    assert Crosstable(["a", "b"], [*GAMES[:2], *other]).total("a") == (2, 1, 1)
    half = Crosstable(["a", "b"], [*GAMES[:2], other[0]])
    assert half.total("a") == (1, 1, 0) and Crosstable(["a", "b"], GAMES[:1]).total("a") == (0, 0, 0)
    assert half.left_out == "games that do not count: 1 without the game of reversed colours"


def test_nobody_is_rated_higher_for_losing_alike_again_and_again():
    """It won both games of one opening four times, each time otherwise, and lost those of the other four times alike:
    8 to 2, and +191 Elo, for a player that is as strong as the other."""
    games = []
    for seed in range(4):
        for opening, winner in (("1", "a"), ("2", "b")):
            moves = (str(seed),) if winner == "a" else ("same",)
            for white, black in (("a", "b"), ("b", "a")):
                games.append(Played(white, black, "1-0" if white == winner else "0-1", "end", (opening,), moves, seed))
    table = Crosstable(["a", "b"], games)
    assert table.total("a") == (2, 0, 2)
    assert table.left_out == "games that do not count: 12 between players that repeat pairs move by move"
    ratings = Ratings(games[:4])
    for played in games[4:]:
        ratings.add(played)
    assert ratings.estimates("b") == Ratings(games).estimates("b") and abs(ratings.estimates("b")["a"].elo) < 1e-6
    varied = [replace(played, moves=(*played.moves, str(played.seed))) for played in games]
    assert Crosstable(["a", "b"], varied).total("a") == (8, 0, 8), "what is not repeated counts"


RESULTS = st.sampled_from(["1-0", "1/2-1/2", "0-1"])


MET = st.lists(
    st.tuples(RESULTS, st.integers(0, 2), st.integers(0, 1)), min_size=1, max_size=6, unique_by=lambda met: met[1:]
)


@given(MET, st.randoms())
def test_two_engines_with_equal_moves_rate_equal(met, rng):
    """Whoever is the anchor, whatever a colour is worth, whatever repeats and whatever was lost with its worker."""
    games = []
    for white, black in permutations("abc", 2):
        for result, line, seed in met:  # what is played follows from opening and colours alone
            games.append(Played(white, black, result, "end", (str(line),), (result,), seed))
    rng.shuffle(games)
    lost = set(rng.sample(range(len(games)), rng.randint(0, 2)))
    kept = [g for i, g in enumerate(games) if i not in lost]
    for all_games in (games, kept):
        for rated in Ratings(all_games).estimates("a").values():
            assert abs(rated.elo) < 1e-6
        table = Crosstable(["a", "b", "c"], all_games)
        assert all(table.score(player) in (0, 0.5) for player in "abc")
        assert all(table.los(*pair) == 0.5 for pair in permutations("abc", 2))


@given(st.lists(st.builds(
    Played, white=st.just("a"), black=st.just("b"), result=RESULTS, termination=st.just("end"),
    opening=st.sampled_from([("1",), ("2",)]), moves=st.sampled_from([("3",), ("4",)]), seed=st.integers(0, 3),
), unique_by=lambda g: g.pair), st.randoms())  # fmt: skip
def test_the_order_of_games_decides_nothing(games, rng):
    """A tournament's games end in another order on other workers, and a resumed run reads them from its book."""
    games = [g for game in games for g in (game, replace(game, white="b", black="a"))]
    shuffled = rng.sample(games, len(games))
    again = [*shuffled, *games]
    assert Ratings(games).estimates("b") == Ratings(again).estimates("b")
    assert Crosstable("ab", games).results == Crosstable("ab", again).results


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
    assert pair["a"] == "b" and pair["pentanomial"] == [1, 1, 0, 0, 0] and pair["los"] == 0.0625
