"""The search as tools of a coding agent: the whole way, kills, wrong calls, and the official client in both ages."""

from __future__ import annotations

import asyncio
import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from support.command_line import PLUGINS, ROOT, Cli
from support.mcp_client import McpClient

from core.storage.held import is_held
from core.storage.reader import RunReader
from runs.mcp.tools import ROLES

PROGRAM = "x = {x}\n# of what the writer outside thinks about the number above\n"


def toy_yaml(folder: Path) -> str:
    (folder / "toy.yaml").write_text(f"problem: {{kind: toy, plugins: '{PLUGINS}'}}\nlogging: {{report: false}}\n")
    return "toy.yaml"


def started(client: McpClient, folder: Path, steps: int) -> dict[str, Any]:
    planned = client.call("plan_run", problem=toy_yaml(folder), steps=steps)
    found = client.call("start_run", confirm=planned["confirm"])
    while found["state"] == "starting":
        found = client.call("start_run", confirm=planned["confirm"])
    return {**found, "confirm": planned["confirm"], "warnings": planned["warnings"]}


@pytest.fixture(autouse=True)
def nothing_left(tmp_path):
    yield
    for lock in tmp_path.glob("logs/*/run.lock"):
        if is_held(lock.parent):
            os.kill(int(lock.read_text()), signal.SIGTERM)


READS_THE_TEXT = """
def evaluate(path):
    scope = {}
    exec(open(path).read(), scope)
    return -abs(scope["x"]() - 2)
"""


@pytest.mark.long
def test_that_scores_are_no_proof_is_told_as_soon_as_it_is_known(tmp_path):
    (tmp_path / "mine.py").write_text("# EVOLVE-BLOCK-START\ndef x():\n    return 1.0\n# EVOLVE-BLOCK-END\n")
    (tmp_path / "judge.py").write_text(READS_THE_TEXT)
    with McpClient(tmp_path) as client:
        planned = client.call("plan_run", program="mine.py", evaluator="judge.py", steps=40)
        goal, direction = planned["warnings"]
        assert (
            goal == 'no prompt says what is rewarded (nor does a docstring of judge.py): goal="…" does, in a sentence'
        )
        assert direction == "direction: max (the score grows); say direction=min if less is better"
        found = client.call("start_run", confirm=planned["confirm"])
        while found["state"] == "starting":
            found = client.call("start_run", confirm=planned["confirm"])
        assert found["warnings"][0].startswith("scores are unisolated, a candidate could reach the evaluator: ")
        assert client.call("status")["warnings"] == found["warnings"]
        files = {"program.py": (tmp_path / "mine.py").read_text().replace("1.0", "1.5")}
        verdict = client.call("tell", ticket=client.call("ask")["ticket"], files=files)
        while verdict["state"] == "running":
            verdict = client.call("wait", ticket=verdict["ticket"])
        assert verdict["warnings"][0].startswith("the score is unisolated: ")


@pytest.mark.long
def test_the_whole_way_from_a_plan_to_the_best_program(tmp_path):
    with McpClient(tmp_path) as client:
        assert "plan_run" in client.about["instructions"]
        run = started(client, tmp_path, 2)
        assert run["warnings"] == ["the budget buys 2 proposals: too few to search; give it 30 or more"]
        assert run["next"] == "ask" and run["state"] == "started"
        assert client.call("start_run", confirm=run["confirm"])["run"] == run["run"], "no second one"
        first = client.call("ask")
        assert first["run"] == run["run"] and "Find x near 2" in first["prompt"]["user"] + first["prompt"]["system"]
        assert client.call("check", ticket=first["ticket"], files={"program.py": "x = ("})["next"] == "check"
        verdict = client.call("tell", ticket=first["ticket"], files={"program.py": PROGRAM.format(x=1.5)}, note="half")
        assert (verdict["metric"], verdict["next"]) == (0.5, "ask")
        folder = tmp_path / "work"
        second = client.call("ask", dir=str(folder))
        assert second["prompt"] == {} and "half" in (folder / "TASK.md").read_text(), "heavy text only on demand"
        (folder / "program.py").write_text(PROGRAM.format(x=1.75))
        (folder / "notes.txt").write_text("not part of the program")
        verdict = client.call("tell", ticket=second["ticket"], dir=str(folder))
        assert (verdict["metric"], verdict["improved"]) == (0.25, True)
        ended = client.call("ask")
        assert (ended["ticket"], ended["next"]) == (None, "export_best")
        assert client.call("wait")["status"] == "finished"
        best = client.call("top", k=1)["nodes"][0]
        assert best["metric"] == 0.25 and best["metric_source"] == "verified"
        assert client.call("node", node=best["node_id"], part="code")["text"] == PROGRAM.format(x=1.75)
        assert "+x = 1.75" in client.call("diff", node=best["node_id"])["text"]
        assert "rule" in client.call("why")["best"]
        assert [row["run"] for row in client.call("list_runs")["runs"]] == [run["run"]]
        exported = client.call("export_best", dir=str(tmp_path / "out"))
        assert (exported["metric"], exported["metric_source"], exported["remarks"]) == (0.25, "verified", [])
        assert (tmp_path / "out" / "solution.py").read_text() == PROGRAM.format(x=1.75)
        nothing = client.call("resume_run")
        assert (nothing["state"], nothing["next"]) == ("finished", "export_best") and "more than that" in nothing[
            "message"
        ]
        more = client.call("resume_run", steps=3)
        assert more["state"] == "running" and more["steps_left"] == 1
        assert "keeps its limits until stop_run" in client.call("resume_run", steps=9)["error"]
        assert client.call("note", text="closer to two")["state"] == "noted"
        third = client.call("ask")
        assert third["ticket"]
        stopped = client.call("stop_run")
        assert (stopped["state"], stopped["status"], stopped["next"]) == ("stopped", "interrupted", "export_best")


def test_no_prompt_holds_what_the_environment_does(tmp_path, monkeypatch):
    """`${env:NAME}` in a goal was resolved: whoever has tools only read any key of the user's in the next prompt."""
    monkeypatch.setenv("PLANTED", "sk-planted-0123456789")
    with McpClient(tmp_path) as client:
        goal = "as the variable ${env:PLANTED} says"
        planned = client.call("plan_run", problem=toy_yaml(tmp_path), steps=2, goal=goal)
        found = client.call("start_run", confirm=planned["confirm"])
        while found["state"] == "starting":
            found = client.call("start_run", confirm=planned["confirm"])
        ticket = client.call("ask")
        assert goal in ticket["prompt"]["system"] and "sk-planted" not in json.dumps(ticket)


@pytest.mark.long
def test_a_wrong_call_is_a_result_that_says_what_to_do(tmp_path):
    with McpClient(tmp_path) as client:
        wrong = {
            "plan_run": ({}, "say what is searched"),
            "start_run": ({"confirm": "../../etc"}, "call plan_run first"),
            "ask": ({}, "no runs in"),
            "status": ({"run": "../x"}, "unknown run"),
            "node": ({"node": "\ud800"}, "node holds the character U+D800, which is no text: leave it out"),
            "export_best": ({"dir": "\0"}, "dir holds the character U+0000"),
            "stop_run": ({}, "no runs in"),
            "tell": ({"ticket": "x"}, "hand in `files`"),
            "wait": ({"ticket": "x", "wait_s": -1}, "wait_s=-1; allowed: 0 or more"),
        }
        for tool, (arguments, words) in wrong.items():
            (tmp_path / "logs").mkdir(exist_ok=True)
            found = client.call(tool, **arguments)
            assert words in found["error"] or "no runs in" in found["error"], (tool, found)
            assert found["next"]
        for arguments, words in (
            ({"problem": "nonsense"}, "nonsense"),
            ({"program": "a.py"}, "go together"),
            ({"problem": "tsp", "settings": {"search.polcy": "mcts"}}, "search.policy"),
            ({"problem": "tsp", "settings": {"; rm -rf": 1}}, "; rm -rf"),
            ({"problem": "tsp", "settings": {"data.goal\0": 1}}, "is no key"),
            (
                {"problem": "tsp", "settings": {"problem.goal": "x" * 140_000}},
                "goal: 140015 characters; allowed",
            ),
            ({"problem": "tsp", "goal": "a\0b"}, "goal holds the character U+0000, which is no text"),
            ({"problem": "t\ud800p"}, "problem holds the character U+D800"),
            ({"problem": "x" * 140_000}, "problem has 140000 characters; allowed: at most 30000"),
            ({"problem": "tsp", "writer": "openai"}, "llm.code"),
            (
                {"problem": "tsp", "settings": {"writer": "external"}},
                'an argument of plan_run itself: writer="external',
            ),
        ):
            assert words in client.call("plan_run", **arguments)["error"], arguments


ARGUMENTS = {"ticket": "x", "confirm": "x", "node": "x", "text": "x", "files": {"program.py": "x = 1"}}


@pytest.mark.parametrize("roles", [*ROLES, ",".join(ROLES)])
def test_what_fails_names_another_tool_of_the_same_server_that_helps(tmp_path, roles):
    (tmp_path / "logs").mkdir()
    with McpClient(tmp_path, "--role", roles) as client:
        tools = {tool["name"]: tool["inputSchema"] for tool in client.request("tools/list")["tools"]}
        for name, schema in tools.items():
            needed = {key: ARGUMENTS[key] for key in schema.get("required", ())}
            if name in ("check", "tell"):
                needed["files"] = ARGUMENTS["files"]
            found = client.call(name, **needed)
            if name == "list_runs":
                assert found["next"] == ("plan_run" if "plan_run" in tools else None)
                continue
            assert found["error"], name
            if name == "plan_run":
                assert found["next"] == name, "its arguments are to be mended"
            elif roles == "writer":
                assert found["next"] is None, "no tool of this role makes a run"
            else:
                assert found["next"] == ("plan_run" if "plan_run" in tools else "list_runs") != name
        for name, schema in tools.items():
            for wrong_ in ({}, {"nonsense": 1}, *({key: []} for key in schema["properties"])):
                found = client.call(name, **wrong_)
                assert found["next"] is None or found["next"] in tools, (name, wrong_, found)
        givers = {"tell": "ask", "start_run": "plan_run", "node": "top"}
        found = {name: client.call(name)["next"] for name in givers if name in tools}
        assert found and found.items() <= givers.items(), "what is missing comes from there"


@pytest.mark.long
def test_a_run_that_others_write_is_no_dead_end(tmp_path, cli, toy):
    assert cli.here("run", *toy(4)).code == 0
    with McpClient(cli.folder) as client:
        asked = client.call("ask")
        assert "its writer is rules" in asked["error"] and asked["next"] == "list_runs"
        assert client.call("node", node="nobody")["next"] == "top"
        assert client.call("status", run="nobody")["next"] == "list_runs", "there are others"
        assert client.call("note", text="x")["next"] == "resume_run"
        best = client.call("top")["nodes"][0]["node_id"]
        assert client.call("node", node=best, part="code")["next"] == "export_best", "nobody asks a run that has ended"


@pytest.mark.long
def test_a_ticket_that_stays_open_is_not_asked_for_again(tmp_path):
    with McpClient(tmp_path) as client:
        started(client, tmp_path, 2)
        ticket = client.call("ask")["ticket"]
        refused = client.call("tell", ticket=ticket, files={"program.py": " "})
        assert refused["state"] == "refused" and refused["next"] == "tell"
        assert client.call("tell", ticket=f"{ticket}x", files={"program.py": "x = 1"})["next"] == "ask"
        for _ in range(5):
            client.call("check", ticket=ticket, files={"program.py": "x = ("})
        assert client.call("check", ticket=ticket, files={"program.py": "x = ("})["next"] == "tell"


def test_one_client_writes_rounds_that_are_judged_together_and_its_end_is_told_as_one(tmp_path):
    """What `ask` says of the end `status` says too: between them the winner is scored once more."""
    with McpClient(tmp_path) as client:
        settings = {"search.batch": 2, "search.schedule": "rounds"}
        planned = client.call("plan_run", problem=toy_yaml(tmp_path), steps=2, settings=settings)
        client.call("start_run", confirm=planned["confirm"])
        tickets = []
        for x in (1.5, 1.75):
            tickets.append(client.call("ask")["ticket"])
            verdict = client.call("tell", ticket=tickets[-1], files={"program.py": PROGRAM.format(x=x)})
            if len(tickets) == 1:
                assert (verdict["state"], verdict["next"]) == ("running", "ask"), verdict
                assert "a proposal that nobody has asked for" in verdict["message"]
        ended = client.call("ask")
        assert (ended["ticket"], ended["over"], ended["next"]) == (None, True, "export_best")
        assert client.call("status")["status"] == "finished"
        assert [client.call("wait", ticket=ticket)["metric"] for ticket in tickets] == [0.5, 0.25]


def test_what_was_asked_before_the_client_closed_its_end_is_answered(tmp_path):
    """As `printf … | main.py mcp` does; a call that waits is answered as it is with the end held open."""
    with McpClient(tmp_path) as client:
        started(client, tmp_path, 2)
        client.call("ask")
    calls = [
        ("status", {}),
        ("list_runs", {}),
        ("wait", {"wait_s": 3}),
        ("ask", {"wait_s": 3}),
        ("status", {"run": "x"}),
    ]
    asked = [{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25"}}]
    for number, (name, arguments) in enumerate(calls, 2):
        params = {"name": name, "arguments": arguments}
        asked.append({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params})
    ended = subprocess.run(
        [sys.executable, str(ROOT / "main.py"), "mcp"],
        input="\n".join(map(json.dumps, asked)), cwd=tmp_path, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    answers = {found["id"]: found["result"] for found in map(json.loads, ended.stdout.splitlines())}
    assert ended.returncode == 0 and sorted(answers) == [1, 2, 3, 4, 5, 6], ended.stderr
    assert [answers[n]["isError"] for n in range(2, 7)] == [False] * 4 + [True]


def test_who_is_a_writer_only_has_no_other_tools(tmp_path):
    with McpClient(tmp_path, "--role", "writer") as client:
        assert [tool["name"] for tool in client.request("tools/list")["tools"]] == [
            "ask", "check", "tell", "wait", "give_up"
        ]  # fmt: skip
        answer = client.answer(client.send("tools/call", name="stop_run", arguments={}))
        assert answer["error"]["code"] == -32602
    assert (
        Cli(tmp_path)
        .here("mcp", "--role", "root")
        .line.endswith("operator, reader, writer, several with commas between them")
    )


@pytest.mark.long
def test_progress_is_told_while_a_call_waits(tmp_path, cli):
    with McpClient(tmp_path) as client:
        started(client, tmp_path, 2)
        client.call("ask")
        number = client.send("tools/call", name="ask", arguments={"wait_s": 6}, _meta={"progressToken": "t"})
        pinged = client.answer(client.send("ping"))
        assert pinged["result"] == {}, "a long call holds nobody up"
        answer = client.answer(number)["result"]["structuredContent"]
        assert answer["ticket"] is None and answer["next"] == "ask"
    assert [note["params"]["progressToken"] for note in client.notices] == ["t"]


@pytest.mark.long
@pytest.mark.parametrize(
    "killed",
    ["before the answer", *(pytest.param(when, marks=pytest.mark.long) for when in ("after it", "with the run"))],
)
def test_a_ticket_whose_holder_was_killed_goes_to_the_next_who_asks(tmp_path, killed):
    with McpClient(tmp_path) as first:
        run = started(first, tmp_path, 1)
        number = first.send("tools/call", name="ask", arguments={})
        lost = first.answer(number)["result"]["structuredContent"]["ticket"] if killed != "before the answer" else None
        first.kill()
    if killed == "with the run":
        os.kill(int((tmp_path / "logs" / run["run"] / "run.lock").read_text()), signal.SIGKILL)
    with McpClient(tmp_path) as second:
        found = second.call("ask")
        assert found["ticket"] and lost in (None, found["ticket"])
        verdict = second.call("tell", ticket=found["ticket"], files={"program.py": PROGRAM.format(x=1.5)})
        while verdict["state"] == "running":
            verdict = second.call("wait", ticket=found["ticket"])
        assert verdict["metric"] == 0.5
        assert second.call("tell", ticket=found["ticket"], files={"program.py": "x = 2"})["metric"] == 0.5
        while second.call("wait")["status"] != "finished":
            pass
    with RunReader(tmp_path / "logs" / run["run"]) as reader:
        assert reader.count() == 1 and reader.steps() == 1


@pytest.mark.long
def test_two_clients_of_one_run_have_a_ticket_each(tmp_path):
    with McpClient(tmp_path) as one, McpClient(tmp_path) as two:
        planned = one.call("plan_run", problem=toy_yaml(tmp_path), steps=4, settings={"search.batch": 2})
        one.call("start_run", confirm=planned["confirm"])
        tickets = {client.call("ask")["ticket"] for client in (one, two)}
        assert len(tickets) == 2 and None not in tickets


def test_it_is_ready_within_a_third_of_a_processor_second(tmp_path):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    for _ in range(3):
        lines = "".join(
            json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": {}}) + "\n"
            for number, method in enumerate(["initialize", "tools/list"])
        )
        done = subprocess.run(
            [sys.executable, str(ROOT / "main.py"), "mcp"], input=lines, capture_output=True, text=True, cwd=tmp_path
        )
        assert len(done.stdout.splitlines()) == 2 and done.returncode == 0, done.stderr
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) / 3
    assert used < 0.6, "0.15 s; twice as much and more on a machine that is shared"


@pytest.mark.long
@pytest.mark.parametrize(
    ("mode", "version"), [("auto", "2026-07-28"), pytest.param("legacy", "2025-11-25", marks=pytest.mark.long)]
)
def test_the_official_client_of_both_ages(tmp_path, mode, version):
    mcp = pytest.importorskip("mcp", reason="the official SDK is not installed")
    stdio = pytest.importorskip("mcp.client.stdio")
    told: list[str] = []

    async def way() -> dict[str, Any]:
        server = stdio.StdioServerParameters(command=sys.executable, args=[str(ROOT / "main.py"), "mcp"], cwd=tmp_path)
        async with mcp.Client(server, mode=mode) as client:
            assert client.protocol_version == version
            assert len((await client.list_tools()).tools) == 17

            async def heard(progress: float, total: float | None, message: str | None) -> None:
                told.append(str(message))

            async def call(tool: str, **arguments: Any) -> dict[str, Any]:
                result = await client.call_tool(tool, arguments, progress_callback=heard)
                assert not result.is_error, result.structured_content
                return dict(result.structured_content)

            planned = await call("plan_run", problem=toy_yaml(tmp_path), steps=1)
            assert (await call("start_run", confirm=planned["confirm"]))["state"] == "started"
            ticket = (await call("ask"))["ticket"]
            verdict = await call("tell", ticket=ticket, files={"program.py": PROGRAM.format(x=1.5)})
            while verdict["state"] == "running":
                verdict = await call("wait", ticket=ticket)
            failed = await client.call_tool("tell", {"ticket": "forged", "files": {}})
            assert failed.is_error and "has no such ticket" in failed.structured_content["error"]
            return verdict

    began = time.monotonic()
    assert asyncio.run(way())["metric"] == 0.5
    assert time.monotonic() - began < 60
