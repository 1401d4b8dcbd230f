import math
import random

from core.search.selectors.rank import RankSelector
from core.search.selectors.softmax import SoftmaxOptions, SoftmaxSelector
from core.search.selectors.tournament import TournamentOptions, TournamentSelector
from core.state.node import Node


def node(name: str, fitness: float, code: str = "pass", signature: tuple[float, ...] = ()) -> Node:
    return Node(id=name, code=code, step=int(name[1:]), fitness=fitness, metric_value=fitness, signature=signature)


def tournament(size: int) -> TournamentSelector:
    return TournamentSelector(TournamentOptions(size=size))


def softmax(temperature: float) -> SoftmaxSelector:
    return SoftmaxSelector(SoftmaxOptions(temperature=temperature))


def share(selector, pool, wanted: str, draws: int = 8000) -> float:
    rng = random.Random(1)
    return sum(selector.select(pool, 1, rng)[0].id == wanted for _ in range(draws)) / draws


def within_three_sigma(seen: float, expected: float, draws: int = 8000) -> bool:
    return abs(seen - expected) < 3 * math.sqrt(expected * (1 - expected) / draws)


def test_tournament_frequencies_match_the_formula():
    """The best of four is among two contestants with probability 1/2, and then wins."""
    pool = [node(f"n{i}", float(i)) for i in range(4)]
    assert within_three_sigma(share(tournament(2), pool, "n3"), 1 / 2)
    assert within_three_sigma(share(tournament(2), pool, "n1"), 1 / 6)
    assert share(tournament(2), pool, "n0") == 0


def test_rank_frequencies_match_the_formula():
    pool = [node("n0", -1e9), node("n1", 0.0), node("n2", 1.0)]
    assert within_three_sigma(share(RankSelector(), pool, "n2"), 3 / 6)
    assert within_three_sigma(share(RankSelector(), pool, "n0"), 1 / 6)


def test_softmax_frequencies_match_the_formula():
    pool = [node("n0", 0.0, signature=(0.0,)), node("n1", 5.0, signature=(1.0,))]
    expected = 1 / (1 + math.exp(-1 / 2))
    assert within_three_sigma(share(softmax(2.0), pool, "n1"), expected)


def test_softmax_draws_the_cluster_and_then_the_shorter_program():
    crowd = [node(f"n{i}", 1.0, "x" * 40, (1.0,)) for i in range(9)]
    short = node("n9", 1.0, "x", (1.0,))
    single = node("n10", 1.0, "y", (2.0,))
    pool = [*crowd, short, single]
    assert within_three_sigma(share(softmax(1.0), pool, "n10"), 1 / 2)
    assert share(softmax(1.0), pool, "n9") > 2 * share(softmax(1.0), pool, "n0")


def test_near_zero_temperature_is_greedy():
    pool = [node("n0", 0.0, signature=(0.0,)), node("n1", 1e-6, signature=(1.0,))]
    assert share(softmax(1e-3), pool, "n1", 200) == 1


def test_softmax_takes_scores_that_differ_by_next_to_nothing():
    pool = [node("n0", 0.0, signature=(0.0,)), node("n1", 5e-324, signature=(1.0,))]
    assert share(softmax(0.1), pool, "n1", 200) > 0.9
    assert share(softmax(5e-324), pool, "n1", 200) == 1
