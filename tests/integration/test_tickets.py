"""Ask and tell from outside: whatever happens to a ticket has one answer; a kill loses and doubles nothing."""

from __future__ import annotations

import json
import os
import re
import signal
import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from support.command_line import PLUGINS, Cli
from support.mcp_client import McpClient

import swarm_evo
from core.storage.reader import RunReader
from runs.proof.verification import verify_run
from runs.tickets import client as ticket_client
from runs.tickets.client import ask_the_run
from runs.tickets.names import VERDICT
from runs.tickets.server import SOCKET, call

pytestmark = pytest.mark.usefixtures("forked_children")

PROGRAM = "x = {x}\n# of what the writer outside thinks about the number above\n"


@pytest.fixture(autouse=True)
def soon_idle(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that was started for tickets ends with its test."""
    monkeypatch.setattr(ticket_client, "IDLE", 4.0)


@pytest.fixture
def opened(cli: Cli, toy: Callable[..., list[str]], eventually: Callable[..., Any]) -> Callable[..., Path]:
    """Start a run that waits for writers outside: its folder."""

    def open_(steps: int = 3, *more: str, at: Cli = cli, **environment: str) -> Path:
        ready = at.folder / "ready"
        at.start("run", "--writer=external", *toy(steps, *more), "--idle=120", f"--ready={ready}", **environment)
        eventually(lambda: ready.is_file() and ready.read_text(), 60)
        return at.run_dir

    return open_


def token(number: int) -> str:
    return f"{number:032d}"


def asked(run_dir: Path, number: int, seconds: float = 20) -> dict[str, Any]:
    return ask_the_run(run_dir, {"verb": "ask", "token": token(number), "seconds": seconds})


def told(run_dir: Path, ticket: str, x: float) -> dict[str, Any]:
    """Hand in, and wait for the verdict."""
    found = ask_the_run(run_dir, {"verb": "tell", "ticket": ticket, "code": PROGRAM.format(x=x), "seconds": 20})
    for _ in range(5):  # a verdict that waits for another ticket would never come
        if found["state"] != "running":
            break
        found = ask_the_run(run_dir, {"verb": "wait", "ticket": ticket, "seconds": 20})
    return found


def test_wait_without_a_ticket_waits_for_the_runs_end_and_shows_it(opened, cli):
    run_dir = opened(1)
    early = cli.here("wait", "latest", "--seconds=0.2", "--json")
    assert (early.code, early.json["status"]) == (0, "running") and "0 steps, no score yet" in early.err
    assert told(run_dir, asked(run_dir, 1)["ticket"], 1.5)["improved"]
    ended = cli.here("wait", "latest", "--json")
    assert (ended.code, ended.json["status"], ended.json["best_metric"]) == (0, "finished", 0.5)


@pytest.mark.long
def test_the_way_of_a_ticket_on_the_command_line(cli, opened, tmp_path):
    run_dir = opened(2)
    asked_ = cli.here("ask", "latest", "--dir", str(tmp_path / "work"), "--json").json
    assert {"ticket", "expires_at", "operator", "prompt", "files", "editable", "parents", "metric", "limits", "budget",
            "why", "next"} <= asked_.keys()  # fmt: skip
    assert asked_["operator"] == "draft" and asked_["budget"]["steps_left"] == 2
    assert "Find x near 2" in (tmp_path / "work" / "TASK.md").read_text()
    ticket, program = asked_["ticket"], tmp_path / "work" / "program.py"
    program.write_text("x = (\n")
    assert cli.here("check", "latest", ticket, "--dir", str(tmp_path / "work")).code == 1
    program.write_text(PROGRAM.format(x=1.5))
    assert cli.here("check", "latest", ticket, "--file", str(program)).out == "ok\n"
    (tmp_path / "work" / "helper.py").write_text("y = 1\n")
    assert "does not come back: helper.py" in cli.here("check", "latest", ticket, "--dir", str(tmp_path / "work")).out
    assert asked_["then"] == f"python main.py tell {run_dir.name} {ticket} --dir {tmp_path / 'work'}"
    verdict = cli.here("tell", "latest", ticket, "--dir", str(tmp_path / "work"), "--json")
    assert verdict.code == 0 and "does not come back: helper.py" in verdict.json["warnings"][-1]
    assert (verdict.json["then"], verdict.json["over"]) == (f"python main.py ask {run_dir.name}", False)
    assert {name: verdict.json[name] for name in ("state", "metric", "metric_source", "improved", "next")} == {
        "state": "committed", "metric": 0.5, "metric_source": "verified", "improved": True, "next": "ask"
    }  # fmt: skip
    assert len(verdict.json["journal_head"]) == 64
    second = asked(run_dir, 2)
    assert cli.here("give-up", "latest", second["ticket"]).code == 0
    shown = cli.here("tell", "latest", ticket, "--dir", str(tmp_path / "work")).out
    assert "metric: 0.5\nmetric_source: verified\nimproved: true\n" in shown, "the first verdict once more"
    third = asked(run_dir, 3)
    assert third["ticket"] != second["ticket"] and third["budget"]["steps_left"] == 1, "no step was taken"
    assert told(run_dir, third["ticket"], 1.75)["state"] == "committed"
    ended = cli.here("ask", "latest", "--json")
    assert (ended.code, ended.json["ticket"], ended.json["next"], ended.json["over"]) == (1, None, "stop", True)
    assert ended.json["then"] == f"python main.py export-best {run_dir.name}"
    cli_waits_for_end(cli)
    shown = cli.show()
    assert (shown["steps"], shown["best_metric"], shown["writer"]) == (2, 0.25, "external/client")
    assert cli.here("wait", "latest", ticket, "--json").json["metric"] == 0.5, "from the store, when all is over"
    assert verify_run(run_dir).verdict == "consistent"
    assert cli.here("replay", "latest", "--verify").code == 0


def test_wait_waits_for_a_run_that_was_begun_a_moment_ago(cli, toy):
    """Its folder comes after the imports, its store after its folder."""
    cli.start("run", *toy(3))
    ended = cli.here("wait", "latest", "--json")
    assert ended.code == 0, ended.err
    assert ended.json["steps"] == 3 and ended.json["status"] == "finished"
    assert ended.err.startswith("no run 'latest' yet: waiting up to 30 s for it\n")


def test_wait_for_a_run_that_never_comes_says_so(cli):
    (cli.folder / "logs" / "half").mkdir(parents=True)  # and no store
    for name in ("nobody", "half"):
        ended = cli.here("wait", name, "--seconds=0.3")
        assert ended.code == 2 and ended.err.splitlines()[-1].endswith("(waited 0.3 s for it)")
    assert "unknown run 'no/name'" in cli.here("wait", "no/name").line, "what cannot be a run's name is told at once"


def cli_waits_for_end(cli: Cli) -> None:
    until = time.monotonic() + 60
    while (cli.run_dir / SOCKET).exists() or cli.show()["status"] != "finished":
        assert time.monotonic() < until
        time.sleep(0.05)


def test_each_odd_thing_has_one_answer(opened):
    run_dir = opened(3)
    first = asked(run_dir, 1)
    assert asked(run_dir, 1)["ticket"] == first["ticket"], "the answer was lost: the same ticket"
    none = asked(run_dir, 2, seconds=0.1)
    assert none["ticket"] is None and none["next"] == "ask", "batch 1: one proposal at a time"
    foreign = f"{first['node_id']}.{token(9)}"
    for verb in ("tell", "wait", "check", "give_up"):
        request = {"verb": verb, "ticket": foreign, "code": "x = 1\n"}
        found = ask_the_run(run_dir, request)
        assert found["state"] == "refused", verb
        assert VERDICT.keys() <= found.keys() and found["budget"]["steps_left"] == 3, (
            "whoever reads a metric reads None"
        )
        assert ask_the_run(run_dir, {**request, "ticket": "nonsense"})["message"].startswith(
            f"run {run_dir.name} has no such ticket"
        )
    nameless = ask_the_run(run_dir, {"verb": "tell", "ticket": first["node_id"], "code": "x = 1\n"})
    assert nameless["state"] == "refused" and f"is longer: {first['node_id']}.…" in nameless["message"]
    assert f"take it over with `ask {run_dir.name} {first['node_id']}`" in nameless["message"]
    assert ask_the_run(run_dir, {"verb": "wait", "ticket": first["ticket"]})["message"].startswith("nothing has been")
    wrong = ask_the_run(run_dir, {"verb": "tell", "ticket": first["ticket"], "files": {"../evil.py": "x"}})
    assert wrong["state"] == "refused" and "program.py" in wrong["message"]
    verdict = told(run_dir, first["ticket"], 1.5)
    again = told(run_dir, first["ticket"], 1.99)
    assert (verdict["metric"], again["metric"], again["node_id"]) == (0.5, 0.5, verdict["node_id"])
    given_up = ask_the_run(run_dir, {"verb": "give_up", "ticket": first["ticket"]})
    assert given_up["state"] == "committed", "what is told stays"
    for bad in ({"verb": "ask"}, {"verb": "ask", "token": "short"}, {"verb": "steal"}, {}, {"verb": "tell"}):
        assert ask_the_run(run_dir, bad)["state"] == "refused"
    second = asked(run_dir, 3)
    checks = [
        ask_the_run(run_dir, {"verb": "check", "ticket": second["ticket"], "code": PROGRAM.format(x=n)})
        for n in range(6)
    ]
    assert [check["ok"] for check in checks] == [True] * 5 + [False] and "5 checks" in checks[5]["message"]
    assert [one["kind"] for one in checks[5]["problems"]] == ["ticket"]
    duplicate = told(run_dir, second["ticket"], 1.5)
    assert (duplicate["state"], duplicate["metric"]) == ("duplicate", None)
    failed = asked(run_dir, 4)
    found = ask_the_run(run_dir, {"verb": "tell", "ticket": failed["ticket"], "code": "x = (", "seconds": 20})
    assert (found["state"], found["failure"]) == ("committed", "syntax"), "a bad program is a failure on its node"
    with RunReader(run_dir) as reader:
        assert [call.role for call in reader.calls(failed["node_id"])].count("code") == 1, "one ticket is one reply"


@pytest.mark.long
def test_a_models_whole_reply_may_be_told_as_it_is(opened):
    run_dir = opened(1, "search.batch=1")
    ticket = asked(run_dir, 0)["ticket"]
    reply = f"I try one.\n\n```python\n{PROGRAM.format(x=2)}\n```\n"
    found = ask_the_run(run_dir, {"verb": "tell", "ticket": ticket, "code": reply, "seconds": 20})
    assert found["state"] in ("running", "committed") and not found.get("failure"), found


def test_an_empty_reply_is_refused_in_one_line_and_the_ticket_stays_open(opened, cli, tmp_path):
    opened(1)
    hint = cli.here("ask", "latest", "--dir", str(tmp_path / "work")).out.splitlines()[-1]
    words = hint.partition("`")[2].rstrip("`").split()
    assert words[:3] == ["python", "main.py", "tell"], "the hint is what to type next"
    assert words[-2:] == ["--dir", str(tmp_path / "work")]
    ticket, program = words[4], tmp_path / "work" / "program.py"
    for source in (["--file", "/dev/null"], ["--file", str(program)]):
        program.write_text(" \n\n")
        refused = cli.here("tell", "latest", ticket, *source)
        assert refused.code == 2 and refused.line.startswith("swarm-evo: program.py: it is empty")
    assert cli.here("wait", "latest", ticket, "--seconds", "0").out.startswith("state: running")
    program.write_text(PROGRAM.format(x=1.5))
    assert cli.here(*words[2:], "--json").json["metric"] == 0.5, "the step was not spent"


@pytest.mark.long
def test_an_expired_ticket_frees_its_slot_and_costs_no_step(opened):
    run_dir = opened(1, "llm.ticket_seconds=4")  # the second has to be told in time
    first = asked(run_dir, 1)
    time.sleep(4.3)
    second = asked(run_dir, 2)
    assert second["node_id"] != first["node_id"]
    late = ask_the_run(run_dir, {"verb": "tell", "ticket": first["ticket"], "code": PROGRAM.format(x=1)})
    assert (late["state"], late["next"]) == ("expired", "ask")
    assert "llm.ticket_seconds" in late["message"] and "can be told with another" in late["message"]
    assert told(run_dir, second["ticket"], 1.5)["state"] == "committed"
    with RunReader(run_dir) as reader:
        assert reader.count() == 1 and reader.steps() == 1


def test_several_writers_have_a_ticket_each_and_commits_keep_their_order(opened, eventually):
    run_dir = opened(4, "search.batch=2", "search.lag=4")
    tickets = [asked(run_dir, number)["ticket"] for number in range(4)]
    assert len(set(tickets)) == 4, "a window of `search.lag`"
    for number, ticket in reversed(list(enumerate(tickets))):  # the first one holds back those behind it
        request = {"verb": "tell", "ticket": ticket, "code": PROGRAM.format(x=1 + number / 10)}
        assert ask_the_run(run_dir, request)["state"] in ("running", "committed")
    assert {told(run_dir, ticket, 0)["state"] for ticket in tickets} == {"committed"}
    with RunReader(run_dir) as reader:
        nodes = reader.nodes()
    assert {node.id for node in nodes} == {ticket.partition(".")[0] for ticket in tickets}
    assert sorted(nodes, key=lambda node: (node.round, node.slot)) == nodes, "in the order of slots, whoever came first"


TOGETHER = ("search.batch=2", "search.schedule=rounds")
"""A round is judged when all of it is written."""


@pytest.mark.long
def test_one_writer_that_tells_before_it_asks_again_plays_whole_rounds(opened, cli):
    """Its first verdict of a round waits for a proposal that only it will ask for."""
    run = swarm_evo.ExternalRun(opened(4, *TOGETHER))
    said: list[tuple[str, str]] = []
    tickets = []

    def write() -> None:
        while ticket := run.ask():
            tickets.append(ticket)
            told_ = run.tell(ticket, PROGRAM.format(x=1 + len(tickets) / 10))
            said.append((told_["state"], told_["next"]))

    writer = threading.Thread(target=write, daemon=True)
    writer.start()
    writer.join(60)
    assert not writer.is_alive(), f"it waits for itself: {said}, {run.tickets()}"
    assert said[::2] == [("running", "ask")] * 2 and [state for state, _ in said[1::2]] == ["committed"] * 2
    verdicts = [run.wait(ticket) for ticket in tickets]
    assert [one["state"] for one in verdicts] == ["committed"] * 4
    assert cli.show()["steps"] == 4


def test_the_command_line_says_ask_where_a_round_waits_and_whose_ticket_it_waits_for(opened, cli, tmp_path):
    run_dir = opened(2, *TOGETHER)
    (tmp_path / "one.py").write_text(PROGRAM.format(x=1.5))
    first = cli.here("ask", "latest", "--json").json["ticket"]
    waits = cli.here("tell", "latest", first, "--file", str(tmp_path / "one.py"))
    assert waits.code == 0 and "message: its verdict waits for a proposal that nobody has asked for" in waits.out
    assert waits.out.splitlines()[-1] == f"next: python main.py ask {run_dir.name}"
    second = cli.here("ask", "latest", "--dir", str(tmp_path / "work"), "--json").json
    waits = cli.here("wait", "latest", first, "--seconds=3", "--json")
    assert (waits.json["state"], waits.json["next"]) == ("running", "wait")
    assert [row["node_id"] for row in waits.json["open_tickets"]] == [second["node_id"]]
    assert f"{second['node_id']} with `ask --dir {tmp_path / 'work'}` since " in waits.json["message"]
    assert waits.line.startswith("no verdict yet: ") and second["node_id"] in waits.line, "also while it still waits"
    (tmp_path / "one.py").write_text(PROGRAM.format(x=1.75))
    assert cli.here("tell", "latest", second["ticket"], "--file", str(tmp_path / "one.py"), "--json").json["metric"]
    found = cli.here("wait", "latest", first, "--json")
    assert (found.json["metric"], found.err) == (0.5, "")


def test_who_waits_in_python_for_anothers_ticket_hears_whose_it_is(opened, caplog):
    run_dir = opened(2, *TOGETHER)
    run = swarm_evo.ExternalRun(run_dir)
    mine, others = run.ask(), asked(run_dir, 7)
    verdicts: list[dict[str, Any]] = []
    writer = threading.Thread(target=lambda: verdicts.append(run.tell(mine, PROGRAM.format(x=1.5))), daemon=True)
    writer.start()
    until = time.monotonic() + 60
    while not caplog.messages and time.monotonic() < until:
        time.sleep(0.05)
    (warned,) = caplog.messages
    assert "no verdict yet: " in warned and f"{others['node_id']} with a writer without a name" in warned
    told(run_dir, others["ticket"], 1.75)
    writer.join(60)
    assert verdicts[0]["metric"] == 0.5


@pytest.mark.long
@pytest.mark.parametrize("last", [False, True])
def test_when_a_ticket_was_given_up_moves_nothing_in_a_replay(opened, cli, last):
    """Drafts under way count: one that is withdrawn sooner or later would be proposed again sooner or later."""
    run_dir = opened(6, "search.batch=2", "search.lag=4", "search.num_drafts=4")
    tickets = [asked(run_dir, number)["ticket"] for number in range(4)]
    with RunReader(run_dir) as reader:  # commits are in the order of proposals, whoever asked for his program first
        order = list(reader.tasks())
    tickets.sort(key=lambda ticket: order.index(ticket.partition(".")[0]))
    if not last:
        assert ask_the_run(run_dir, {"verb": "give_up", "ticket": tickets[2]})["state"] == "expired"
    for number in (0, 1):  # both before either is waited for: which stands first in the journal is not promised
        ask_the_run(run_dir, {"verb": "tell", "ticket": tickets[number], "code": PROGRAM.format(x=1 + number / 10)})
    for number in (0, 1):
        assert told(run_dir, tickets[number], 1 + number / 10)["state"] == "committed"
    later = [asked(run_dir, number)["ticket"] for number in (4, 5)]
    if last:
        assert ask_the_run(run_dir, {"verb": "give_up", "ticket": tickets[2]})["state"] == "expired"
    number = 2
    for ticket in (tickets[3], *later):
        number += 1
        ask_the_run(run_dir, {"verb": "tell", "ticket": ticket, "code": PROGRAM.format(x=1 + number / 10)})
    while (ticket := asked(run_dir, 10 + number)["ticket"]) is not None:
        number += 1
        ask_the_run(run_dir, {"verb": "tell", "ticket": ticket, "code": PROGRAM.format(x=1 + number / 10)})
    cli_waits_for_end(cli)
    assert cli.show()["steps"] == 6
    replayed = cli.here("replay", "latest", "--verify")
    assert replayed.code == 0, replayed.err


def test_tickets_that_expire_one_after_the_other_move_nothing_in_a_replay(opened, cli):
    """No verdict says when they were gone: a replay asked for what comes behind them while they were still counted."""
    run_dir = opened(4, "search.policy=islands", "search.islands.num_islands=2", "search.islands.per_island=1")
    number = 0
    for x in (1.5, 1.75, 1.25, 1.9):
        for _ in range(5):
            number += 1
            ask_the_run(run_dir, {"verb": "give_up", "ticket": asked(run_dir, number)["ticket"]})
        number += 1
        assert told(run_dir, asked(run_dir, number)["ticket"], x)["state"] == "committed"
    cli_waits_for_end(cli)
    replayed = cli.here("replay", "latest", "--verify")
    assert replayed.code == 0, replayed.err


LESSON = json.dumps({"learned": "Nearer to two is better.", "next": ["1.9"], "suspect": False})


def test_a_review_is_a_ticket_that_takes_json_by_its_schema(opened, cli, tmp_path):
    run_dir = opened(2, "llm.feedback.provider=external", "agent.review=always")
    run = swarm_evo.ExternalRun(run_dir)
    first = run.ask()
    assert first is not None and "schema" not in first
    waits = run.tell(first, code=PROGRAM.format(x=1.5))
    assert (waits["state"], waits["next"], waits["then"]) == ("running", "ask", "run.ask()"), "its review comes first"
    assert run.wait(first)["next"] == "ask", "nobody waits for what he is to do himself"
    folder = tmp_path / "review"
    asked_ = cli.here("ask", "latest", "--dir", str(folder), "--json").json
    assert asked_["node_id"] == first["node_id"] and asked_["editable"] == ["answer.json"]
    assert asked_["schema"]["required"] == ["learned"] and "`submit_review`" in asked_["prompt"]["user"]
    assert "write the answer into answer.json" in (folder / "TASK.md").read_text()
    ticket = asked_["ticket"]
    for wrong, said in (
        ("x = 2", "not valid JSON"),
        ('{"next": []}', "lacks learned"),
        ('{"learned": 5}', "be string"),
    ):
        (folder / "answer.json").write_text(wrong)
        refused = cli.here("tell", "latest", ticket, "--dir", str(folder))
        assert refused.code == 2 and "answer.json: " in refused.line and said in refused.line, refused.line
    looked = run.check(ticket, files={"answer.json": '{"learned": []}'})
    assert not looked["ok"] and looked["problems"][0]["kind"] == "schema"
    taken = run.tell(ticket, code=f"Here it is:\n```json\n{LESSON}\n```\n")
    assert (taken["state"], taken["message"], taken["next"]) == ("committed", "the answer is taken", "ask")
    assert run.wait(first)["metric"] == 0.5
    assert "Nearer to two is better. Next: 1.9" in cli.node(first["node_id"])["analysis"]
    second = run.ask()
    assert second is not None and "Nearer to two is better" in second["prompt"]["user"], "later writers are told"
    with McpClient(cli.folder) as client:
        name = f"{run_dir.name}/{second['ticket']}"
        assert client.call("tell", ticket=name, files={"program.py": PROGRAM.format(x=1.75)})["next"] == "ask"
        question = client.call("ask")
        assert question["schema"] and question["files"] == {"answer.json": "{}\n"}
        os.kill(int((run_dir / "run.lock").read_text()), signal.SIGKILL)
        assert client.call("tell", ticket=question["ticket"], files={"answer.json": LESSON})["state"] == "committed"
        assert client.call("wait", ticket=name)["metric"] == 0.25, "of a process that was killed in between"
    cli_waits_for_end(cli)
    assert (
        cli.here("tell", "latest", ticket, "--file", str(folder / "answer.json"), "--json").json["state"] == "committed"
    )
    assert cli.here("replay", "latest", "--verify").code == 0
    with RunReader(run_dir) as reader:
        assert [call.role for call in reader.calls()] == ["code", "feedback"] * 2


@pytest.mark.long
def test_a_kill_between_a_tickets_end_and_its_turn_moves_nothing(opened, cli_at):
    """It is withdrawn when those before it are committed, also by a process that finds it withdrawn."""
    found = []
    for killed in (False, True):
        cli = cli_at(f"killed {killed}")
        run_dir = opened(6, "search.batch=2", "search.lag=4", "search.num_drafts=4", at=cli)
        tickets = [asked(run_dir, number)["ticket"] for number in range(4)]
        with RunReader(run_dir) as reader:
            order = list(reader.tasks())
        tickets.sort(key=lambda ticket: order.index(ticket.partition(".")[0]))
        assert ask_the_run(run_dir, {"verb": "give_up", "ticket": tickets.pop(2)})["state"] == "expired"
        if killed:
            os.kill(int((run_dir / "run.lock").read_text()), signal.SIGKILL)
        number = 4
        while tickets:
            ticket = tickets.pop(0)
            own = PROGRAM.format(x=1 + int(ticket[:4], 16) / 1e5)
            ask_the_run(run_dir, {"verb": "tell", "ticket": ticket, "code": own, "seconds": 20})
            while (more := asked(run_dir, number, 1)["ticket"]) is not None:
                number += 1
                tickets.append(more)
        cli_waits_for_end(cli)
        shown = cli.show()
        found.append((shown["journal_sha256"], [node["operator"] for node in shown["nodes"]], shown["steps"]))
    assert found[0] == found[1]


def test_the_socket_is_this_users_alone_and_only_external_runs_have_one(opened, cli, finished):
    refused = cli.here("ask", "latest")
    assert refused.code == 2 and "its writer is rules" in refused.line


@pytest.mark.long
def test_the_socket_is_private(opened):
    run_dir = opened(1)
    assert (run_dir / SOCKET).stat().st_mode & 0o077 == 0
    with closing(sqlite3.connect(run_dir / "run.db")) as db:
        asked(run_dir, 1)
        assert token(1) not in json.dumps(db.execute("SELECT * FROM tickets").fetchall()), "only its hash is stored"
    assert call(run_dir / "nowhere", {"verb": "ask"}, 1) is None


# ------------------------------------------------------------ kills

BOUNDARIES = ("before:lease:2", "after:lease:2", "before:tell:1", "after:tell:2", "before:call:2", "after:call:1",
              "before:commit:2", "after:commit:2", "before:stage:2", "after:stage:1", "before:close:1",
              "after:close:1", "before:round:2", "after:round:2")  # fmt: skip


def played(run_dir: Path) -> None:
    """A writer that asks, gives its second ticket up, and tells all others; it begins again wherever it is cut off."""
    for number in range(1, 99):
        found = asked(run_dir, number)
        if found["next"] == "stop":
            return
        if found["ticket"] is None:
            continue
        if number == 2:
            ask_the_run(run_dir, {"verb": "give_up", "ticket": found["ticket"]})
        else:
            assert told(run_dir, found["ticket"], 1 + number / 10)["state"] == "committed"


@pytest.fixture(scope="module")
def reference() -> dict[str, Any]:
    return {}


@pytest.mark.long
@pytest.mark.parametrize(
    "boundary", ["", BOUNDARIES[1], *(pytest.param(b, marks=pytest.mark.long) for b in BOUNDARIES[::3])]
)
def test_a_kill_between_any_two_steps_loses_and_doubles_nothing(opened, cli, reference, boundary):
    run_dir = opened(4, **({"SWARM_EVO_FAULT": boundary} if boundary else {}))
    played(run_dir)
    cli_waits_for_end(cli)
    shown = cli.show()
    found = (shown["journal_sha256"], [node["node_id"] for node in shown["nodes"]], shown["best_metric"])
    assert reference.setdefault("found", found) == found
    with RunReader(run_dir) as reader:
        assert [call.role for call in reader.calls()].count("code") == 4, "nothing was told twice"
    assert verify_run(run_dir).verdict == "consistent"


# ------------------------------------------------------------ a marked block in a file

FILE = "import math\nN = 3\n# EVOLVE-BLOCK-START\nx = 1.0\n# EVOLVE-BLOCK-END\n\ndef answer():\n    return x\n"
JUDGE = """
import importlib.util
def evaluate(path):
    spec = importlib.util.spec_from_file_location("program", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return -abs(module.answer() - 2)
"""


@pytest.mark.long
def test_check_and_tell_say_what_is_done_to_a_file_with_a_marked_block(cli, tmp_path, eventually):
    for name, text in (("file.py", FILE), ("judge.py", JUDGE)):
        (tmp_path / name).write_text(text)
    ready = cli.folder / "ready"
    words = ("--problem=script", "problem.program=file.py", "problem.evaluator=judge.py", "search.max_steps=3")
    cli.start("run", "--writer=external", *words, "--idle=120", f"--ready={ready}")
    eventually(lambda: ready.is_file() and ready.read_text(), 60)
    work, program = tmp_path / "work", tmp_path / "work" / "program.py"
    ticket = cli.here("ask", "latest", "--dir", str(work), "--json").json["ticket"]
    assert program.read_text() == FILE
    bare = FILE.replace("# EVOLVE-BLOCK-START\n", "").replace("# EVOLVE-BLOCK-END\n", "").replace("1.0", "1.25")
    program.write_text(bare)
    for verb, code in (("check", 1), ("tell", 2)):
        said = cli.here(verb, "latest", ticket, "--dir", str(work))
        assert said.code == code and "keep the two marks where they stand" in said.out + said.err, verb
    program.write_text("\ufeff" + FILE.replace("1.0", "1.25"))
    assert cli.here("check", "latest", ticket, "--dir", str(work)).out == "ok\n", "a byte-order mark is no change"
    program.write_text(FILE.replace("x = 1.0", "x = 1.0\0"))
    said = cli.here("check", "latest", ticket, "--dir", str(work))
    assert said.code == 1 and f"NUL byte at line {FILE[: FILE.index('x = 1.0')].count(chr(10)) + 1}" in said.out, (
        said.out
    )
    program.write_text(FILE.replace("1.0", "1.5").replace("return x", "return 2"))
    told_back = "lines outside of the block were put back: 8 of what was handed in"
    said = cli.here("check", "latest", ticket, "--dir", str(work))
    assert said.out.splitlines() == ["ok", f"  warning: {told_back}"]
    found = cli.here("tell", "latest", ticket, "--dir", str(work), "--json").json
    assert (found["metric"], found["failure"]) == (-0.5, None), "the refused one took no step, the cheat won nothing"
    assert found["warnings"] == [told_back]
    assert cli.here("show", "latest", found["node_id"], "--json").json["message"] == told_back
    again = cli.here("ask", "latest", "--json").json["ticket"]
    (tmp_path / "block.py").write_text("x = 1.75\n")
    found = cli.here("tell", "latest", again, "--file", str(tmp_path / "block.py"), "--json").json
    assert (found["metric"], found["warnings"]) == (-0.25, []), "a block by itself is no doubt"
    asked_ = cli.here("ask", "latest", "--json").json
    last, (line,) = asked_["ticket"], re.findall(r"^x = .*$", asked_["files"]["program.py"], re.MULTILINE)
    change = f"<<<<<<< SEARCH\n{line}\n=======\nx = 2.0\n>>>>>>> REPLACE\n"
    (tmp_path / "reply.txt").write_text(f"Two.\n\n{change}")
    said = cli.here("check", "latest", last, "--file", str(tmp_path / "reply.txt"))
    assert said.out == "ok\n", "a reply is looked at as it would be read"
    (tmp_path / "reply.txt").write_text(f"Two.\n\n{change}<<<<<<< SEARCH\nx\n=======\n")
    said = cli.here("check", "latest", last, "--file", str(tmp_path / "reply.txt"))
    assert "block 2 (from 'x' on) has no line `>>>>>>> REPLACE` at the end of the reply" in said.out, "it was cut off"
    assert cli.here("give-up", "latest", last).code == 0


# ------------------------------------------------------------ Python

PAGE = (Path(__file__).parents[2] / "docs" / "tickets.md").read_text(encoding="utf-8")


@pytest.mark.long
def test_the_agent_of_the_documentation_runs(cli, capsys):
    (lines,) = re.findall(r"```python\n(.*?)```", PAGE, re.S)
    assert lines.count("\n") <= 10
    asked_for: list[str] = []

    def my_model(system: str, user: str) -> str:
        asked_for.append(system + user)
        return f"def priority(item, bins):\n    return -bins * {len(asked_for)}.0 + item * 0.5\n"

    exec(lines.replace('project_dir="."', f"project_dir={str(cli.folder)!r}"), {"my_model": my_model})
    told_ = capsys.readouterr().out.splitlines()
    assert (
        len(asked_for) == 3
        and len(told_) == 4
        and all(line.startswith(("committed", "duplicate")) for line in told_[:3])
    )
    assert told_[3].endswith(cli.run_dir.name)


@pytest.mark.long
def test_the_python_doors(cli, toy):
    (cli.folder / "toy.yaml").write_text(f"problem: {{kind: toy, plugins: '{PLUGINS}'}}\n")
    problem, place = str(cli.folder / "toy.yaml"), {"project_dir": cli.folder, "logging__report": False}
    with swarm_evo.open(problem, budget={"steps": 3}, idle=20, **place) as run:
        first = run.ask()
        assert run.check(first, code="x = (")["ok"] is False
        assert run.tell(first, code=PROGRAM.format(x=1.5), wait=False)["state"] in ("running", "committed")
        judged = run.wait(first)
        assert (judged["metric"], judged["then"], judged["over"]) == (0.5, "run.ask()", False)
        second = run.ask()
        assert run.ask(seconds=0.1) is None
        assert run.give_up(second)["state"] == "expired"
        third = run.ask()
    assert not (run.folder / SOCKET).exists(), "closed: nobody holds it"
    again = swarm_evo.open(run="latest", project_dir=cli.folder)
    assert again.name == run.name and again.facts["status"] == "interrupted"
    verdict = again.tell(third["ticket"], files={"program.py": PROGRAM.format(x=1.75)})
    assert (verdict["state"], verdict["metric"]) == ("committed", 0.25), "the ticket lived on, a process was started"
    assert again.best.metric == 0.25 and [node["metric"] for node in again.nodes()] == [0.5, 0.25]
    assert [row["run"] for row in swarm_evo.runs(project_dir=cli.folder)] == [run.name]
    again.close()
    with swarm_evo.open(run=run.name, budget={"steps": 4}, idle=20, project_dir=cli.folder) as more:
        assert more.facts["config"]["search"]["max_steps"] == 4, "what it is given holds"
    for fixed in ({"problem": "tsp"}, {"seed": 2}, {"program": "f.py"}):
        with pytest.raises(swarm_evo.SearchError, match=rf"{next(iter(fixed))}=…\): a run keeps what it searches"):
            swarm_evo.open(run=run.name, project_dir=cli.folder, **fixed)
    with pytest.raises(swarm_evo.SearchError, match="unknown run"):
        swarm_evo.open(run="nobody", project_dir=cli.folder)
    with pytest.raises(swarm_evo.SearchError, match=r"budget=.*steps"):
        swarm_evo.open(problem, budget={"steps": -1}, **place)


@pytest.mark.long
def test_what_cannot_be_asked_in_python_is_one_line_and_a_closed_run_answers_at_once(opened):
    run = swarm_evo.ExternalRun(opened(2))
    ticket = run.ask()
    wrong: dict[str, Callable[[], Any]] = {
        "code=b'x = 1' (bytes)": lambda: run.tell(ticket, code=b"x = 1"),
        "code=5 (int)": lambda: run.check(ticket, 5),
        "files=['x'] (list)": lambda: run.tell(ticket, files=["x"]),
        "files['program.py']=b'x' (bytes)": lambda: run.tell(ticket, files={"program.py": b"x"}),
        "one of them": lambda: run.tell(ticket, code="x = 1", files={"program.py": "x = 1"}),
        "`code`, or `files`": lambda: run.check(ticket),
        "plan=7 (int)": lambda: run.tell(ticket, "x = 1", plan=7),
        "ticket=None (NoneType)": lambda: run.tell(None, "x = 1"),
        "ticket={} (dict)": lambda: run.give_up({}),
        "ticket=b'x' (bytes)": lambda: run.wait(b"x"),
        "seconds=nan (float)": lambda: run.ask(seconds=float("nan")),
        "seconds=-1 (int)": lambda: run.wait(ticket, seconds=-1),
        "seconds='5' (str)": lambda: run.ask(seconds="5"),
        "idle='x' (str)": lambda: swarm_evo.open("tsp", idle="x"),
        "run=3 (int)": lambda: swarm_evo.open(run=3),
        "there is no argument foo=1 (int)": lambda: swarm_evo.open(foo=1),
    }
    for words, call_ in wrong.items():
        with pytest.raises(swarm_evo.SearchError, match=re.escape(words)):
            call_()
    assert run.tell(ticket, PROGRAM.format(x=1.5))["metric"] == 0.5, "none of it used the ticket up"
    run.ask()
    run.close()
    began = time.monotonic()
    for ask_ in (run.ask, lambda: run.tell(ticket, "x = 1"), lambda: run.wait(ticket), lambda: run.give_up(ticket)):
        with pytest.raises(swarm_evo.SearchError, match=rf"run {run.name} was closed here; swarm_evo\.open"):
            ask_()
    run.close()
    assert time.monotonic() - began < 25, "nothing is started and waited for"
    assert run.best.metric == 0.5 and len(run.nodes()) == 1, "what is known can still be looked at"


@pytest.mark.long
def test_a_program_longer_than_a_word_of_a_command_line_starts_a_process_too(opened):
    folder = opened(1)
    run = swarm_evo.ExternalRun(folder)
    ticket = run.ask()
    run.close()
    later = swarm_evo.ExternalRun(folder)
    found = later.check(ticket, PROGRAM.format(x=1.5) + "# long\n" * 50_000)
    assert found["ok"], found
    later.close()


def test_the_result_behind_the_last_verdict_is_the_end_of_the_run(cli):
    """The final score lacked: it was still being made."""
    options = f"{{kind: toy, plugins: '{PLUGINS}', options: {{final_seconds: 1.5}}}}"
    (cli.folder / "toy.yaml").write_text(f"problem: {options}\n")
    place = {"project_dir": cli.folder, "logging__report": False}
    with swarm_evo.open(str(cli.folder / "toy.yaml"), budget={"steps": 2}, idle=20, **place) as run:
        for x in (1.5, 1.75):
            ticket = run.ask()
            before = run.result()
            assert before.status == "running" and before.final_metric is None, "a search that goes on is not waited for"
            run.tell(ticket, code=PROGRAM.format(x=x))
        result = run.result()
        assert result.status == "finished" and result.final_metric == pytest.approx(0.251)
        assert run.best.node_id == result.best.node_id
