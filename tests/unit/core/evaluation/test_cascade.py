from __future__ import annotations

import threading
import time
from collections.abc import Sequence

import pytest

from core.contracts import Evaluation
from core.evaluation.cascade import Cascade, Loaded
from core.state.failure import FailureKind
from core.state.journal import Journal
from core.state.node import Node


class Toy:
    """A program is a number in its code; behaviour is its last digit; cheap and full scores are the number itself."""

    def __init__(self) -> None:
        self.cheap_calls: list[tuple[float, float | None]] = []
        self.full_calls: list[float] = []
        self.lock = threading.Lock()

    def load(self, nodes: Sequence[Node]) -> list[Loaded[float] | Evaluation]:
        return [
            Evaluation(failure=FailureKind.RUNTIME, message="no")
            if node.code == "bad"
            else Loaded(float(node.code), node.code[-1] if not node.code.endswith("?") else "")
            for node in nodes
        ]

    def cheap(self, program: float, cut: float | None) -> float | None:
        with self.lock:
            self.cheap_calls.append((program, cut))
        return None if cut is not None and program > cut else program

    def full(self, program: float) -> Evaluation:
        with self.lock:
            self.full_calls.append(program)
        return Evaluation(metric=program, metadata={"own": 1})


@pytest.fixture
def toy() -> Toy:
    return Toy()


def cascade(toy: Toy, journal: Journal, events: list, **options) -> Cascade[float]:
    return Cascade(toy, journal, events.extend, **{"top_k": 2, "slack": 2, **options})


def nodes(*codes: str, operator: str = "mutate", start: int = 0) -> list[Node]:
    return [Node(id=f"n{start + i}", code=code, operator=operator) for i, code in enumerate(codes)]


def commit(journal: Journal, given: Sequence[Node], verdicts: Sequence[Evaluation]) -> None:
    for node, verdict in zip(given, verdicts, strict=True):
        journal.append(
            node.model_copy(
                update={
                    "metric_value": verdict.metric,
                    "behaviour": verdict.behaviour,
                    "cheap_score": verdict.cheap_score,
                }
            )
        )


def test_each_rung_stops_what_it_should(toy):
    events: list = []
    verdicts = cascade(toy, Journal(lower_is_better=True), events).evaluate(nodes("31", "bad", "11", "22", "13", "4"))
    assert [v.metric for v in verdicts] == [None, None, None, None, 13, 4]
    assert verdicts[1].failure is FailureKind.RUNTIME
    assert verdicts[2].duplicate_of is None and "decides as n0 does" in verdicts[2].message
    assert "look" not in verdicts[2].message and "probe" not in verdicts[2].message, "the terminal says it as the page"
    assert [v.rung for v in verdicts] == ["cheap", None, "behaviour", "cheap", "full", "full"]
    assert sorted(toy.full_calls) == [4, 13]
    assert events[0].counts == {"behaviour": 1, "cheap": 2, "full": 2}
    assert (verdicts[4].behaviour, verdicts[4].cheap_score, verdicts[4].metadata) == ("3", 13.0, {"own": 1})


def test_behaviours_and_cuts_are_learned_from_the_journal(toy):
    journal, events = Journal(lower_is_better=True), []
    given = nodes("1", "2", "3", "4", "5")
    commit(journal, given, cascade(toy, journal, events).evaluate(given))
    toy.cheap_calls.clear()
    fresh = cascade(toy, journal, events)
    verdicts = fresh.evaluate(nodes("11", "6", "3.7", "8", start=10))
    assert (verdicts[0].rung, verdicts[0].duplicate_of) == ("behaviour", None)
    assert {cut for _, cut in toy.cheap_calls} == {4.0}, "slack × top_k = 4th best cheap score so far"
    assert [v.metric for v in verdicts] == [None, None, 3.7, None]
    assert (verdicts[1].rung, verdicts[1].behaviour, verdicts[1].cheap_score) == ("cheap", "6", None)


def test_what_decides_alike_on_the_probe_is_scored_where_there_is_room(toy):
    journal = Journal(lower_is_better=True)
    given = nodes("21")
    commit(journal, given, cascade(toy, journal, []).evaluate(given))
    (better,) = cascade(toy, journal, []).evaluate(nodes("11", start=1))
    assert (better.metric, better.rung) == (11, "full"), "equal on the probe, better beyond it"
    verdicts = cascade(toy, journal, []).evaluate(nodes("1", "32", "43", start=2))
    assert [v.metric for v in verdicts] == [None, 32, 43], "what decides as nothing else does goes first"


@pytest.mark.parametrize("operator", ["baseline", "user", "tune"])
def test_founders_skip_the_rungs(toy, operator):
    verdicts = cascade(toy, Journal(lower_is_better=True), []).evaluate(nodes("1", "11", "2", "3", operator=operator))
    assert [v.metric for v in verdicts] == [1, 11, 2, 3]
    assert toy.cheap_calls == []


def test_unknown_behaviour_is_never_a_duplicate(toy):
    class Blank(Toy):
        def load(self, nodes):
            return [Loaded(float(node.code), "") for node in nodes]

    verdicts = cascade(Blank(), Journal(lower_is_better=True), []).evaluate(nodes("1", "1"))
    assert [v.metric for v in verdicts] == [1, 1]


def test_same_verdicts_for_any_number_of_threads(toy):
    codes = [str(7 * i % 53) for i in range(20)]
    one = cascade(toy, Journal(lower_is_better=True), []).evaluate(nodes(*codes))
    four = cascade(Toy(), Journal(lower_is_better=True), [], threads=4).evaluate(nodes(*codes))
    assert one == four


def test_an_empty_round_is_nothing(toy):
    events: list = []
    assert cascade(toy, Journal(lower_is_better=True), events).evaluate([]) == []
    assert events == []


def test_a_look_under_way_is_not_waited_for_when_the_user_stops_at_once(toy):
    begun, release = threading.Event(), threading.Event()

    def slow(program: float, cut: float | None) -> float | None:
        if program == 1.0:
            begun.wait(60)
            raise KeyboardInterrupt
        begun.set()
        release.wait(60)
        return program

    toy.cheap = slow
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        cascade(toy, Journal(lower_is_better=True), [], threads=2).evaluate(nodes("1", "2"))
    assert time.monotonic() - began < 40
    release.set()
