"""What every ParentSelector must do. A new one registers by one line in SELECTORS."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.search.selection import ParentSelector, RankSelector, SoftmaxSelector, TournamentSelector
from core.state.node import Node

SELECTORS: list[Callable[[], ParentSelector]] = [
    lambda: TournamentSelector(1),
    lambda: TournamentSelector(3),
    RankSelector,
    lambda: SoftmaxSelector(0.3),
    lambda: SoftmaxSelector(1.0),
]
scores = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=20)


def pool_of(values: list[float]) -> list[Node]:
    return [
        Node(id=f"n{i}", code="x" * (i + 1), step=i, fitness=value, metric_value=value, signature=(value, float(i)))
        for i, value in enumerate(values)
    ]


@pytest.fixture(params=SELECTORS, ids=lambda make: type(make()).__name__)
def selector(request: pytest.FixtureRequest) -> ParentSelector:
    return request.param()


@pytest.mark.parametrize("make", SELECTORS)
@given(values=scores, k=st.integers(1, 6), seed=st.integers(0, 2**32))
def test_returns_distinct_members_best_last(make, values, k, seed):
    pool = pool_of(values)
    before = list(pool)
    chosen = make().select(pool, k, random.Random(seed))
    assert len({node.id for node in chosen}) == len(chosen) == min(k, len(pool))
    assert all(node in pool for node in chosen)
    assert [node.fitness for node in chosen] == sorted(node.fitness for node in chosen)
    assert pool == before


def test_same_seed_same_choice(selector):
    pool = pool_of([3.0, 1.0, 2.0, 5.0, 4.0])
    picks = [[n.id for n in selector.select(pool, 2, random.Random(seed))] for seed in range(20)]
    again = [[n.id for n in selector.select(pool, 2, random.Random(seed))] for seed in range(20)]
    assert picks == again
    assert len({tuple(pick) for pick in picks}) > 1


def test_prefers_the_better(selector):
    if isinstance(selector, TournamentSelector) and selector.size == 1:
        pytest.skip("a tournament of one is uniform by definition")
    pool = pool_of([0.0, 10.0])
    rng = random.Random(0)
    wins = sum(selector.select(pool, 1, rng)[0].id == "n1" for _ in range(600))
    assert wins > 330
