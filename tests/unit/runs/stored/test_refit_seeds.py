"""How often a refit runs the winner, where nobody says so."""

from __future__ import annotations

import pytest

from core.state.node import Node
from runs.stored.best_program import seeds_for
from runs.stored.export_request import SEEDS
from utils.config import load_config


@pytest.mark.parametrize(
    ("budget", "took", "seeds"),
    [
        ("45", 0.4, SEEDS),
        ("45", 5.0, 2),
        ("45", 15.0, 1),
        ("45", 400.0, 1),
        ("86400", 3600.0, SEEDS),
        ("null", 50.0, SEEDS),
    ],
)
def test_as_many_seeds_as_fit_into_a_quarter_of_the_searchs_seconds(budget, took, seeds):
    config = load_config(None, [f"budget.seconds={budget}"])
    assert seeds_for(Node(id="a", code="x = 1", exec_time=took), config) == seeds
