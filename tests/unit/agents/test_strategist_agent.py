from __future__ import annotations

import json

import pytest

from agents.strategist_agent import FIRST_ATTEMPT, StrategistAgent, read_questions
from core.state.findings import TournamentResult
from core.state.node import Node
from utils.errors import ReplyError

GOOD = {"questions": [{"category": "Search", "question": "Deeper?"}, {"category": "weird", "question": " Wider? "}]}
ROW = {"name": "g1.0", "wins": 5, "draws": 1, "losses": 2, "elo": 80.5}
WON = TournamentResult(standings=[{**ROW, "wins": 8, "losses": 0}])
CHAMPION = Node(id="champ", code="CHAMPION = 'whole file'\n", metric_value=80.5, tournament=WON)
NEWEST = TournamentResult(standings=[ROW])


def test_questions_are_read_and_categories_kept_to_the_known_ones():
    expected = [{"category": "search", "question": "Deeper?"}, {"category": "search", "question": "Wider?"}]
    assert read_questions(json.dumps(GOOD), 2) == expected
    assert read_questions(f"Sure!\n```json\n{json.dumps(GOOD)}\n```", 1) == expected[:1]


@pytest.mark.parametrize(
    "reply", ["", "no idea", "[]", '{"questions": 3}', '{"questions": [{"question": ""}, 7, null]}']
)
def test_a_reply_without_questions_is_an_error(reply):
    with pytest.raises(ReplyError, match="2 questions, found 0"):
        read_questions(reply, 2)


def test_it_asks_once_and_shows_the_champion_and_its_results(context):
    made = context([json.dumps(GOOD)], "build", parents=(CHAMPION,), lower_is_better=False, tournament=NEWEST)
    assert len(StrategistAgent(questions=2).ask(made)) == 2
    (call,) = made.query.calls
    assert (
        call["attempt"] == FIRST_ATTEMPT and call["context"]["role"] == "strategist" and call["context"]["count"] == 2
    )
    assert "CHAMPION = 'whole file'" in call["user"] and "g1.0: 5 won, 1 drawn, 2 lost, Elo 80.5" in call["user"]


def test_an_unreadable_reply_goes_back_with_the_reason_under_a_number_of_its_own(context):
    made = context(["prose", ReplyError("cut off"), json.dumps(GOOD)], "build", parents=(CHAMPION,))
    assert StrategistAgent(questions=2).ask(made)[0]["question"] == "Deeper?"
    assert [call["attempt"] for call in made.query.calls] == [FIRST_ATTEMPT, FIRST_ATTEMPT + 1, FIRST_ATTEMPT + 2]
    assert "found 0" in made.query.calls[1]["user"] and "prose" in made.query.calls[1]["user"]
    assert "cut off" in made.query.calls[2]["user"]


def test_after_the_last_repair_the_standard_questions_are_asked(context):
    made = context(["no"] * 3, "build", parents=(CHAMPION,))
    questions = StrategistAgent(questions=5, repairs=2).ask(made)
    assert [q["category"] for q in questions] == ["search", "evaluation", "book", "time", "search"]
    assert all(q["question"] for q in questions)


def test_braces_and_dollars_in_a_program_are_no_template(context):
    champion = CHAMPION.model_copy(update={"code": "X = '${task} {x} $y'\n"})
    made = context([json.dumps(GOOD)], "build", parents=(champion,))
    StrategistAgent().ask(made)
    assert "${task} {x} $y" in made.query.calls[0]["user"]


def test_only_what_can_matter_is_asked_for(context):
    """Prepared moves and thrift with time were named where random openings and a limit of nodes make them worthless."""
    asks = {"questions": [{"category": "book", "question": "Prepare?"}, {"category": "search", "question": "Deeper?"}]}
    told = {"extras": {"categories": ["search", "evaluation"]}, "parents": (CHAMPION,)}
    made = context([json.dumps(asks)], "build", **told)
    assert [q["category"] for q in StrategistAgent(questions=2).ask(made)] == ["search", "search"]
    (call,) = made.query.calls
    assert "Categories: search, evaluation." in call["system"]
    standard = StrategistAgent(questions=3).standard(context([], "build", **told))
    assert [q["category"] for q in standard] == ["search", "evaluation", "search"]
    outside = context([json.dumps(asks)], "build", **told)
    StrategistAgent(questions=2, by_tool=True).ask(outside)
    assert '"enum": ["search", "evaluation"]' in json.dumps(outside.query.calls[0]["tools"])


def test_it_says_how_many_generations_are_left(context):
    made = context([json.dumps(GOOD)], "build", parents=(CHAMPION,), steps_left=None, generations_left=2)
    StrategistAgent(questions=2).ask(made)
    assert "Generations left, this one included: 2." in made.query.calls[0]["user"]
