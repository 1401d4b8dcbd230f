from __future__ import annotations

import json

import pytest

from agents.builder_agent import BuilderAgent, question_of
from core.state.failure import FailureKind
from core.state.findings import TournamentResult
from core.state.node import Node

QUESTIONS = [{"category": "book", "question": "Open better?"}, {"category": "search", "question": "See further?"}]
CHAMPION = Node(id="champ", code="A = 1\nengine = object()\n" * 10, metric_value=12.0)
RUNNER_UP = Node(id="second", code="B = 2\nengine = object()\n", metric_value=3.0)
ENGINE = """\
class E:
    name = 'new'
    def select_move(self, position, time_left_ms):
        return '4'

engine = E()
"""
REPLY = f"Look deeper.\n\n```python\n{ENGINE}```\n"


def begun(context, replies=(REPLY,), **fields):
    usual = {
        "parents": (CHAMPION, RUNNER_UP),
        "generation": 4,
        "shared": {"questions": QUESTIONS},
        "lower_is_better": False,
    }
    return context(list(replies), "build", **{**usual, **fields})


def test_begin_round_has_the_strategist_ask_and_tells_it(context):
    agent = BuilderAgent(questions=2)
    shared = agent.begin_round(begun(context, [json.dumps({"questions": QUESTIONS})], shared={}))
    assert shared == {"questions": QUESTIONS}
    events = agent.drain_events()
    assert [event.type for event in events] == ["generation.started", "strategist.question", "strategist.question"]
    assert (events[0].generation, events[0].champion, events[0].runner_up) == (4, "champ", "second")
    assert [(event.index, event.category) for event in events[1:]] == [(0, "book"), (1, "search")]
    assert agent.drain_events() == []


def test_a_builder_sees_the_whole_champion_the_runner_up_and_its_own_question(context):
    prompt = BuilderAgent().prompt(begun(context, extras={"signature": "select_move(position, time_left_ms)"}))
    assert CHAMPION.code.strip() in prompt.user and RUNNER_UP.code.strip() in prompt.user
    assert "See further?" in prompt.user and "Open better?" not in prompt.user  # the context's task has slot 1
    assert "select_move(position, time_left_ms)" in prompt.system
    assert "whole engine in exactly one fenced code block" in prompt.system and "SECTION" not in prompt.system
    assert prompt.context["question"] == QUESTIONS[1] and prompt.context["role"] == "builder"
    assert (prompt.context["generation"], prompt.context["slot"]) == (4, 1)


def test_it_reads_the_last_tournament_with_its_noise_and_games_and_a_repair_does_not(context):
    row = {"node_id": "champ", "name": "c", "wins": 8, "draws": 1, "losses": 3, "elo": 80.5, "low": -9.6, "high": 171.2}
    other = {**row, "node_id": "b", "name": "b", "wins": 0, "elo": None, "low": None, "high": None}
    met = {"a": "champ", "b": "b", "wins": 8, "draws": 1, "losses": 3}
    game = "c (moving first) lost to b, four_in_a_row\n1.4{+0.12/8} 4"
    told = TournamentResult(standings=[row, other], crosstable=[met], games=(game,), times=("c: in the mean",))
    user = BuilderAgent().prompt(begun(context, tournament=told)).user
    assert "c: 8 won, 1 drawn, 3 lost, Elo 80.5 (95 % -10 to 171); against 8-1-3 b\n" in user
    assert "no Elo; against 3-1-8 c\n" in user and game in user and "c: in the mean" in user
    assert game not in BuilderAgent().prompt(begun(context, tournament=told, refusal="illegal_move")).user


def test_in_a_repair_round_it_sees_why_it_was_refused(context):
    refused = CHAMPION.model_copy(update={"id": "bad", "failure": FailureKind.ILLEGAL_MOVE, "is_buggy": True})
    prompt = BuilderAgent().prompt(begun(context, parents=(refused,), refusal="illegal_move at move 3: '9'"))
    assert "illegal_move at move 3: '9'" in prompt.user and "See further?" in prompt.user
    assert prompt.context["refusal"].startswith("illegal_move")


def test_the_engine_becomes_a_node_with_its_category(context):
    agent = BuilderAgent()
    result = agent.generate(begun(context))
    assert result.success and result.node.code == ENGINE and result.node.plan == "Look deeper."
    assert result.node.metadata["category"] == "search" and result.node.parent_ids == ("champ", "second")
    (event,) = agent.drain_events()
    assert (event.type, event.node_id, event.generation, event.name) == ("builder.completed", "abc123", 4, "new")


@pytest.mark.parametrize("reply", ["I cannot.", "```python\ndef (\n```"])
def test_a_reply_without_an_engine_is_no_hand_in(context, reply):
    agent = BuilderAgent(repairs=0)
    result = agent.generate(begun(context, [reply]))
    assert not result.success and result.failure in (FailureKind.NO_CODE, FailureKind.SYNTAX, FailureKind.REPLY_ERROR)
    assert agent.drain_events() == []


@pytest.mark.parametrize("shared", [{}, {"questions": []}, {"questions": "x"}, {"questions": [3]}])
def test_without_a_question_it_still_builds(context, shared):
    made = begun(context, shared=shared)
    assert question_of(made) == {} and "Your question" not in BuilderAgent().prompt(made).user
    assert BuilderAgent().generate(begun(context, shared=shared)).success
