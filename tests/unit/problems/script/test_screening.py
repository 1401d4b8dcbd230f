"""Which screened programs are scored apart, and when a difference is somebody's doing."""

from __future__ import annotations

import pytest

from core.contracts import Evaluation
from core.state.failure import FailureKind
from core.state.journal import Journal
from core.state.node import Node
from problems.script.screening import NOT_RANKED, RANKED, Screened, judged, may_rank
from utils.direction import Direction

UP, DOWN = Direction(False), Direction(True)


def screened(score: float | None, island: int | None = 0, operator: str = "mutate") -> Screened:
    node = Node(id=f"c{score}{island}{operator}", code="x", island=island, operator=operator)
    verdict = Evaluation(metric=score, source="unisolated", unisolated_reason="screened")
    return Screened(node, verdict if score is not None else Evaluation(failure=FailureKind.RUNTIME, message="oops"))


def journal(*scores: float, island: int = 0, lower: bool = False) -> Journal:
    found = Journal(lower_is_better=lower)
    for number, score in enumerate(scores):
        found.append(Node(id=f"{island}{number}", code=f"{number}", metric_value=score, is_valid=True, island=island))
    return found


def ranked(found, known, direction=UP):
    return [one.score for one in may_rank(found, known, direction)]


def test_only_what_seems_better_than_the_last_that_ranks_is_scored_apart():
    known = journal(*range(RANKED + 3))
    assert ranked([screened(2.0), screened(3.0), screened(3.5), screened(9.0)], known) == [3.5, 9.0]
    low = journal(*range(RANKED + 3), lower=True)
    assert ranked([screened(RANKED - 1.0), screened(1.5)], low, DOWN) == [1.5]


def test_a_program_that_fails_beside_the_evaluator_is_told_how_it_fails_apart():
    assert ranked([screened(None)], journal(*range(RANKED + 3))) == [None]


def test_each_island_ranks_its_own_and_while_few_are_scored_all_may():
    known = journal(*range(10, 10 + RANKED))
    assert ranked([screened(1.0), screened(1.0, island=1)], known) == [1.0]
    assert ranked([screened(-5.0)], journal(1, 2)) == [-5.0]


@pytest.mark.parametrize("operator", ["baseline", "user", "tune"])
def test_founders_and_tuned_programs_are_always_scored_apart(operator):
    assert ranked([screened(-1.0, operator=operator)], journal(*range(20))) == [-1.0]


def test_a_program_that_does_not_rank_has_only_the_note_that_it_does_not():
    assert NOT_RANKED.model_dump(exclude_defaults=True) == {"message": NOT_RANKED.message, "rung": "cheap"}


def apart(metric):
    return Evaluation(metric=metric, source="verified")


@pytest.mark.parametrize(
    ("beside", "first", "second", "noise", "failure"),
    [
        (1.0, 0.5, 0.5, 0.0, FailureKind.TAMPERED),
        (1.0, 0.5, 0.5, 0.2, None),
        (1.0, 0.5, 0.8, 0.0, None),
        (0.5, 0.5, 0.5, 0.0, None),
        (0.2, 0.5, 0.5, 0.0, None),
    ],
    ids=["tampered", "the evaluator's noise", "its own chance", "equal", "worse beside"],
)
def test_a_difference_beyond_all_chance_is_tampering(beside, first, second, noise, failure):
    verdict = judged(screened(beside), apart(first), apart(second), noise, UP)
    assert verdict.failure is failure and verdict.metric == (None if failure else first)


def test_a_tampered_score_is_not_told_since_its_digits_could_be_the_labels():
    verdict = judged(screened(7.25), apart(0.5), apart(0.5), 0.0, UP)
    assert verdict.failure is FailureKind.TAMPERED and "7.25" not in verdict.model_dump_json()
