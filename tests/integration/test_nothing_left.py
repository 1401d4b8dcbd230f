"""A writer says that nothing is left to gain: by every door the same, no failure, and enough of it ends the search."""

from __future__ import annotations

import sys

import pytest
from support.chat_server import ChatServer
from support.command_line import PLUGINS
from support.mcp_client import McpClient

import swarm_evo
from core.storage.reader import RunReader
from reports.conclusion import why_ended

BEST = "x = 2.0\n# of what the writer outside thinks about the number above\n"
WHY = "no number is nearer to two than two"
SAID = f"its writer says that nothing is left to gain: {WHY}"


def test_a_model_that_says_so_ends_the_search_and_is_not_asked_the_same_for_ever(cli, toy):
    def answer(request, number):
        return f"A guess.\n```python\n{BEST}```\n" if number == 1 else f"I looked.\n\n**NOTHING LEFT:** {WHY}"

    with ChatServer(answer) as server:
        ended = cli.here(*toy(40), *server.words(), "search.batch=1", "search.workers=1", "agent.review=never")
        assert ended.code == 0, ended.err
        assert len(server.requests) <= 8, "three answers in a row, and what the pipeline had asked by then"
        later = server.requests[-1]["messages"]
    assert "ended: budget.nothing_left: the writers of the last" in ended.out
    assert f"no program: {SAID}" in ended.out and "failed (" not in ended.out
    assert "says that nothing is left to gain" in later[-1]["content"], "who writes next is told"
    assert any("`NOTHING LEFT: `" in message["content"] for message in later)
    told = [node for node in cli.show()["nodes"] if node["nothing_left"]]
    assert len(told) >= 3 and not any(node["failure"] or node["duplicate_of"] for node in told)
    one = cli.here("show", "latest", told[0]["node_id"], "--json").json
    assert (one["is_valid"], one["message"], one["plan"], one["code"]) == (False, SAID, WHY, "")
    assert "nothing left" in cli.here("show", "latest").out.partition("operator")[2]
    assert f"{len(told)} without a program, since nothing is left to gain" in cli.show()["effort"]
    assert cli.here("replay", "latest", "--verify").code == 0
    again = cli.here("resume", "latest")
    assert again.code == 0 and "has ended already (budget.nothing_left" in again.out + again.err


def test_before_the_first_score_it_says_nothing(cli, toy):
    with ChatServer(lambda request, number: f"NOTHING LEFT: {WHY}") as server:
        ended = cli.here(*toy(5), *server.words(), "agent.review=never")
    assert ended.code == 3 and "max_steps: 5 of 5 steps" in ended.out


def test_the_doors_for_writers_outside(cli, tmp_path):
    (cli.folder / "toy.yaml").write_text(f"problem: {{kind: toy, plugins: '{PLUGINS}'}}\n")
    place = {"project_dir": cli.folder, "logging__report": False}
    with swarm_evo.open(str(cli.folder / "toy.yaml"), budget={"steps": 9}, idle=30, **place) as run:
        assert run.tell(run.ask(), code=BEST)["metric"] == 0.0
        ticket = run.ask()
        for wrong in ({"nothing_left": WHY, "code": BEST}, {"nothing_left": 3}):
            with pytest.raises(swarm_evo.SearchError, match="nothing_left="):
                run.tell(ticket, **wrong)
        assert run.tell(ticket, nothing_left=" ")["state"] == "refused"
        verdict = run.tell(ticket, nothing_left=WHY)
        assert (verdict["state"], verdict["failure"], verdict["metric"]) == ("committed", None, None)
        assert verdict["message"] == SAID
        assert run.tell(ticket, nothing_left=WHY)["node_id"] == verdict["node_id"]
        assert run.tell(run.ask(), code=f"NOTHING LEFT: {WHY}")["message"] == SAID, "what a model replied, as it is"
        assert run.tell(run.ask(), code=BEST.replace("2.0", "1.0"))["metric"] == 1.0, "and what comes next counts anew"
        task = tmp_path / "work" / "TASK.md"
        asked = cli.here("ask", run.name, "--dir", str(task.parent), "--json").json
        assert "--nothing-left" in task.read_text() and "NOTHING LEFT" not in task.read_text()
        told = cli.here("tell", run.name, asked["ticket"], "--nothing-left", WHY)
        assert told.code == 0 and f"message: {SAID}" in told.out
        both = cli.here("tell", run.name, asked["ticket"], "--nothing-left", WHY, "--file", str(task))
        assert both.code == 2 and "--nothing-left" in both.err
        with McpClient(cli.folder) as client:
            second = client.call("ask", wait_s=10)
            assert "`nothing_left`" in second["prompt"]["system"] and "NOTHING LEFT" not in second["prompt"]["system"]
            assert client.call("tell", ticket=second["ticket"], nothing_left=WHY, wait_s=15)["message"] == SAID
            last = client.call("ask", wait_s=10)
            client.call("tell", ticket=last["ticket"], nothing_left=WHY, wait_s=15)
            assert client.call("ask", wait_s=10)["over"] is True
    with RunReader(run.folder) as reader:
        assert why_ended(reader).startswith("budget.nothing_left: the writers of the last 3 steps")


def test_a_coding_agent_says_so_in_its_last_line(cli, toy):
    agent = cli.folder / "agent.py"
    agent.write_text(f"""
import pathlib
assert "end with one line `NOTHING LEFT: why`" in " ".join(pathlib.Path("TASK.md").read_text().split())
if pathlib.Path("program.py").read_text().strip():
    print("I looked.\\n**NOTHING LEFT:** {WHY}")
else:
    pathlib.Path("program.py").write_text({BEST!r})
    print("PLAN: two")
""")
    command = [f"llm.code.command={sys.executable} {agent}", "llm.code.provider=agent", "llm.code.network=open"]
    fixed = ["llm.feedback.provider=rules", "llm.feedback.model=rules", "search.batch=1", "budget.usd=null"]
    ended = cli.here(*toy(20), *command, *fixed)
    assert ended.code == 0 and "budget.nothing_left" in ended.out, ended.out + ended.err
    assert f"no program: {SAID}" in ended.out
