"""`step`: one step by hand, whole or stage by stage; what a later command finds."""

from __future__ import annotations

import json
import signal

import pytest
from support.chat_server import ChatServer

from core.storage.reader import RunReader


def stages(cli):
    with RunReader(cli.run_dir) as reader:
        return reader.open_stages()


def test_a_kill_as_a_step_from_a_stage_begins_leaves_all_of_it_or_nothing(cli, finished):
    """Its round stood there without what it took over: the next step asked for a reply that was to be kept."""
    step = next(node["node_id"] for node in cli.show()["nodes"] if node["operator"] == "improve")
    words = ("step", "latest", "--node", step, "--from", "execute")
    assert cli(*words, SWARM_EVO_FAULT="after:round:1").code == -signal.SIGKILL
    assert cli.here("step", "latest").code == 0
    *_, made = cli.show()["nodes"]
    before, now = cli.node(step), cli.node(made["node_id"])
    assert (now["code"], now["calls"]) == (before["code"], []), "written anew"


def test_step_without_a_run_starts_one_and_adds_one_step_each_time(cli, toy):
    first = cli.here("step", *toy(1))
    assert first.code == 0, first.err
    assert cli.show()["steps"] == 1
    again = cli.here("step", "latest")
    assert again.code == 0, again.err
    shown = cli.show()
    assert shown["steps"] == 2, "whatever max_steps says"
    assert len(cli.runs) == 1 and shown["status"] == cli.here("list-runs", "--json").json[0]["status"] == "waiting"
    assert cli.here("list-runs", "--status", "waiting").out.count("waiting") == 1
    assert shown["verdict"]["text"].startswith("The run waits for its next step, after 2 steps. By then")
    assert [row["step"] for row in json.loads((cli.run_dir / "metrics.json").read_text())] == [1, 2]
    assert cli.here("resume", "latest", "search.max_steps=3").code == 0
    assert cli.show()["steps"] == 3


def test_a_step_by_hand_after_the_end_is_told_as_every_step_is(cli, finished):
    """A run that has ended has nothing left to do for `resume`; a hand may still add to it."""
    assert "nothing is left to do" in cli.here("resume", "latest").out
    before = cli.show()
    ended = cli.here("step", "latest")
    step, told = ended.out.splitlines()[-2:]
    assert ended.code == 0 and step.startswith("step 9 ") and "are open again until `" in told, ended.out
    assert json.loads((cli.run_dir / "metrics.json").read_text())[-1]["step"] == 9
    shown = cli.show()
    assert shown["verdict"]["text"].startswith("The run waits for its next step, after 9 steps."), "more than its 8"
    was = (
        f"It had ended at step 8 with node {before['best_node_id']}, {before['final_metric']:.6g} distance on the final"
    )
    assert was in shown["verdict"]["text"] and shown["verdict"]["kind"] == "reopened"
    assert "open again" in cli.here("list-runs").out
    page, people = cli.here("report", "latest", "--out=r.html"), cli.here("show", "latest", COLUMNS="400").out
    assert page.code == 0 and was in (cli.folder / "r.html").read_text() and was in people
    ends = cli.here("resume", "latest")
    assert ends.code == 0 and cli.show()["winner"]["chosen"] and "open again" not in cli.here("list-runs").out
    assert cli.here("verify", "latest").code == 0


def test_to_look_at_a_step_does_not_open_a_run_that_has_ended(cli, finished):
    """`--until prompt` made its status `interrupted`, and its verdict one that a resume had to find anew."""
    before = cli.show()
    for until in ("prompt", "code"):
        ended = cli.here("step", "latest", "--operator=draft", "--until", until)
        assert ended.code == 0 and f"run {before['run']} stays ended" in ended.out, ended.out
        after = cli.show()
        same = ("status", "verdict", "winner", "final_metric", "journal_sha256", "steps")
        assert {name: after[name] for name in same} == {name: before[name] for name in same}
    assert cli.here("list-runs", "--json").json[0]["status"] == "finished"
    assert "nothing is left to do" in cli.here("resume", "latest").out
    with RunReader(cli.run_dir) as reader:
        assert [event.type for event in reader.events(types=["run.started", "run.finished"])][-1] == "run.finished"
    assert cli.here("verify", "latest").code == 0
    assert "are open again" in cli.here("step", "latest").out, "the node that was begun is added now"
    assert cli.show()["verdict"]["kind"] == "reopened"


def test_a_resume_says_what_a_hand_left_open_and_how_to_finish_it(cli, toy):
    assert cli.here("step", *toy(2), "--until", "prompt").code == 0
    (node_id,) = stages(cli)
    ended = cli.here("resume", "latest")
    run = cli.run_dir.name
    assert ended.code == 0 and cli.show()["steps"] == 2
    told = f"does not count it: node {node_id} (draft); `python main.py step {run}` finishes it"
    assert told in ended.out and "begun by hand stays open" in ended.out
    assert cli.here("step", run).out.count(node_id[:6]) > 1 and stages(cli) == {}


@pytest.mark.long
def test_stages_are_stored_and_the_next_step_goes_on_from_there(cli, toy):
    calls = []

    def script(request, number):
        calls.append(number)
        return "I try this.\n```python\nx = 1.75\n```"

    with ChatServer(script) as server:
        words = [*toy(3), *server.words(), "agent.review=never", "llm.cache=false"]
        ended = cli.here("step", *words, "--until", "prompt")
        assert ended.code == 0, ended.err
        assert "Find x near 2." in ended.out and calls == []
        (node_id,) = stages(cli)
        assert stages(cli) == {node_id: ["select", "prompt"]}

        ended = cli.here("step", "latest", "--until", "reply")
        assert ended.code == 0 and "I try this." in ended.out and len(calls) == 1, ended.err
        ended = cli.here("step", "latest", "--until", "code")
        assert ended.code == 0 and "x = 1.75" in ended.out and len(calls) == 1, ended.err
        ended = cli.here("step", "latest", "--until", "execute")
        assert ended.code == 0 and "metric 0.25" in ended.out and len(calls) == 1, ended.err
        assert cli.show()["steps"] == 0
        ended = cli.here("step", "latest")
        assert ended.code == 0 and len(calls) == 1, "nothing is asked again"
    shown = cli.show()
    assert shown["steps"] == 1 and shown["nodes"][0]["node_id"] == node_id
    assert shown["best_metric"] == pytest.approx(0.25)
    assert stages(cli) == {}


def test_a_stored_reply_survives_as_the_users_own_stage(cli, toy):
    """`--from reply` asks anew; `--from execute` judges the same code again as a node of its own."""
    with ChatServer(lambda request, number: f"```python\nx = {number + 3}.5\n```") as server:
        words = [*toy(3), *server.words(), "agent.review=never", "llm.cache=false"]
        assert cli.here("step", *words).code == 0
        first = cli.show()["nodes"][0]["node_id"]
        again = cli.here("step", "latest", "--node", first, "--from", "execute")
        assert again.code == 0 and len(server.requests) == 1, again.err
        anew = cli.here("step", "latest", "--node", first, "--from", "reply")
        assert anew.code == 0 and len(server.requests) == 2, anew.err
    one, two, three = (cli.node(node["node_id"]) for node in cli.show()["nodes"])
    assert two["code"] == one["code"] and three["code"] != one["code"]


@pytest.mark.long
def test_operator_and_parent_by_hand(cli, toy):
    assert cli.here(*toy(4)).code == 0
    best = cli.show()["best_node_id"]
    ended = cli.here("step", "latest", "--node", best[:6], "--operator", "improve")
    assert ended.code == 0, ended.err
    newest = cli.show()["nodes"][-1]
    assert newest["operator"] == "improve" and newest["parent_ids"] == [best]
    assert cli.here("step", "latest", "--operator", "draft").code == 0
    assert cli.show()["nodes"][-1]["parent_ids"] == []
    ended = cli.here("step", "latest", "--node", "ffff", "--operator", "improve")
    assert ended.code == 2 and "ffff" in ended.line


def test_dry_run_stores_nothing_and_calls_nothing(cli, toy):
    with ChatServer(lambda request, number: "```python\nx = 1\n```") as server:
        words = [*toy(3), *server.words(), "agent.review=never"]
        ended = cli.here("step", *words, "--dry-run")
        assert ended.code == 0 and json.loads(ended.out)["stored"] is False, ended.err
        assert not (cli.folder / "logs").exists()
        assert cli.here("step", *words).code == 0
        before = (cli.run_dir / "run.db").read_bytes()
        asked = len(server.requests)
        ended = cli.here("step", "latest", "--dry-run")
        assert ended.code == 0 and json.loads(ended.out)["stored"] is False
        assert len(server.requests) == asked
        assert (cli.run_dir / "run.db").read_bytes() == before
        assert stages(cli) == {}


@pytest.mark.long
def test_dry_run_needs_neither_key_nor_price(cli, toy):
    words = [
        *toy(3),
        "llm.code.provider=openai",
        "llm.code.model=nobody-knows-it",
        "llm.code.base_url=https://h.example/v1",
    ]
    ended = cli("step", *words, "--dry-run")
    assert ended.code == 0 and json.loads(ended.out)["stored"] is False, ended.err
    ended = cli("step", *words)
    assert ended.code == 2 and "its price is not known" in ended.line
