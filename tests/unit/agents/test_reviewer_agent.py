from __future__ import annotations

import json

import pytest

from agents.reviewer_agent import LESSON_TOOL, REVIEW_CHOICE, REVIEW_TOOL, ReviewerAgent, read_review
from core.contracts import Reviewer
from core.state.failure import FailureKind
from core.state.node import Node
from utils.errors import BudgetExhausted, ReplyError

reviewer: Reviewer = ReviewerAgent()
NODE = Node(id="n", code="print('rmse', 0.25)", term_out="rmse 0.25", metric_value=0.3)
GOOD = {
    "is_bug": False,
    "has_csv_submission": True,
    "summary": "A ridge model.",
    "metric": 0.25,
    "lower_is_better": True,
}


def test_the_schema_is_the_seeds():
    function = REVIEW_TOOL["function"]
    assert REVIEW_TOOL["type"] == "function" and function["name"] == "submit_review"
    assert function["parameters"] == {
        "type": "object",
        "properties": {
            "is_bug": {"type": "boolean"},
            "has_csv_submission": {"type": "boolean"},
            "summary": {"type": "string"},
            "metric": {"type": "number"},
            "lower_is_better": {"type": "boolean"},
        },
        "required": ["is_bug", "has_csv_submission", "summary"],
    }
    assert REVIEW_CHOICE == {"type": "function", "function": {"name": "submit_review"}}


def test_a_review_is_asked_for_by_its_tool_and_read(context):
    task = context([json.dumps(GOOD)], claims_only=True)
    review = reviewer.review(task, NODE)
    assert review.model_dump() == GOOD
    (call,) = task.query.calls
    assert call["tools"] == [REVIEW_TOOL] and call["tool_choice"] == REVIEW_CHOICE and call["attempt"] == 0
    for text in ("Predict the price.", "print('rmse', 0.25)", "rmse 0.25", "metric 0.3 (lower is better)"):
        assert text in call["user"]


def test_of_what_an_evaluator_scored_it_says_what_was_learned(context):
    told = {"rmse": 0.4, "seams": 5}
    parent = Node(id="p", code="print('rmse')", metric_value=0.4, fingerprint="f", step=2, metrics=told)
    lesson = {"learned": "Ridge beats the mean.", "next": ["a", "b", "", "c", "d"], "suspect": True}
    task = context(["{}", json.dumps(lesson)], parents=(parent,))
    found = {"parent_id": "p", "metrics": {"rmse": 0.3, "seams": 3}, "artifacts": {"stderr": "the third seam leaks"}}
    review = reviewer.review(task, NODE.model_copy(update=found))
    assert review.summary == "Ridge beats the mean. Suspect. Next: a; b; c"
    assert (review.is_bug, review.metric) == (False, None), "the score is the evaluator's"
    first, second = task.query.calls
    assert first["tools"] == [LESSON_TOOL] and "need `learned`" in second["user"]
    for text in ("+print('rmse', 0.25)", "-print('rmse')", "metric 0.4", "metric 0.3", "has_csv",
                 "against its parent [2]: 0.1", "seams: 3 (5)", "the third seam leaks"):  # fmt: skip
        assert (text in first["user"]) == (text != "has_csv")


@pytest.mark.parametrize(
    ("given", "metric"),
    [
        (1, 1.0),
        (0.5, 0.5),
        ("0.5", 0.5),
        (None, None),
        (True, None),
        (float("nan"), None),
        ("inf", None),
    ],
)
def test_integers_are_numbers_and_what_is_no_finite_number_is_no_metric(given, metric):
    text = json.dumps({"is_bug": False, "has_csv_submission": True, "summary": "s", "metric": given})
    assert read_review(text).metric == metric


@pytest.mark.parametrize("text", ["", "no json", "[]", '{"is_bug": true}', '{"is_bug": "x", "has_csv_submission": 1}'])
def test_arguments_that_do_not_fit_are_refused_with_a_reason(text):
    with pytest.raises(ReplyError, match="submit_review"):
        read_review(text)


def test_a_bad_call_is_asked_for_again_with_the_reason(context):
    task = context(["{}", json.dumps(GOOD)], claims_only=True)
    assert reviewer.review(task, NODE).metric == 0.25
    assert [c["attempt"] for c in task.query.calls] == [0, 1]
    assert "is_bug" in task.query.calls[1]["user"]


def test_what_the_backend_gave_up_is_not_begun_anew(context):
    """Behind one query() are up to six calls: a model that cannot fill in a form would be asked 24 times a review."""
    task = context([ReplyError("no usable arguments after 3 repairs"), json.dumps(GOOD)])
    assert "after 3 repairs" in reviewer.review(task, NODE).summary
    assert len(task.query.calls) == 1


def test_after_the_repairs_the_facts_of_the_run_speak(context):
    failed = Node(id="n", code="x", is_buggy=True, failure=FailureKind.TIMEOUT)
    review = reviewer.review(context(["{}"] * 4), failed)
    assert review.is_bug and not review.has_csv_submission and review.metric is None
    assert "could not be used" in review.summary


def test_half_a_character_cannot_break_the_store(context):
    review = reviewer.review(context(['{"is_bug": false, "has_csv_submission": true, "summary": "a\\ud800"}']), NODE)
    assert review.summary == "a?" and review.model_dump_json()


def test_the_budgets_end_is_not_swallowed(context):
    with pytest.raises(BudgetExhausted):
        reviewer.review(context([BudgetExhausted("spent")]), NODE)


def test_rules_is_told_exit_state_files_and_traceback_but_no_output(context):
    node = Node(
        id="n", code="x", exc_type="KeyError", is_buggy=True, failure=FailureKind.BAD_SUBMISSION, term_out="rmse 0.25",
        message="column missing", files={"submission.csv": "files/n/submission.csv"},
    )  # fmt: skip
    task = context([json.dumps(GOOD)])
    reviewer.review(task, node)
    facts = task.query.calls[0]["context"]
    assert json.loads(json.dumps(facts)) == facts and "0.25" not in json.dumps(facts)
    assert (facts["failure"], facts["exc_type"], facts["message"]) == ("bad_submission", "KeyError", "column missing")
    assert facts["has_csv_submission"] is True


def test_a_huge_run_is_cut_to_the_budget(context):
    node = NODE.model_copy(update={"code": "x = 1\n" * 50_000, "term_out": "line\n" * 90_000 + "THE END"})
    task = context([json.dumps(GOOD)], statement="t" * 90_000)
    ReviewerAgent(max_tokens=4000).review(task, node)
    user = task.query.calls[0]["user"]
    assert len(user.encode()) < 16_000 and "THE END" in user
