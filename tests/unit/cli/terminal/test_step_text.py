"""Steps as lines of the terminal."""

from __future__ import annotations

from cli.terminal.best_so_far import BEST, BestSoFar
from cli.terminal.step_text import StepLines
from core.events import BaselineScored, GenerationFinished, NodeCommitted


def committed(step: int, operator: str, **more: object) -> NodeCommitted:
    return NodeCommitted(node_id=f"{step:012d}", step=step, operator=operator, **more)


def test_a_line_begins_with_the_step_that_it_is_and_other_programs_have_no_number():
    """`15/15` stood beside `[16]`: the journal's place counts the programs that were given."""
    lines = StepLines(BestSoFar(True), 2)
    operators = ["user", "draft", "baseline", "improve", "ensemble"]
    said = [lines.line(committed(step, operator, metric=1.0)) for step, operator in enumerate(operators)]
    assert [line.split(" 00")[0].strip() for line in said] == [
        "000000 user: 1", "step 1/2", "000000 baseline: 1", "step 2/2", "000000 ensemble: 1",
    ]  # fmt: skip


def test_counts_go_on_after_a_resume():
    line = StepLines(BestSoFar(True), None, 7).line(committed(9, "draft", metric=1.0))
    assert line.startswith("step 8  000000 draft: 1") and "9" not in line


def test_a_new_best_is_marked_where_it_can_be_seen():
    """Rounding is no progress: the figure beside the mark is another one than before, with the digits that it takes."""
    lines = StepLines(BestSoFar(True), None)
    scores = [0.25, 0.25 - 4e-11, 0.2499, 0.2499 - 3e-9, 0.3]
    best = [min(scores[: n + 1]) for n in range(len(scores))]
    said = [
        lines.line(committed(n, "draft", metric=score, best_metric=best[n], is_best=score == best[n]))
        for n, score in enumerate(scores)
    ]
    assert [BEST in line for line in said] == [True, False, True, True, False]
    assert f": 0.249899997 {BEST}" in said[3] and ": 0.25 " in said[1]


def test_a_baseline_beside_the_search_leads_until_it_is_beaten():
    lines = StepLines(BestSoFar(True), None)
    lines.learn(BaselineScored(name="ridge", node_id="b", metric=2.0))
    lines.learn(BaselineScored(name="odd", node_id="c", failure="timeout"))
    behind = lines.line(committed(0, "draft", metric=3.0, best_metric=3.0, is_best=True))
    assert behind == "step 1  000000 draft: 3 *best candidate*  best 2 by the baseline ridge, 3 by the search"
    assert lines.line(committed(1, "draft", metric=1.0, best_metric=1.0, is_best=True)).endswith("  best 1")


def test_in_the_arena_nobody_is_called_the_best_by_a_rating_of_another_round():
    """Terminal: best 108.8 from step 2 to the end; the champion was the engine of 61.9."""
    lines = StepLines(BestSoFar(False, family="arena"), None)
    assert (
        lines.line(committed(0, "build", metric=61.9, best_metric=61.9, is_best=True)) == "step 1  000000 build: 61.9"
    )
    rows = [{"node_id": "a", "name": "g1.1", "elo": 108.8}, {"node_id": "b", "name": "g1.0", "elo": 61.9}]
    lines.learn(GenerationFinished(generation=1, ratings=rows, promoted=["b", "a"]))
    assert lines.line(committed(1, "build", metric=20.0)).endswith("build: 20  champion g1.0, 61.9 Elo")
