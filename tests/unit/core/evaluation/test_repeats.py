from __future__ import annotations

from core.contracts import Evaluation
from core.evaluation.repeats import seen_again
from core.search.final_choice import choose, looked_again
from core.state.failure import FailureKind
from core.state.node import Node


def node(name, metric):
    return Node(id=name, code=f"{name} = 1", metric_value=metric)


def scored_in_turn(scores):
    """Each look takes the node's next score; the nodes in the order in which they were looked at."""
    looked = []

    def score(node):
        looked.append(node.id)
        value = scores[node.id].pop(0)
        return value if isinstance(value, Evaluation) else Evaluation(metric=value)

    return score, looked


def test_what_scores_the_same_twice_is_looked_at_once():
    score, looked = scored_in_turn({"a": [2.6342924020699]})
    assert seen_again([node("a", 2.6342924020695), node("b", 2.5)], score) is None and looked == ["a"]


def test_the_best_by_luck_loses_to_the_best_mean():
    top = [node("lucky", 10.0), node("steady", 9.0), node("weak", 8.5)]
    score, looked = scored_in_turn({"lucky": [5.0, 6.0], "steady": [9.2, 8.8], "weak": [8.0, 8.4]})
    again = seen_again(top, score)
    assert [round(verdict.metric, 6) for verdict in again] == [7.0, 9.0, 8.3]
    assert again[0].metadata["scores"] == [10.0, 5.0, 6.0] and len(looked) == 6
    assert choose(looked_again(top, again, lower_is_better=False)).winner.id == "steady"


def test_what_fails_when_it_is_run_again_is_not_chosen():
    top = [node("a", 3.0), node("b", 2.0)]
    crash = Evaluation(failure=FailureKind.TIMEOUT, message="past 60 s")
    score, _ = scored_in_turn({"a": [2.9, crash], "b": [2.1, 2.0]})
    again = seen_again(top, score)
    assert choose(looked_again(top, again, lower_is_better=False)).winner.id == "b"


def test_nothing_to_look_at():
    assert seen_again([], lambda node: Evaluation()) is None
