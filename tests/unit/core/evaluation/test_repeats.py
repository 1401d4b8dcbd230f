from __future__ import annotations

from types import SimpleNamespace

import pytest

from core.contracts import Evaluation
from core.evaluation.repeats import FREE, RepeatableEvaluator, Repeats
from core.search.final_choice import choose, looked_again
from core.state.failure import FailureKind
from core.state.journal import Journal
from core.state.node import Node
from utils.allowance import Allowance
from utils.errors import BudgetExhausted, JobStopped


def node(name, metric, **more):
    return Node(id=name, code=f"{name} = 1", metric_value=metric, operator="improve", **more)


def scored_in_turn(scores):
    """Each look takes the node's next score; the nodes in the order in which they were looked at."""
    looked = []

    def score(node):
        looked.append(node.id)
        value = scores[node.id].pop(0)
        return value if isinstance(value, Evaluation) else Evaluation(metric=value)

    return score, looked


# ---------------------------------------------------------------- the final choice


def seen_again(nodes, score):
    return Repeats(Journal(), 2).seen_again(nodes, score)


def test_what_scores_the_same_twice_is_looked_at_once():
    score, looked = scored_in_turn({"a": [2.6342924020699]})
    assert seen_again([node("a", 2.6342924020695), node("b", 2.5)], score) is None and looked == ["a"]


def test_the_best_by_luck_loses_to_the_best_mean():
    top = [node("lucky", 10.0), node("steady", 9.0), node("weak", 8.5)]
    score, looked = scored_in_turn({"lucky": [5.0, 6.0], "steady": [9.2, 8.8], "weak": [8.0, 8.4]})
    again = seen_again(top, score)
    assert [round(verdict.metric, 6) for verdict in again] == [7.0, 9.0, 8.3]
    assert again[0].repeats == (10.0, 5.0, 6.0) and len(looked) == 6
    assert (again[0].first, again[0].again) == (10.0, (5.0, 6.0))
    assert choose(looked_again(top, again, lower_is_better=False)).winner.id == "steady"


def test_a_mean_of_several_looks_counts_as_several():
    score, _ = scored_in_turn({"a": [4.0, 4.0]})
    (again,) = seen_again([node("a", 8.0, interval=(7.0, 9.0), repeats=(7.0, 8.0, 9.0))], score)
    assert again.metric == pytest.approx((3 * 8.0 + 2 * 4.0) / 5)


def test_an_interval_of_one_look_makes_it_no_more_than_one():
    """A timed command has an interval after its first score: it counted three times in the final choice."""
    score, _ = scored_in_turn({"a": [4.0, 4.0]})
    (again,) = seen_again([node("a", 8.0, interval=(7.0, 9.0))], score)
    assert again.metric == pytest.approx((8.0 + 2 * 4.0) / 3)


def test_what_fails_when_it_is_run_again_is_not_chosen():
    top = [node("a", 3.0), node("b", 2.0)]
    crash = Evaluation(failure=FailureKind.TIMEOUT, message="past 60 s")
    score, _ = scored_in_turn({"a": [2.9, crash], "b": [2.1, 2.0]})
    again = seen_again(top, score)
    assert choose(looked_again(top, again, lower_is_better=False)).winner.id == "b"


def test_what_fails_by_chance_when_it_is_run_again_is_looked_at_once_more():
    """An evaluator that fails in every third case lost the best program nearly always."""
    crash = Evaluation(failure=FailureKind.EVAL_ERROR, message="did not converge")
    score, looked = scored_in_turn({"a": [crash, 9.0, crash, crash, 10.0], "b": [2.1, crash, crash, crash]})
    again = seen_again([node("a", 8.0), node("b", 2.0)], score)
    assert (again[0].metric, again[0].again, again[0].failed) == (9.0, (9.0, 10.0), 3) and len(looked) == 9
    assert again[1].metric is None, "it fails each time"


def test_a_new_best_that_fails_by_chance_is_looked_at_once_more():
    crash = Evaluation(failure=FailureKind.RUNTIME, message="boom")
    score, _ = scored_in_turn({"a": [crash, 4.0, crash, 6.0]})
    assert Repeats(Journal(), 2).confirmed(node("a", 8.0), Evaluation(metric=8.0), score).metric == 6.0


def test_looks_are_taken_side_by_side_and_each_once_before_any_twice():
    asked = []

    def looks(what, places, look, takes):
        asked.append((what, list(places)))
        return [look(place) for place in places]

    score, _ = scored_in_turn({"a": [5.0, 6.0], "b": [9.2, 8.8], "c": [8.0, 8.4]})
    top = [node("a", 10.0), node("b", 9.0), node("c", 8.5)]
    Repeats(Journal(), 2, looks).seen_again(top, score)
    assert asked[0] == ("", [0]) and asked[1:] == [
        ("the best scored again for the choice, since scores differ", [1, 2, 0, 1, 2])
    ]


def test_whom_there_was_no_time_to_look_at_is_not_chosen():
    score, _ = scored_in_turn({"a": [5.0, 6.0], "b": [9.2]})
    top = [node("a", 10.0), node("b", 9.0), node("c", 8.5)]
    looks = iter([[0], [1, None, None, None, None]])

    def in_time(what, places, look, takes):
        return [None if place is None else look(place) for place in next(looks)]

    again = Repeats(Journal(), 2, in_time).seen_again(top, score)
    assert [verdict.metric for verdict in again] == [7.5, pytest.approx(9.1), None]
    assert [one.id for one in looked_again(top, again, lower_is_better=False)] == ["b", "a"]


def test_where_a_first_look_does_not_fit_into_the_end_all_keep_their_scores_and_it_is_told(capsys):
    """The first look was taken whatever it took: 203 s where the run had said "at most 30 s"."""
    now = [0.0]
    allowance = Allowance(lambda: now[0])
    allowance.begin(100)
    judge = object.__new__(RepeatableEvaluator)
    deps = SimpleNamespace(
        jobs=SimpleNamespace(slots=1), journal=Journal(), repeats=2, doing=print, allowance=allowance
    )
    judge._repeats = judge._repeated(deps)
    judge.anew = lambda node: pytest.fail("it takes 203 s, and there are 30")
    (unlooked,) = judge.second_look([node("a", 10.0, exec_time=203.0)])
    assert unlooked.metric is None and unlooked.failure is None
    assert "one evaluation took 203 s" in capsys.readouterr().err


def test_a_look_that_outlives_the_end_is_cut_off(capsys):
    allowance = Allowance(lambda: 0.0)
    allowance.begin(100)
    judge = object.__new__(RepeatableEvaluator)
    deps = SimpleNamespace(
        jobs=SimpleNamespace(slots=1), journal=Journal(), repeats=2, doing=print, allowance=allowance
    )
    judge._repeats = judge._repeated(deps)

    def anew(node):
        if node.id == "b":
            raise BudgetExhausted("what the pool raises where nothing is left")
        return Evaluation(metric=9.0)

    judge.anew = anew
    with allowance.within():
        again = judge.second_look([node("a", 10.0), node("b", 9.9)])
    assert [verdict.metric for verdict in again] == [pytest.approx(28 / 3), None]
    assert "left out, at most 30 s in all" in capsys.readouterr().err
    with pytest.raises(BudgetExhausted):
        judge.second_look([node("b", 9.9)])


def test_a_program_whose_further_score_was_stopped_or_lost_is_not_chosen():
    """What was stopped while it was confirmed keeps its first score, and the pool refuses it for good."""

    class Judge(RepeatableEvaluator):
        together = False

        def anew(self, node):
            if node.id == "a":
                raise JobStopped("the user stopped it while it ran")
            return Evaluation(metric=2.1)

    judge = Judge()
    judge._repeats = Repeats(Journal(), 2)
    top = [node("a", 3.0), node("b", 2.0)]
    again = judge.second_look(top)
    assert [verdict.failure for verdict in again] == [FailureKind.STOPPED, None]
    assert choose(looked_again(top, again, lower_is_better=False)).winner.id == "b"


def test_nothing_to_look_at():
    assert seen_again([], lambda node: Evaluation()) is None


def test_the_user_may_want_none():
    journal = Journal(nodes=[node("a", 1.0)])
    repeats = Repeats(journal, 0)
    assert not repeats.doubts(Evaluation(metric=2.0)) and repeats.seen_again([node("a", 1.0)], None) is None


# ---------------------------------------------------------------- in the search


def committed(journal, repeats, name, *scores):
    """Commit a program with these scores in turn, as the loop does; its node and how often it was scored."""
    verdict = Evaluation(metric=scores[0], signature=(scores[0], 1.0))
    looks = iter(scores[1:])
    taken = 1

    def score(_):
        nonlocal taken
        taken += 1
        value = next(looks)
        return value if isinstance(value, Evaluation) else Evaluation(metric=value, signature=(value, 1.0))

    found = repeats.confirmed(node(name, scores[0]), verdict, score) if repeats.doubts(verdict) else None
    verdict = found or verdict
    more = {"interval": verdict.interval, "signature": verdict.signature, "repeats": verdict.repeats}
    more |= {"stages": {"confirm": 0.5}} if found else {}
    return journal.append(node(name, verdict.metric, **more)), taken


def search(lower=False):
    journal = Journal(lower_is_better=lower)
    return journal, Repeats(journal, 2)


def test_the_best_of_noisy_scores_is_the_best_mean():
    journal, repeats = search()
    assert committed(journal, repeats, "start", 1.0)[1] == 1, "there is nothing to compare it with"
    lucky, taken = committed(journal, repeats, "lucky", 3.0, 1.5, 1.5)
    assert (lucky.metric_value, taken) == (2.0, 3)
    low, high = lucky.interval
    assert low < 1.5 and high > 2.5 and lucky.repeats == (3.0, 1.5, 1.5)
    assert lucky.signature == (2.0, 1.0), "the mean of each case"
    below, taken = committed(journal, repeats, "below", 1.2, 2.4, 2.7)
    assert taken == 3 and below.metric_value == pytest.approx(2.1), "nearer to the best than the spread"
    assert journal.get_best_node().id == "below"
    assert committed(journal, repeats, "far", -9.0)[1] == 1


def test_lower_may_be_better():
    journal, repeats = search(lower=True)
    committed(journal, repeats, "start", 5.0)
    lucky, taken = committed(journal, repeats, "lucky", 1.0, 4.0, 4.0)
    assert (lucky.metric_value, taken) == (3.0, 3)
    assert committed(journal, repeats, "worse", 99.0)[1] == 1


def test_steady_scores_cost_two_further_looks_in_all():
    journal, repeats = search()
    looks = [committed(journal, repeats, f"n{score}", float(score), float(score))[1] for score in range(20)]
    assert looks == [1, 2, 2, *[1] * 17]
    assert all(found.interval is None and found.metric_value == found.step for found in journal)


def test_a_noisy_search_is_bounded_by_its_steps():
    journal, repeats = search()
    looks = [committed(journal, repeats, f"n{place}", 1.0 + place, 1.0, 3.0 + place)[1] for place in range(40)]
    assert sum(looks) - len(looks) <= FREE + len(journal)


def test_what_fails_the_second_time_keeps_its_first_score_and_is_counted():
    journal, repeats = search()
    crash = Evaluation(failure=FailureKind.TIMEOUT)
    found = [committed(journal, repeats, f"n{place}", float(place), crash) for place in range(60)]
    assert [one.metric_value for one, _ in found] == list(map(float, range(60)))
    assert sum(taken - 1 for _, taken in found) <= FREE + 60


def test_a_resumed_process_decides_alike():
    journal, repeats = search()
    for place, scores in enumerate([(1.0,), (3.0, 1.5, 1.5), (2.0, 2.4, 1.9)]):
        committed(journal, repeats, f"n{place}", *scores)
    for metric in (0.0, 1.0, 1.9, 2.1, 2.6, 9.0):
        verdict = Evaluation(metric=metric)
        assert Repeats(journal, 2).doubts(verdict) == repeats.doubts(verdict)


def test_a_resumed_process_knows_that_scores_are_steady():
    journal, repeats = search()
    for score in range(6):
        committed(journal, repeats, f"n{score}", float(score), float(score))
    again = Repeats(journal, 2)
    assert not repeats.doubts(Evaluation(metric=9.0)) and not again.doubts(Evaluation(metric=9.0))
    assert committed(journal, again, "n9", 9.0)[1] == 1, "two further looks in the run, not in each of its processes"


def test_an_evaluator_that_repeats_by_itself_is_left_alone():
    journal, repeats = search()
    committed(journal, repeats, "start", 1.0)
    assert not repeats.doubts(Evaluation(metric=2.0, interval=(1.9, 2.1)))
