"""Control draws beside a search: every surface says what the search added, a resume goes on with the same ones."""

from __future__ import annotations

import pytest
from support.chat_server import ChatServer


def _written(request, number):
    return f"A number.\n\n```python\nx = {number % 7}.{number % 10}\n```\n"


@pytest.mark.long
def test_every_surface_says_what_the_search_added(cli, toy):
    ended = cli.here(*toy(40), "search.control=0.3", "logging.report=true")
    assert ended.code == 0, ended.err
    shown = cli.show()
    steps = [node for node in shown["nodes"] if node["operator"] != "baseline"]
    draws = [node for node in steps if node["operator"] == "control"]
    told = shown["control"]
    assert len(draws) == told["draws"] == 12 and all(not node["parent_ids"] for node in draws)
    assert told["scored"] >= 5 and told["interval"][0] < told["gain"] < told["interval"][1]
    assert told["text"] in ended.out and "independent draws by the same writer" in told["text"]
    report = next(cli.folder.glob("logs/*/report.html")).read_text()
    assert "independent draws by the same writer" in report


def test_without_draws_it_says_so(cli, toy):
    assert cli.here(*toy(4)).code == 0
    assert cli.show()["control"]["text"].startswith("No control") and cli.show()["control"]["gain"] is None


def test_a_model_with_steps_enough_gets_draws_that_know_nothing_of_the_search(cli, toy):
    with ChatServer(_written) as server:
        assert cli.here(*toy(30), *server.words(), "llm.cache=false").code == 0
        users = [request["messages"][-1]["content"] for request in server.requests]
    draws = [text for text in users if "Write the best program that you can" in text]
    assert len(draws) == 3 and len(set(draws)) == 1, "independent draws are asked the same"
    assert "tried so far" not in draws[0] and "Steps left" not in draws[0]
    assert cli.show()["config"]["search"]["control"] == 0.1, "stored, so that a resume keeps it"


@pytest.mark.long
def test_cut_off_and_resumed_it_draws_the_same(cli, cli_at, toy):
    words = ["search.control=0.25", "search.batch=3"]
    assert cli.here(*toy(16), *words).code == 0
    other = cli_at("other")
    assert other.here(*toy(7), *words).code == 0
    assert other.here("resume", "latest", "search.max_steps=16").code == 0
    operators = [[node["operator"] for node in runner.show()["nodes"]] for runner in (cli, other)]
    drawn = [[name == "control" for name in names] for names in operators]
    assert drawn[0] == drawn[1] and sum(drawn[0]) == 4


def test_whole_rounds_have_no_room_for_draws(cli):
    ended = cli.here("--problem=connect_four", "--llm=rules", "search.control=0.1", "search.max_generations=1")
    assert ended.code == 2 and "search.control=0.1" in ended.line
