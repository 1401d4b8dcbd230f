"""What every ParentSelector must do: all of the registry, each with its defaults and with the variants named here."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.contracts import ParentSelector
from core.state.node import Node
from utils.direction import LARGEST
from utils.strategies import SELECTORS

VARIANTS: dict[str, list[dict[str, Any]]] = {
    "tournament": [{"size": 1}],
    "softmax": [{"temperature": 0.3}, {"temperature": 1.0}],
}
"""Options beside the defaults; a new selector needs no line here."""
CASES = [(name, options) for name in SELECTORS.names() for options in ({}, *VARIANTS.get(name, ()))]


def made(name: str, options: dict[str, Any]) -> ParentSelector:
    spec = SELECTORS.get(name)
    return spec.build(spec.options.model_validate(options))


_odd = st.floats(-LARGEST, LARGEST) | st.sampled_from([0.0, 5e-324, 1e-200, -LARGEST, LARGEST])
scores = st.lists(st.floats(-1e6, 1e6) | _odd, min_size=1, max_size=20)


def pool_of(values: list[float]) -> list[Node]:
    return [
        Node(id=f"n{i}", code="x" * (i + 1), step=i, fitness=value, metric_value=value, signature=(value, float(i)))
        for i, value in enumerate(values)
    ]


@pytest.fixture(params=CASES, ids=str)
def selector(request: pytest.FixtureRequest) -> ParentSelector:
    return made(*request.param)


@pytest.mark.parametrize("case", CASES, ids=str)
@given(values=scores, k=st.integers(1, 6), seed=st.integers(0, 2**32))
def test_returns_distinct_members_best_last(case, values, k, seed):
    pool = pool_of(values)
    before = list(pool)
    chosen = made(*case).select(pool, k, random.Random(seed))
    assert len({node.id for node in chosen}) == len(chosen) == min(k, len(pool))
    assert all(node in pool for node in chosen)
    assert [node.fitness for node in chosen] == sorted(node.fitness for node in chosen)
    assert pool == before


def test_same_seed_same_choice(selector):
    pool = pool_of([3.0, 1.0, 2.0, 5.0, 4.0])
    picks = [[n.id for n in selector.select(pool, 2, random.Random(seed))] for seed in range(200)]
    again = [[n.id for n in selector.select(pool, 2, random.Random(seed))] for seed in range(200)]
    assert picks == again
    assert len({tuple(pick) for pick in picks}) > 1


@pytest.mark.parametrize("case", [case for case in CASES if case[1] != {"size": 1}], ids=str)
def test_prefers_the_better(case):
    """A tournament of one is uniform by definition."""
    selector = made(*case)
    pool = pool_of([0.0, 10.0])
    rng = random.Random(0)
    wins = sum(selector.select(pool, 1, rng)[0].id == "n1" for _ in range(600))
    assert wins > 330
