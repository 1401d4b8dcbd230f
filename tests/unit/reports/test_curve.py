"""The report's curve as it stands in the file: what is ringed, and what an arena's shows."""

from __future__ import annotations

import pytest

from core.events import GenerationFinished
from core.state.node import Node
from reports.curve import curve_svg, legend
from reports.facts import read_facts
from reports.frame import ticks
from reports.ratings import CHAMPIONS


def rated(node_id, name, elo, half):
    return {"node_id": node_id, "name": name, "elo": elo, "low": elo - half, "high": elo + half}


def test_an_arena_shows_ratings_with_intervals_its_baselines_and_the_winner(write_run):
    final = {"node_id": "b", "metric": 90.0, "detail": {"games": 8}}
    nodes = [Node(id="a", code="x = 1", operator="baseline", name="alpha-beta", metric_value=0.0),
             Node(id="b", code="x = 2", operator="build", name="g1.0", metric_value=120.0, generation=1)]  # fmt: skip
    facts = read_facts(write_run(nodes, unit="Elo", lower_is_better=False, family="arena", final=final))
    facts.generations = [
        GenerationFinished(generation=0, ratings=[rated("a", "alpha-beta", 0.0, 0.0)], promoted=["a"]),
        GenerationFinished(generation=1, ratings=[rated("b", "g1.0", 120.0, 80.0)], promoted=["b"]),
    ]
    drawn = curve_svg(facts).text
    assert ">alpha-beta 0<" in drawn and ">starting champion<" in drawn
    assert "generation 1, g1.0: 120, 95 % 40 to 200" in drawn and drawn.count('class="interval"') == 2
    assert drawn.count('class="ring"') == 1 and "<title>winner, " in drawn and "g1.0" in drawn
    assert CHAMPIONS in legend(facts).text and "winner" in legend(facts).text


@pytest.mark.parametrize("ended", [False, True])
def test_the_winner_is_ringed_once_the_run_has_chosen_it(write_run, small_nodes, ended):
    best = min((node for node in small_nodes if node.is_scored), key=lambda node: node.metric_value or 0.0)
    facts = read_facts(write_run(small_nodes, final={"node_id": best.id, "metric": 1.0} if ended else None))
    assert curve_svg(facts).text.count('class="ring"') == ended and ("winner" in legend(facts).text) == ended


def test_ticks_are_round_numbers():
    assert ticks(0.0655, 0.0722) == [0.066, 0.068, 0.07, 0.072]
    assert ticks(-1087.7, 419.7) == [-1000.0, -500.0, 0.0]
    assert ticks(0.0, 1.0) == [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    assert ticks(3.0, 3.0) == [3.0]
