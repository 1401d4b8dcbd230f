"""What prompts tell of the run: each round what held when it was proposed."""

from __future__ import annotations

from core.loop.attempt import RunContext
from runs.parts.context_history import as_recorded, with_earlier


def told(statement: str, **more) -> RunContext:
    return RunContext(statement=statement, **more)


def test_a_round_keeps_what_it_was_told():
    _, first = with_earlier(told("old", extras={"seen": (1, 2)}), [], 0)
    context, second = with_earlier(told("new"), first, 4)
    assert [(entry["round"], entry["statement"]) for entry in second] == [(0, "old"), (4, "new")]
    assert [context.as_of(number).statement for number in (0, 3, 4, 9)] == ["old", "old", "new", "new"]
    assert context.as_of(2).extras == {"seen": [1, 2]} and context.as_of(4).extras == {}


def test_a_round_keeps_how_many_wrote_at_once():
    _, first = with_earlier(told("same", writers=1), [], 0)
    context, _ = with_earlier(told("same", writers=8), first, 4)
    assert [context.as_of(number).writers for number in (3, 4)] == [1, 8]
    of_before = [{name: value for name, value in first[0].items() if name != "writers"}]
    context, _ = with_earlier(told("same", writers=8), of_before, 4)
    assert context.as_of(3).writers == 8, "older versions did not say"


def test_nothing_is_noted_where_nothing_changed():
    _, first = with_earlier(told("same", time_limit=3.0), [], 0)
    context, second = with_earlier(told("same", time_limit=3.0), first, 7)
    assert second == first and context.earlier == ()


def test_a_resume_that_proposed_nothing_told_nobody():
    _, first = with_earlier(told("old"), [], 0)
    _, second = with_earlier(told("between"), first, 4)
    context, third = with_earlier(told("new"), second, 4)
    assert len(third) == 3 and context.as_of(3).statement == "old" and context.as_of(4).statement == "new"


def test_a_replay_tells_what_the_record_told():
    _, first = with_earlier(told("old"), [], 0)
    _, both = with_earlier(told("new"), first, 4)
    context = as_recorded(told("of today"), both)
    assert [context.as_of(number).statement for number in (0, 3, 4, 99)] == ["old", "old", "new", "new"]
