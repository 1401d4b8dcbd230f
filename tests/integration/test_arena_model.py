"""The arena with a model: strategist and builders over HTTP, the gate's one repair round, replay."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest
from support.chat_server import ChatServer

import swarm_evo
from runs.tickets.client import ask_the_run

pytestmark = pytest.mark.usefixtures("forked_children")

SMALL = ["arena.openings=2", "arena.gauntlet=4", "arena.limit=nodes:100", "search.max_steps=3", "llm.cache=false"]
SOUND = """\
class Engine:
    name = "middle"
    def select_move(self, position, time_left_ms):
        return min(position.legal_moves, key=lambda move: abs(int(move) - 4))

engine = Engine()
"""
CHEAT = SOUND.replace("min(position.legal_moves, key=lambda move: abs(int(move) - 4))", "'9'").replace(
    "middle", "cheat"
)
QUESTIONS = [
    {"category": "evaluation", "question": "Open in the middle?"},
    {"category": "search", "question": "Dig deeper?"},
]


def answer(request: dict, number: int) -> str:
    """One builder is sound, the other hands in an illegal mover first and repairs it when told why."""
    asked = "".join(message["content"] for message in request["messages"])
    if "You lead a team" in asked:
        return f"Here you are.\n```json\n{json.dumps({'questions': QUESTIONS})}\n```"
    if "Dig deeper?" in asked and "is not a legal move" not in asked:
        return f"I cheat.\n```python\n{CHEAT}```"
    name = "repaired" if "Dig deeper?" in asked else "middle"
    return f"To the middle.\n```python\n{SOUND.replace('middle', name)}# {name}\n```"


def events(run_dir: Path, kind: str) -> list[dict]:
    with closing(sqlite3.connect(f"file:{run_dir / 'run.db'}?mode=ro", uri=True)) as db:
        query = "select body from events where type=? order by seq"
        return [json.loads(body) for (body,) in db.execute(query, (kind,))]


@pytest.fixture
def played(cli):
    with ChatServer(answer) as server:
        ended = cli.here("run", "--problem", "connect_four", *server.words(), *SMALL)
        assert ended.code == 0, ended.err
        yield cli, server


@pytest.mark.long
def test_a_generation_with_a_model(played):
    cli, server = played
    shown = cli.show()
    nodes = {node["node_id"]: node for node in shown["nodes"]}
    built = [node for node in shown["nodes"] if node["operator"] == "build"]
    (repaired,) = [node for node in shown["nodes"] if node["operator"] == "debug"]
    refused = nodes[repaired["parent_ids"][0]]
    assert len(built) == 2 and refused in built and refused["failure"] == "illegal_move" and refused["metric"] is None
    assert repaired["metric"] is not None
    (rejected,) = events(cli.run_dir, "candidate.rejected")
    assert (
        rejected["node_id"] == refused["node_id"] and rejected["refused_by"] == "smoke" and "'9'" in rejected["reason"]
    )
    asked = events(cli.run_dir, "strategist.question")
    assert [(q["category"], q["question"]) for q in asked] == [(q["category"], q["question"]) for q in QUESTIONS]
    strategist = [r for r in server.requests if "You lead a team" in r["messages"][0]["content"]]
    written = [request for request in server.requests if not request.get("tools")]  # the rest are reviews
    assert len(strategist) == 1 and len(written) == 4 and max(server.asked.values()) == 1
    count = len(server.requests)
    (generation,) = [e for e in events(cli.run_dir, "generation.finished") if e["generation"] == 1]
    assert {row["name"] for row in generation["ratings"]} >= {"repaired", "alpha-beta"}
    assert cli.here("replay", "latest", "--verify").code == 0
    assert len(server.requests) == count, "a replay asks nobody"


@pytest.mark.long
def test_writers_outside_build_the_engines_of_a_generation(cli, eventually):
    ready = cli.folder / "ready"
    words = ["--problem", "connect_four", "--writer=external", *SMALL, "--idle=120", f"--ready={ready}"]
    cli.start("run", *words)
    eventually(lambda: ready.is_file() and ready.read_text(), 60)

    def request(verb: str, **more: object) -> dict:
        return ask_the_run(cli.run_dir, {"verb": verb, **more})

    first, second = (request("ask", token=f"{n:032d}", seconds=20) for n in range(2))
    assert first["operator"] == second["operator"] == "build" and first["ticket"] != second["ticket"]
    assert first["files"]["program.py"] and "class " in first["files"]["program.py"], "the champion's file"
    asked = [events(cli.run_dir, "strategist.question")[n]["question"] for n in range(2)]
    prompts = [ticket["prompt"]["user"] for ticket in (first, second)]
    for question in asked:
        assert sum(question in prompt for prompt in prompts) == 1, "each has one of its own, and nobody was asked"
    assert request("check", ticket=first["ticket"], code=SOUND)["ok"]
    assert request("tell", ticket=first["ticket"], code=SOUND)["state"] == "running", "a generation plays together"
    assert request("tell", ticket=second["ticket"], code=CHEAT)["state"] == "running"
    repair = request("ask", token=f"{2:032d}", seconds=20)
    assert repair["operator"] == "debug" and repair["files"]["program.py"] == CHEAT
    assert "is not a legal move" in repair["prompt"]["user"]
    request("tell", ticket=repair["ticket"], code=SOUND.replace("middle", "mended") + "# mended\n")
    told = {}
    for name, one in (("sound", first), ("cheat", second), ("mended", repair)):
        while (found := request("wait", ticket=one["ticket"], seconds=25))["state"] == "running":
            pass
        assert found["state"] == "committed", (name, found)
        told[name] = found
    assert told["sound"]["metric"] is not None and told["mended"]["metric"] is not None
    assert (told["cheat"]["failure"], told["cheat"]["metric"]) == ("illegal_move", None)
    eventually(lambda: cli.show()["status"] == "finished", 60)
    assert cli.here("replay", "latest", "--verify").code == 0


def test_one_writer_outside_builds_whole_generations_one_engine_after_the_other(cli):
    """A verdict waits for all engines of its generation, and for the repairs of those that the gate refuses."""
    settings = {key.replace(".", "__"): value for key, _, value in (word.partition("=") for word in SMALL)}
    settings.pop("search__max_steps", None)
    run = swarm_evo.open("connect_four", budget={"steps": 4}, project_dir=cli.folder, idle=30, **settings)
    said: list[dict] = []
    tickets: list[dict] = []

    def write() -> None:
        while ticket := run.ask():
            tickets.append(ticket)
            sound = SOUND.replace("middle", f"number {len(said)}") + f"# {len(said)}\n"
            said.append(run.tell(ticket, CHEAT if len(said) == 1 else sound))

    writer = threading.Thread(target=write, daemon=True)
    writer.start()
    writer.join(90)
    assert not writer.is_alive(), f"it waits for itself: {[one['message'] for one in said]}, {run.tickets()}"
    running = [one for one in said if one["state"] == "running"]
    assert len(running) >= 2 and {one["next"] for one in running} == {"ask"}
    nodes = run.nodes()
    assert [node["failure"] for node in nodes if node["operator"] == "build"].count("illegal_move") == 1
    assert [node["operator"] for node in nodes].count("debug") == 1, "a repair"
    first = tickets[0]
    assert first["limits"]["memory_mb"] == 512 and "memory 512 MB" in first["prompt"]["system"], "of a game's process"
    assert "5 s a move: a longer one is a hang and loses" in first["prompt"]["system"]
    assert [row["name"] for row in first["metric"]["baselines"]] == ["alpha-beta", "greedy", "random"]
    run.close()


def test_a_writer_outside_asks_the_questions_of_a_generation(cli, eventually):
    """By a ticket with a schema, also where the run's process is killed while it waits for the answer."""
    ready = cli.folder / "ready"
    words = ["--problem", "connect_four", "--writer=external", "agent.questions=always", *SMALL]
    cli.start("run", *words, "search.max_steps=2", "--idle=120", f"--ready={ready}")
    eventually(lambda: ready.is_file() and ready.read_text(), 60)

    def request(verb: str, **more: object) -> dict:
        return ask_the_run(cli.run_dir, {"verb": verb, **more})

    asked = request("ask", token=f"{0:032d}", seconds=20)
    assert asked["operator"] == "ask_questions" and asked["editable"] == ["answer.json"]
    one = {"category": "search", "question": "Look two moves ahead?"}
    refused = request("tell", ticket=asked["ticket"], code=json.dumps({"questions": [one]}))
    assert refused["state"] == "refused" and "questions must hold 2 or more, not 1" in refused["message"]
    os.kill(int((cli.run_dir / "run.lock").read_text()), signal.SIGKILL)
    again = request("ask", ticket=asked["ticket"], seconds=20)
    same = (asked["ticket"], asked["prompt"])
    assert (again["ticket"], again["prompt"]) == same, "the process that went on asks it too"
    two = {"category": "evaluation", "question": "Begin in the middle?"}
    taken = request("tell", ticket=asked["ticket"], code=json.dumps({"questions": [one, two]}))
    assert taken["state"] == "committed"
    tickets = [request("ask", token=f"{n:032d}", seconds=20) for n in (1, 2)]
    prompts = [ticket["prompt"]["user"] for ticket in tickets]
    for question in (one, two):
        assert sum(question["question"] in prompt for prompt in prompts) == 1
    for number, ticket in enumerate(tickets):
        request("tell", ticket=ticket["ticket"], code=SOUND.replace("middle", f"outside {number}") + f"# {number}\n")
    eventually(lambda: cli.show()["status"] == "finished", 60)
    assert [q["question"] for q in events(cli.run_dir, "strategist.question")] == [one["question"], two["question"]]
    assert cli.here("replay", "latest", "--verify").code == 0


@pytest.mark.long
def test_an_agent_builds_engines(cli):
    agent = cli.folder / "agent.py"
    agent.write_text(f"""
import re
task = open("TASK.md").read()
(category,) = re.findall(r"Category: (\\w+)", task)
assert "class " in open("program.py").read() and "class " in open("evidence/parent-1/program.txt").read()
open("program.py", "w").write({SOUND!r}.replace("middle", category) + "# " + category)
print("I answered the question of", category)
""")
    keys = {"provider": "agent", "command": f"{sys.executable} {agent}", "model": "none", "session.usd": 0.1}
    words = [f"llm.code.{name}={value}" for name, value in keys.items()]
    fixed = ["llm.feedback.provider=rules", "llm.feedback.model=rules", "agent.repairs=0"]
    ended = cli.here("run", "--problem", "connect_four", *words, *fixed, *SMALL, "search.max_steps=2")
    assert ended.code == 0, ended.err
    built = [cli.node(node["node_id"]) for node in cli.show()["nodes"] if node["operator"] == "build"]
    assert len(built) == 2 and all(node["metric"] is not None for node in built), [node["message"] for node in built]
    assert {node["plan"] for node in built} == {f"I answered the question of {one}" for one in ("search", "evaluation")}
    assert cli.here("replay", "latest", "--verify").code == 0
