"""One node's stages: what is told of them, what a review leaves behind, and what a verdict makes of the node."""

from __future__ import annotations

import pytest
from support.loop import open_loop
from support.plugins.toy import ToyEvaluator

from core.contracts import AgentContext, Evaluation, Review
from core.loop.attempt import Attempt, RunContext
from core.loop.finished_node import finished_node
from core.state.failure import FailureKind
from core.state.node import Node
from core.state.task import Task
from core.storage.reader import RunReader
from utils.errors import BudgetExhausted, ReplyError


class Clock:
    """Each look at it is `step` seconds after the one before."""

    def __init__(self, step: float) -> None:
        self.step, self.now = step, 0.0

    def __call__(self) -> float:
        self.now += self.step
        return self.now


@pytest.mark.parametrize("together", [False, True])
def test_what_is_stored_does_not_depend_on_the_clock(tmp_path, together):
    """A machine that is a thousand times slower tells the same events; only the seconds in them differ."""
    told, seconds = [], []
    for step in (0.0, 0.4):
        folder = tmp_path / f"{step:g}"
        open_loop(folder, steps=8, evaluator=ToyEvaluator(together=together), writers=1, clock=Clock(step)).run()
        with RunReader(folder) as reader:
            told.append([(event.type, getattr(event, "node_id", None)) for event in reader.events()])
            seconds.append([node.stages["reply"] for node in reader.nodes()])
    assert told[0] == told[1] and ("node.stage", told[0][-1][1]) in told[0]
    assert set(seconds[0]) == {0.0} and min(seconds[1]) == pytest.approx(0.4)


class DecidesToScreen(ToyEvaluator):
    """Finds out while it judges its first node that rounds are judged together."""

    def evaluate(self, nodes):
        self.together = True
        return [found.model_copy(update={"seconds": 0.125}) for found in super().evaluate(nodes)]


def test_where_rounds_are_judged_together_the_clock_tells_no_seconds_that_the_verdict_does_not(tmp_path):
    """Not even in the round in which that was decided: what goes on beside an evaluator is told by nothing."""
    open_loop(tmp_path, steps=4, evaluator=DecidesToScreen(), writers=1, clock=Clock(0.4)).run()
    with RunReader(tmp_path) as reader:
        seconds = {node.stages["execute"] for node in reader.nodes() if "execute" in node.stages}
    assert seconds == {0.125}


def test_a_writer_is_told_of_the_best_child_that_beats_its_parent_and_of_no_other(tmp_path):
    open_loop(tmp_path, steps=12).run()
    loop = open_loop(tmp_path, steps=13)
    loop.orchestrator.restore()
    journal, told = loop.journal, 0
    for node in journal:
        task = Task(node_id="x", operator="improve", parent_ids=(node.id,), round=99, slot=0, seed=1)
        children = [journal[child] for child in journal.children_ids(node.id) if journal[child].is_scored]
        better = [child for child in children if node.is_scored and child.fitness > node.fitness]
        best = [max(better, key=lambda child: (child.fitness, -child.step))] if better else []
        found = loop.orchestrator.begin(task).context.better_children
        assert [child.id for child in found] == [child.id for child in best]
        told += len(best)
    loop.close()
    assert told


def test_every_verdict_is_told_in_the_transaction_that_stores_it(tmp_path):
    open_loop(tmp_path, steps=6).run()
    with RunReader(tmp_path) as reader:
        judged = [event.node_id for event in reader.events(types=["node.stage"])]
        assert sorted(judged) == sorted(node.id for node in reader.nodes() if not node.duplicate_of)


class Unreadable:
    def review(self, context, node):
        raise ReplyError("submit_review: no JSON")


def test_a_review_that_cannot_be_read_leaves_its_reason_on_the_node(tmp_path):
    loop = open_loop(tmp_path, steps=2, reviewer=Unreadable(), review="always")
    loop.run()
    with RunReader(tmp_path) as reader:
        best = reader.best()
    assert best.review is None and best.review_error == "submit_review: no JSON" and "review" in best.stages


# ---------------------------------------------------------------- the finished node


class NoUsage:
    writer, prompt_tokens, completion_tokens, cost_usd, looks = "m", None, None, None, {}


def finished(verdict: Evaluation, review: Review | None = None, *, claims_only: bool = False, **written) -> Node:
    task = Task(node_id="a", operator="draft", round=3, slot=0, seed=1)
    context = AgentContext(task=task, statement="", parents=(), query=None)
    node = Node(id="a", code="print(1)", **written)
    attempt = Attempt(task, context, node=node, verdict=verdict, review=review)
    return finished_node(attempt, RunContext(statement="", claims_only=claims_only), NoUsage())


def test_findings_go_to_the_node_and_the_writers_word_stands_where_there_are_none():
    verdict = Evaluation(metric=2.0, message="2 won", interval=(1.0, 3.0), features={"depth": 4.0}, metadata={"own": 1})
    node = finished(verdict, name="g1.0", features={"size": 2.0}, metadata={"category": "search"})
    assert (node.message, node.interval, node.features, node.name) == ("2 won", (1.0, 3.0), {"depth": 4.0}, "g1.0")
    assert node.metadata == {"category": "search", "own": 1} and node.round == 3 and node.metric_source == "verified"
    assert finished(Evaluation(metric=2.0), features={"size": 2.0}).features == {"size": 2.0}


@pytest.mark.parametrize("claims_only", [False, True])
def test_a_duplicate_is_no_failure_whoever_vouches_for_scores(claims_only):
    node = finished(Evaluation(duplicate_of="b", message="same program as b"), claims_only=claims_only)
    assert (node.failure, node.is_buggy, node.is_valid, node.duplicate_of) == (None, False, False, "b")


class LiteralReviewer:
    """Takes the prompt at its word: a bug if it says that the run failed; else the score is what the output says."""

    def __init__(self) -> None:
        self.seen: list[Node] = []

    def review(self, context: AgentContext, node: Node) -> Review:
        self.seen.append(node)
        metric = None if node.failure else 0.25
        return Review(is_bug=node.failure is not None, has_csv_submission=True, summary="s", metric=metric)


class Unscored(ToyEvaluator):
    """Runs programs, and has no score for them: the reviewer's reading is the metric."""

    def evaluate(self, nodes):
        return [found if found.failure else Evaluation(term_out="rmse 0.25") for found in super().evaluate(nodes)]


def test_a_reviewer_whose_reading_is_the_score_is_not_told_that_the_run_failed(tmp_path):
    reviewer = LiteralReviewer()
    open_loop(tmp_path, steps=4, evaluator=Unscored(), reviewer=reviewer, claims_only=True).run()
    assert any(node.failure is None and node.term_out for node in reviewer.seen)
    with RunReader(tmp_path) as reader:
        healthy = [node for node in reader.nodes() if node.metric_value is not None]
    assert {(node.metric_value, node.metric_source, node.failure) for node in healthy} == {(0.25, "claimed", None)}


WAYS = {"rounds": {}, "pipeline": {}, "async": {"batch": 1}, "together": {"schedule": "rounds"}}


@pytest.mark.parametrize("way", WAYS)
def test_a_program_whose_score_the_budget_kept_from_being_read_stays_open(tmp_path, way):
    """It was committed as a failure that the reviewer had found, though nobody had been asked."""

    class Poor(LiteralReviewer):
        def review(self, context, node):
            if len(self.seen) == 2:
                raise BudgetExhausted("budget.usd: 1 of 1 dollars")
            return super().review(context, node)

    def loop(reviewer):
        options = {"steps": 8, "schedule": way, "writers": 1, **WAYS[way]}
        judge = Unscored(together=way == "together")
        return open_loop(tmp_path, evaluator=judge, reviewer=reviewer, claims_only=True, **options)

    first = loop(Poor())
    assert first.run() == "budget.usd: 1 of 1 dollars"
    assert len([node for node in first.journal if node.is_scored]) == 2
    assert not any(node.failure == "eval_error" for node in first.journal)
    again = loop(LiteralReviewer())
    unread = [task.node_id for task in again.store.open_tasks() if "execute" in again.store.stages(task.node_id)]
    assert unread and again.run().startswith("max_steps")
    assert all(again.journal[node_id].metric_value == 0.25 for node_id in unread)


def test_a_review_that_is_a_comment_may_be_missing(tmp_path):
    class Poor:
        def review(self, context, node):
            raise BudgetExhausted("budget.usd: 1 of 1 dollars")

    loop = open_loop(tmp_path, steps=2, reviewer=Poor(), review="always")
    assert loop.run() == "budget.usd: 1 of 1 dollars" and loop.journal.get_best_node().review is None


@pytest.mark.parametrize(
    ("metric", "is_bug", "failure"), [(0.5, False, None), (0.5, True, "eval_error"), (None, False, "eval_error")]
)
def test_where_the_review_is_the_score_it_is_a_claim(metric, is_bug, failure):
    review = Review(is_bug=is_bug, has_csv_submission=True, summary="s", metric=metric)
    node = finished(Evaluation(term_out="RMSE 0.5"), review, claims_only=True)
    assert node.failure == (None if failure is None else FailureKind(failure)) and node.review == review
    assert (node.metric_value, node.metric_source) == ((metric, "claimed") if metric else (None, None))
