"""A model is asked for ideas in whole runs: what it costs is counted, what it says is used, a replay repeats it."""

from __future__ import annotations

import json
import re

import pytest
from support.chat_server import ChatServer

from core.storage.reader import RunReader

ROW = ["search.batch=4", "search.lag=8", "agent.review=never", "llm.cache=false"]


def is_for_ideas(request):
    return "Write no program now" in request["messages"][-1]["content"]


def answer(request, number):
    """Ideas that name how much the model was shown; programs that follow from the idea alone."""
    text = request["messages"][-1]["content"]
    if is_for_ideas(request):
        return json.dumps({"ideas": [f"try x = {place + len(text) % 97}" for place in range(4)]})
    found = re.search(r"^try x = (\d+)$", text, re.MULTILINE)
    return f"I do as told.\n```python\nx = {found[1] if found else len(text) % 89}.5\n```\n"


@pytest.mark.long
def test_a_run_with_ideas_is_billed_repeated_and_the_same_with_more_workers(cli_at, toy):
    found = []
    for workers in (1, 4):
        with ChatServer(answer) as server:
            cli = cli_at(str(workers))
            ended = cli.here(*toy(12), *server.words(), *ROW, f"search.workers={workers}")
        assert ended.code == 0, ended.err
        assert "12 steps, some 15 calls" in ended.out + ended.err
        asked = [request for request in server.requests if is_for_ideas(request)]
        assert len(asked) == 3 and len(server.requests) == 15
        shown = cli.show()
        assert shown["cost_usd"] == pytest.approx(15 * (100 * 1 + 10 * 2) / 1e6)
        assert sum(node["operator"] != "baseline" for node in shown["nodes"]) == 12
        found.append(shown)
        verified = cli.here("replay", "latest", "--verify")
        assert verified.code == 0, verified.out + verified.err
        with RunReader(cli.run_dir) as reader:
            calls = reader.calls()
        assert [call.role for call in calls].count("ideas") == 3
        ideas = [re.findall(r"^try x = \d+$", call.user, re.MULTILINE) for call in calls if call.role == "code"]
        assert sum(map(bool, ideas)) == 12 and all(len(given) <= 1 for given in ideas)
    assert found[0]["journal_sha256"] == found[1]["journal_sha256"]


@pytest.mark.parametrize("more", [["agent.ideas=never"], ["search.batch=3"], ["llm.code.provider=rules"]])
def test_who_is_not_asked(cli, toy, more):
    with ChatServer(answer) as server:
        words = [*server.words(), *ROW, *more]
        if more == ["llm.code.provider=rules"]:
            words = [word for word in words if not word.startswith("llm.code.")] + more
        ended = cli.here(*toy(8), *words)
    assert ended.code == 0, ended.err
    assert not any(map(is_for_ideas, server.requests))


def test_garbage_for_ideas_costs_one_call_a_row_and_nothing_else(cli, toy):
    with ChatServer(lambda request, number: f"```python\nx = {number}.25\n```") as server:
        ended = cli.here(*toy(8), *server.words(), *ROW)
    assert ended.code == 0, ended.err
    assert sum(map(is_for_ideas, server.requests)) == 2 and len(server.requests) == 10
    texts = [request["messages"][-1]["content"] for request in server.requests if not is_for_ideas(request)]
    assert len(set(texts)) == 8 and all("Yours is " in text for text in texts)
