"""Match statistics against published figures and independent computations."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from utils.stats import (
    ELO_PER_NAT,
    PENTANOMIAL,
    TRINOMIAL,
    Z95,
    bradley_terry,
    elo_estimate,
    elo_of,
    expected_score,
    los,
    pair_counts,
    sprt,
    student_975,
    student_within,
)

FISHTEST = [
    # Ptnml(0-2), elo0, elo1, published LLR: Stockfish pull requests 3209, 3098, 2971, 3232, 2950 (2020, logistic Elo)
    ((253, 4282, 17604, 4431, 286), -0.25, 1.25, 2.94),
    ((58, 3302, 33130, 3518, 84), 0.25, 1.25, 2.97),
    ((491, 7345, 29693, 7670, 465), -0.25, 1.25, 2.96),
    ((17, 253, 1042, 337, 39), -0.5, 1.5, 2.96),
    ((11, 407, 3238, 513, 11), 0.25, 1.75, 2.93),
    ((85, 1800, 8241, 1930, 100), -0.25, 1.25, 2.94),
    ((149, 4748, 32785, 5063, 159), 0.25, 1.75, 2.95),
]

BASEBALL = {
    # American League East 1987, 13 games a pair (Agresti, Categorical Data Analysis, table of section 10.6)
    "Milwaukee": (0, 7, 9, 7, 7, 9, 11),
    "Detroit": (6, 0, 7, 5, 11, 9, 9),
    "Toronto": (4, 6, 0, 7, 7, 8, 12),
    "New York": (6, 8, 6, 0, 6, 7, 10),
    "Boston": (6, 2, 6, 7, 0, 7, 12),
    "Cleveland": (4, 4, 5, 6, 6, 0, 6),
    "Baltimore": (2, 4, 1, 3, 1, 7, 0),
}
AGRESTI = {"Milwaukee": 1.58, "Detroit": 1.44, "Toronto": 1.29, "New York": 1.25, "Boston": 1.11, "Cleveland": 0.68}


@pytest.mark.parametrize(("counts", "elo0", "elo1", "published"), FISHTEST)
def test_sprt_agrees_with_fishtest(counts, elo0, elo1, published):
    test = sprt(counts, PENTANOMIAL, elo0=elo0, elo1=elo1)
    assert test.llr == pytest.approx(published, abs=0.006)
    assert (test.lower, test.upper) == pytest.approx((-2.944, 2.944), abs=0.001)
    assert test.verdict == ("H1" if test.llr >= test.upper else None)


def test_sprt_accepts_h0_on_the_mirrored_result():
    test = sprt((286, 4431, 17604, 4282, 253), PENTANOMIAL, elo0=-0.25, elo1=1.25)
    assert test.verdict == "H0"


def test_sprt_without_games_is_undecided():
    assert sprt((0, 0, 0, 0, 0), elo0=0, elo1=5).verdict is None


@pytest.mark.long
def test_sprt_makes_no_more_than_the_promised_errors():
    """200 matches of equal engines, tested for +40 Elo: H1 comes at most about alpha times."""
    wrong = sum(_simulate(0.5, random.Random(seed)) == "H1" for seed in range(200))
    right = sum(_simulate(expected_score(40), random.Random(seed)) == "H1" for seed in range(200))
    assert wrong <= 0.05 * 200 + 3 * math.sqrt(200 * 0.05 * 0.95)
    assert right >= 0.95 * 200 - 3 * math.sqrt(200 * 0.05 * 0.95)


def _simulate(score, rng):
    counts = [0, 0, 0]
    for game in range(4000):
        draw = rng.random() < 0.3
        counts[1 if draw else 2 if rng.random() < (score - 0.15) / 0.7 else 0] += 1
        if game % 20 == 19:
            verdict = sprt(counts, TRINOMIAL, elo0=0, elo1=40).verdict
            if verdict:
                return verdict
    return None


def test_bradley_terry_reproduces_agresti():
    teams = list(BASEBALL)
    results = {
        (a, b): (BASEBALL[a][j], 0, BASEBALL[b][i]) for i, a in enumerate(teams) for j, b in enumerate(teams[:i])
    }
    ratings = bradley_terry(results, "Baltimore", prior=0)
    assert {t: round(ratings[t].elo / ELO_PER_NAT, 2) for t in AGRESTI} == AGRESTI
    errors = [(ratings[t].high - ratings[t].elo) / Z95 / ELO_PER_NAT for t in AGRESTI]
    assert errors == pytest.approx([0.34] * 6, abs=0.01)  # standard errors as published with the estimates
    assert ratings["Baltimore"].elo == 0


def test_bradley_terry_of_two_is_the_elo_of_their_score():
    rating = bradley_terry({("a", "b"): (30, 10, 10)}, "b", prior=0)["a"]
    assert rating.elo == pytest.approx(elo_of(0.7), abs=1e-6)


def test_bradley_terry_stays_finite_and_ordered_without_a_loss():
    ratings = bradley_terry({("a", "b"): (8, 0, 0), ("b", "c"): (8, 0, 0)}, "c")
    assert math.inf > ratings["a"].elo > ratings["b"].elo > ratings["c"].elo == 0


def test_bradley_terry_leaves_out_whom_no_games_connect():
    assert set(bradley_terry({("a", "b"): (1, 0, 1), ("x", "y"): (1, 0, 1)}, "a")) == {"a", "b"}


def test_long_lines_of_champions_converge():
    """A chain of 60 generations, each 3 : 1 against the one before, adds up."""
    results = {(f"e{i + 1:02}", f"e{i:02}"): (30, 0, 10) for i in range(60)}
    ratings = bradley_terry(results, "e00", prior=0)
    assert ratings["e60"].elo == pytest.approx(60 * elo_of(0.75), rel=1e-6)


@given(st.floats(-1500, 1500))
def test_elo_and_score_are_inverse(elo):
    assert elo_of(expected_score(elo)) == pytest.approx(elo, abs=1e-6)


def test_elo_at_the_ends():
    assert (elo_of(0), elo_of(1), elo_of(0.5)) == (-math.inf, math.inf, 0)
    assert expected_score(400) == pytest.approx(10 / 11)


@pytest.mark.parametrize(
    ("wins", "losses", "known"), [(1, 0, 3 / 4), (3, 0, 15 / 16), (0, 3, 1 / 16), (2, 1, 11 / 16), (5776, 5561, 0.9783)]
)
def test_los_is_that_of_few_games_too(wins, losses, known):
    """By the beta integral; of many games Φ((w − l) / √(w + l)) from a table of the normal distribution: Φ(2.019)."""
    assert los(wins, losses) == pytest.approx(known, abs=0.0003)
    assert los(wins, losses) + los(losses, wins) == pytest.approx(1)


def test_los_without_a_decided_game_is_even():
    assert los(0, 0) == 0.5


def test_interval_covers_the_truth_as_often_as_it_says():
    truth, rng, inside = 70.0, random.Random(5), 0
    score = expected_score(truth)
    for _ in range(600):
        draws = sum(rng.random() < 0.2 for _ in range(300))
        wins = sum(rng.random() < (score - 0.1) / 0.8 for _ in range(300 - draws))
        estimate = elo_estimate((300 - draws - wins, draws, wins))
        inside += estimate.low <= truth <= estimate.high
    assert 0.925 <= inside / 600 <= 0.975


def test_a_quantile_of_students_distribution_is_that_of_the_tables():
    """95 % against the printed table and Fisher's expansion; 99.5 % against Fisher & Yates 1963, table III."""
    assert all(abs(student_within(0.95, degrees) - student_975(degrees)) < 6e-4 for degrees in range(1, 80))
    assert [round(student_within(0.995, degrees), 3) for degrees in (4, 9, 20)] == [5.598, 3.690, 3.153]


def test_pairs_that_cancel_narrow_the_interval():
    """The same 40 games: as pairs of a win and a loss each they say that the engines are equal."""
    games = elo_estimate((20, 0, 20))
    pairs = elo_estimate((1, 0, 18, 0, 1), PENTANOMIAL)
    assert pairs.high - pairs.low < games.high - games.low


def test_interval_of_a_clean_sweep_has_a_finite_lower_end():
    estimate = elo_estimate((0, 0, 20))
    assert estimate.elo == math.inf and 100 < estimate.low < 400


def test_interval_without_games_says_nothing():
    assert elo_estimate((0, 0, 0)).low == -math.inf


def test_pair_counts_are_worst_first():
    assert pair_counts([(0, 0), (0, 0.5), (1, 0), (0.5, 0.5), (1, 0.5), (1, 1)]) == (1, 1, 2, 1, 1)
