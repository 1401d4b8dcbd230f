"""Steps as lines of the terminal."""

from __future__ import annotations

from cli.terminal.best_so_far import BestSoFar
from cli.terminal.step_text import StepLines
from core.events import BaselineScored, NodeCommitted


def committed(step: int, operator: str, **more: object) -> NodeCommitted:
    return NodeCommitted(node_id=f"{step:012d}", step=step, operator=operator, **more)


def test_every_node_has_its_place_and_only_steps_are_counted():
    lines = StepLines(BestSoFar(True), 2)
    operators = ["user", "draft", "baseline", "improve", "ensemble"]
    said = [lines.line(committed(step, operator, metric=1.0)) for step, operator in enumerate(operators)]
    assert [line.split()[0] for line in said] == ["[0]", "[1]", "[2]", "[3]", "[4]"]
    assert [line.split()[-1] for line in said] == ["1", "1/2", "1", "2/2", "1"]


def test_counts_go_on_after_a_resume():
    line = StepLines(BestSoFar(True), None, 7).line(committed(9, "draft", metric=1.0))
    assert line.startswith("[9] ") and line.endswith("8 steps")


def test_a_new_best_is_marked_where_it_can_be_seen():
    """Rounding is no progress to look at: the figure beside the mark is another one than before."""
    lines = StepLines(BestSoFar(True), None)
    scores = [0.25, 0.25 - 4e-10, 0.2499, 0.3]
    best = [min(scores[: n + 1]) for n in range(len(scores))]
    said = [
        lines.line(committed(n, "draft", metric=score, best_metric=best[n], is_best=score == best[n]))
        for n, score in enumerate(scores)
    ]
    assert ["*best*" in line for line in said] == [True, False, True, False]


def test_a_baseline_beside_the_search_leads_until_it_is_beaten():
    lines = StepLines(BestSoFar(True), None)
    lines.learn(BaselineScored(name="ridge", node_id="b", metric=2.0))
    lines.learn(BaselineScored(name="odd", node_id="c", failure="timeout"))
    assert "  best 2 by the baseline ridge, 3 by the search  " in lines.line(
        committed(0, "draft", metric=3.0, best_metric=3.0, is_best=True)
    )
    assert "  best 1  " in lines.line(committed(1, "draft", metric=1.0, best_metric=1.0, is_best=True))
