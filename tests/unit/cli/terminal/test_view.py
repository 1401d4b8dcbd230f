"""Plain lines: what is worth reading, and not more than can be read."""

from __future__ import annotations

import io

import pytest

from cli.terminal.view import CROWDED, MOMENT_SECONDS, SILENCE_SECONDS, PlainView, QuietView, open_view
from core.contracts import Progress
from core.events import BaselineScored, GenerationFinished, LLMCalled, NodeProposed, Warned
from core.state.failure import FailureKind
from reports.conclusion import Conclusion
from reports.verdict import Verdict
from runs.ending.outcome import Outcome


class Clock:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture
def view(facts_of):
    """(view, its lines so far, its clock) of a run that has begun."""
    stream, clock = io.StringIO(), Clock()
    plain = PlainView(stream, clock)
    plain.start(facts_of(), lambda: Progress(steps=3))

    def lines():
        said = stream.getvalue().splitlines()
        stream.seek(0)
        stream.truncate()
        return said

    yield plain, lines, clock
    plain.close()


def test_nothing_is_silent_for_more_than_ten_seconds(view):
    plain, lines, clock = view
    lines()
    plain.emit(NodeProposed(node_id="ab12cd34", round=0, slot=0, operator="improve"))
    clock.now += SILENCE_SECONDS - 0.1
    plain.beat()
    assert lines() == []
    clock.now += 0.2
    plain.beat()
    (line,) = lines()
    assert line.startswith("… ") and "ab12cd improve is written by rules, 10 s" in line
    plain.beat()
    assert lines() == [], "once in ten seconds"
    plain.doing("the winner is scored")
    assert lines() == []
    clock.now += SILENCE_SECONDS
    plain.beat()
    assert lines() == ["… the winner is scored, 10 s"]


def test_what_goes_on_besides_the_search_is_told_with_how_far_it_is(view):
    """Before the search, after it, and while programs compute at import: nobody waits in silence."""
    plain, lines, clock = view
    lines()
    plain.doing("final part: programs scored: 0 of 3")
    plain.beat()
    assert lines() == [], "a moment is nothing to tell"
    clock.now += MOMENT_SECONDS
    plain.beat()
    assert lines() == ["… final part: programs scored: 0 of 3, 2 s"]
    clock.now += MOMENT_SECONDS
    plain.beat()
    assert lines() == [], "nothing new"
    plain.doing("final part: programs scored: 1 of 3")
    plain.beat()
    assert lines() == ["… final part: programs scored: 1 of 3, 4 s"]
    clock.now += SILENCE_SECONDS
    plain.beat()
    assert lines() == ["… final part: programs scored: 1 of 3, 14 s"], "it still goes on"
    plain.doing("plots are drawn")
    clock.now += MOMENT_SECONDS
    plain.beat()
    assert lines() == ["… plots are drawn, 2 s"], "another matter has a time of its own"
    plain.doing("")
    clock.now += MOMENT_SECONDS
    plain.beat()
    assert lines() == []


def test_a_problem_that_takes_long_to_make_ready_is_told_before_the_run_begins():
    stream, clock = io.StringIO(), Clock()
    plain = PlainView(stream, clock)
    plain.doing("the data are made ready")
    clock.now += SILENCE_SECONDS
    plain.beat()
    plain.doing("")
    clock.now += SILENCE_SECONDS
    plain.beat()
    plain.close()
    assert stream.getvalue() == "… the data are made ready, 10 s\n", "`step` says itself what it does"


def test_a_run_begins_with_what_it_will_do(view):
    _, lines, _ = view
    banner = "\n".join(lines())
    for word in ("run toy-1: toy, distance (lower is better)", "not a language model", "30 steps", "sandbox: warm"):
        assert word in banner


def test_events_are_lines_and_numbers_go_on(view, committed):
    plain, lines, _ = view
    lines()
    plain.emit(committed(7, metric=2.5, best_metric=2.5, is_best=True))
    plain.emit(BaselineScored(name="zero", node_id="b", metric=2.0))
    plain.emit(Warned(text="the model waits"))
    plain.emit(LLMCalled(call_id=1, role="code", provider="openai", model="m"))
    assert lines() == [
        "step 4/30  000000 draft: 2.5 *best candidate*  best 2.5",
        "baseline zero: 2",
        "warning: the model waits",
    ]


def test_fast_steps_are_told_once_a_second_and_what_was_left_out_is_counted(view, committed):
    plain, lines, clock = view
    lines()
    for step in range(CROWDED + 1, CROWDED + 6):
        plain.emit(committed(step, metric=9.0))
        clock.now += 0.1
    assert len(lines()) == 1
    plain.emit(committed(CROWDED + 6, metric=1.0, is_best=True))
    (said,) = lines()
    assert said.startswith("step 9/30  ") and said.endswith("(+4 not shown)"), "a new best is never left out"
    clock.now += 1.0
    plain.emit(committed(CROWDED + 7, metric=9.0))
    assert "not shown" not in lines()[0]


def test_what_was_held_back_is_told_at_the_end_and_a_failure_at_once(view, committed):
    plain, lines, _ = view
    plain.emit(committed(CROWDED + 1, metric=9.0))
    lines()
    plain.emit(committed(CROWDED + 2, metric=9.0))
    plain.emit(committed(CROWDED + 3, failure=FailureKind.RUNTIME, message="ZeroDivisionError"))
    (failed,) = lines()
    assert failed.startswith("step 6/30") and "ZeroDivisionError" in failed and failed.endswith("(+1 not shown)")
    for step in range(CROWDED + 4, CROWDED + 8):
        plain.emit(committed(step, metric=9.0))
    assert lines() == []
    plain.doing("the winner is scored")
    (held,) = lines()
    assert held.startswith("… step 7 to 10: 4 scored")
    plain.emit(committed(CROWDED + 8, metric=9.0))
    plain.interrupted()
    held, _ = lines()
    assert held.startswith("… step 11: 1 scored")


def test_the_first_steps_are_all_told(view, committed):
    plain, lines, _ = view
    lines()
    for step in range(CROWDED + 1):
        plain.emit(committed(step, metric=9.0))
    assert len(lines()) == CROWDED + 1


def test_a_view_that_was_not_started_tells_warnings_alone(committed):
    """`step` says itself what it does."""
    stream = io.StringIO()
    plain = PlainView(stream)
    plain.emit(committed(1, metric=1.0))
    plain.emit(Warned(text="no store"))
    plain.interrupted()
    assert stream.getvalue() == "warning: no store\n"


def test_the_end_says_how_to_go_on(view, facts_of):
    plain, lines, _ = view
    lines()
    verdict = Verdict(kind="none", text="No valid program found in 3 steps.")
    conclusion = Conclusion(winner=None, best_on_validation=None, verdict=verdict)
    plain.conclude(Outcome(facts_of(), "max_steps: 3 of 3 steps", None, conclusion))
    said = "\n".join(lines())
    assert "ended: max_steps" in said and "verdict: No valid program found in 3 steps." in said
    plain.interrupted()
    (line,) = lines()
    assert line.startswith("interrupted, everything is saved; no score yet. Go on with: python main.py resume toy-1 --")


def test_an_interrupted_run_says_the_best_so_far(view, committed):
    plain, lines, _ = view
    plain.emit(committed(7, metric=2.5, best_metric=2.5, is_best=True))
    plain.emit(BaselineScored(name="zero", node_id="b", metric=2.0))
    lines()
    plain.interrupted()
    (line,) = lines()
    assert "best 2 by the baseline zero, 2.5 by the search. Go on with: python main.py resume toy-1" in line


def test_plain_lines_tell_who_won_a_tournament_and_an_interrupted_arena_its_champion(facts_of, monkeypatch):
    """Lines for a file or a pipe never named a champion, and such a run ended with "no score yet"."""
    facts, stream = facts_of(), io.StringIO()
    monkeypatch.setattr(facts.problem, "family", "arena", raising=False)
    plain = PlainView(stream, Clock())
    plain.start(facts, Progress)
    plain.emit(
        GenerationFinished(generation=2, ratings=[{"node_id": "b", "name": "deep", "elo": 389.2}], promoted=["b"])
    )
    plain.interrupted()
    plain.close()
    told, ended = stream.getvalue().splitlines()[-2:]
    assert told == "generation 2: champion deep, 389.2 Elo"
    assert "everything is saved; champion deep, 389.2 Elo. Go on with:" in ended


@pytest.mark.parametrize(("kind", "made"), [("quiet", QuietView), ("plain", PlainView), ("auto", PlainView)])
def test_a_kind_of_view_is_opened_by_name(kind, made):
    assert type(open_view(kind)) is made


def test_views_answer_the_first_interrupt(capfd):
    for over, told in [(False, "what runs is finished, nothing more is begun"), (True, "the search is over, and its")]:
        for kind in ("quiet", "plain", "live"):
            open_view(kind).finishing(over)
        assert capfd.readouterr().err.count(told) == 3
