"""The arena with a model: strategist and builders over HTTP, the gate's one repair round, replay."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from support.chat_server import ChatServer

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
QUESTIONS = [{"category": "book", "question": "Open in the middle?"}, {"category": "search", "question": "Dig deeper?"}]


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
