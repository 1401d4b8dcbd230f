"""What evolution.png shows, read from the drawn axes: baselines, intervals, whole generations, the winner."""

from __future__ import annotations

import pytest

from core.events import GenerationFinished
from core.state.node import Node
from reports.evolution import draw_evolution
from reports.evolution_scale import MOST_BASELINES
from reports.facts import read_facts
from reports.ratings import CHAMPIONS


def drawn(facts):
    from reports.plots import _figure

    figure, axes = _figure()
    draw_evolution(facts, figure, axes)
    figure.canvas.draw()
    return figure, axes


def texts(axes) -> str:
    return " | ".join(text.get_text() for text in axes.texts)


def legend(axes) -> list[str]:
    return [text.get_text() for text in axes.get_legend().get_texts()]


def rated(node_id, elo, half):
    return {"node_id": node_id, "name": node_id, "elo": elo, "low": elo - half, "high": elo + half}


def test_engines_stand_in_whole_generations_with_their_intervals(write_run):
    facts = read_facts(write_run([Node(id="a", code="x = 1", metric_value=0.0, generation=1)]))
    facts.generations = [
        GenerationFinished(generation=0, ratings=[rated("start", 0.0, 0.0)], promoted=["start"]),
        GenerationFinished(generation=1, ratings=[rated("start", 0, 0), rated("new", 120.0, 80)], promoted=["new"]),
    ]
    facts.lower_is_better = False
    facts.baselines = [{"name": "alpha-beta", "node_id": "start", "metric": 0.0}]
    _, axes = drawn(facts)
    ticks = [tick for tick in axes.get_xticks() if axes.get_xlim()[0] <= tick <= axes.get_xlim()[1]]
    assert {0.0, 1.0} <= set(ticks) and all(tick == int(tick) for tick in ticks)
    assert {CHAMPIONS, "winner new", "rating, 95 %", "champion's rating, 95 %"} == set(legend(axes))
    bars = [c for c in axes.containers if c.has_yerr]
    reaches = [path.vertices[:, 1] for bar in bars for path in bar.lines[2][0].get_paths()]
    assert any(sorted(reach) == [40.0, 200.0] for reach in reaches), "the interval of the new champion"
    assert axes.get_ylim()[1] > 200 and "alpha-beta 0\nstarting champion" in texts(axes)


@pytest.mark.parametrize("generational", [False, True])
def test_baselines_are_named_beside_the_axes_and_the_winner_is_marked(write_run, small_nodes, generational):
    nodes = small_nodes
    if generational:
        nodes = [n.model_copy(update={"generation": i // 2}) for i, n in enumerate(small_nodes)]
    facts = read_facts(write_run(nodes))
    scores = [n.metric_value for n in facts.nodes if n.is_scored]
    facts.baselines = [{"name": f"known {k}", "metric": min(scores) + 0.001 * k} for k in range(20)]
    figure, axes = drawn(facts)
    assert texts(axes).count("known") == MOST_BASELINES
    box = axes.get_window_extent()
    names = [text.get_window_extent() for text in axes.texts]
    assert all(name.x0 >= box.x1 - 1 and name.x1 <= figure.bbox.x1 for name in names), "none lies over the curve"
    assert "best so far" in legend(axes) and any(text.startswith(("winner", "best so far ")) for text in legend(axes))


def test_nothing_is_hidden(write_run):
    """The legend stands below the axes, each line that is named lies within, what is off the scale is counted."""
    scores = [0.0690, 0.0680, 0.0667, 0.0692, 0.0675, 1.46, 0.0670, 1.46, 0.0668, 0.0685]
    facts = read_facts(write_run([Node(id=f"n{i}", code=f"x = {i}", metric_value=s) for i, s in enumerate(scores)]))
    facts.lower_is_better = True
    known = {"first": 0.0705, "bad": 9.0, "far": 0.05, "seed": 0.0667}
    facts.baselines = [{"name": name, "metric": metric, "own": name == "seed"} for name, metric in known.items()]
    _, axes = drawn(facts)
    low, high = axes.get_ylim()
    told = texts(axes)
    assert "first 0.0705" in told and "far 0.05" in told and "your program" in told and "bad" not in told
    assert low < 0.05 and 0.0705 < high < 1
    assert "off the scale (2)" in legend(axes)
    below = axes.get_legend().get_window_extent().y1
    assert axes.get_legend().get_window_extent().y0 > 0 and below < axes.get_window_extent().y0


def test_a_run_without_scores_says_so(write_run):
    _, axes = drawn(read_facts(write_run([])))
    assert "no scored program" in texts(axes)


def test_the_interval_of_the_caption_holds_the_score_before_it(write_run, small_nodes):
    """A score of 10004.5 stood before an interval of 1e+04 to 1e+04: six digits beside four."""
    facts = read_facts(write_run(small_nodes))
    found = {"final_metric": 10004.5, "final_interval": (10004.1, 10004.8)}
    winner = facts.conclusion.winner.model_copy(update=found)
    facts.conclusion = facts.conclusion.model_copy(update={"winner": winner})
    figure, _ = drawn(facts)
    assert "final 10004.5 (95 % 10004.1 to 10004.8)" in " ".join(figure.get_supxlabel().split())
