"""What a writer outside is told where something is in its way: whose ticket, whose verdict, which line, what broke."""

from __future__ import annotations

import io
import os
import re
import shlex
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.command_line import ROOT, Cli
from support.mcp_client import McpClient

import swarm_evo
from core.storage.reader import RunReader
from reports.outside import tickets
from runs.tickets import client as ticket_client
from runs.tickets.client import TAKEN_UP, ask_the_run

pytestmark = [pytest.mark.long, pytest.mark.usefixtures("forked_children")]

PROGRAM = "x = {x}\n# of what the writer outside thinks about the number above\n"


@pytest.fixture(autouse=True)
def soon_idle(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that was started for tickets ends with its test."""
    monkeypatch.setattr(ticket_client, "IDLE", 4.0)


@pytest.fixture
def opened(cli: Cli, toy: Callable[..., list[str]], eventually: Callable[..., Any]) -> Callable[..., Path]:
    """Start a run that waits for writers outside: its folder."""

    def open_(steps: int = 3, *more: str, **options: Any) -> Path:
        ready = cli.folder / "ready"
        cli.start("run", "--writer=external", *toy(steps, *more, **options), "--idle=120", f"--ready={ready}")
        eventually(lambda: ready.is_file() and ready.read_text(), 60)
        return cli.run_dir

    return open_


def asked(run_dir: Path, number: int, **more: Any) -> dict[str, Any]:
    return ask_the_run(run_dir, {"verb": "ask", "token": f"{number:032d}", "seconds": 10, **more})


def told(run_dir: Path, ticket: str, x: float) -> dict[str, Any]:
    while True:
        request = {"verb": "tell", "ticket": ticket, "code": PROGRAM.format(x=x), "seconds": 10}
        if (found := ask_the_run(run_dir, request))["state"] != "running":
            return found


def test_who_asks_in_vain_hears_which_ticket_is_in_the_way_and_how_it_gets_free(opened, cli, tmp_path):
    run_dir = opened(3)
    assert cli.here("ask", "latest", "--list").out == f"run {run_dir.name} has no open ticket\n"
    taken = cli.here("ask", "latest", "--dir", str(tmp_path / "lost"), "--json").json
    node = taken["node_id"]
    vain = cli.here("ask", "latest", "--seconds", "0")
    why = "no ticket: every proposal that search.batch has out at once is with a writer: "
    assert vain.code == 1 and vain.out.startswith(why)
    assert f"{node} with `ask --dir {tmp_path / 'lost'}` since " in vain.out and "min left" in vain.out
    assert vain.out.rstrip().endswith(f"free it with `give-up {run_dir.name} {node}`"), "not `latest`: another by then"
    listed = cli.here("ask", "latest", "--list")
    assert f"{node} with `ask --dir" in listed.out and f"give-up {run_dir.name} {node}" in listed.out
    (row,) = cli.here("ask", "latest", "--list", "--json").json["tickets"]
    assert row["node_id"] == node and 0 <= row["age_s"] < 60 and 3000 < row["left_s"] <= 3600
    assert taken["ticket"].partition(".")[2] not in str(row), "nobody is told another's token"
    run = swarm_evo.ExternalRun(run_dir)
    (again,) = run.tickets()
    assert again == {**row, "age_s": again["age_s"], "left_s": again["left_s"]}
    with McpClient(cli.folder) as client, McpClient(cli.folder, "--role", "writer") as writer:
        vain_ = client.call("ask", wait_s=0)
        assert vain_["open_tickets"][0]["node_id"] == node and vain_["run"] == run_dir.name
        assert f"give_up(ticket='{run_dir.name}/{node}')" in vain_["message"] and "`" not in vain_["message"][-60:]
        assert client.call("status")["tickets"][0]["holder"].startswith("`ask --dir")
        assert "give_up(" not in writer.call("ask", wait_s=0)["message"], "a writer frees none of another"
        for name in (node, f"{node}."):  # as a ticket whose token is empty it was freed
            assert "the user's to free" in writer.call("give_up", ticket=f"{run_dir.name}/{name}")["error"]
        assert ask_the_run(run_dir, {"verb": "give_up", "ticket": f"{node}."})["state"] == "refused"
        assert client.call("give_up", ticket=f"{run_dir.name}/{node}")["state"] == "expired"
        assert client.call("ask")["node_id"] != node
    assert told(run_dir, taken["ticket"], 1)["state"] == "expired", "its holder hears of it"
    (mine,) = run.tickets()
    assert re.fullmatch(rf".+ \(process \d+, in {re.escape(str(cli.folder))}\)", mine["holder"])
    with RunReader(run_dir) as reader:
        seen = {one["node_id"]: (one["state"], one["holder"]) for one in tickets(reader)}
    assert seen == {node: ("given_up", row["holder"]), mine["node_id"]: ("open", mine["holder"])}, (
        "the page shows these"
    )
    cli.here("give-up", "latest", mine["node_id"])
    assert run.tickets() == []


def test_who_lost_a_ticket_takes_it_over_by_its_node(opened, cli, tmp_path):
    """A command's process always ends: nobody else can know that its ticket was lost."""
    run_dir = opened(3)
    lost = cli.here("ask", "latest", "--dir", str(tmp_path / "lost"), "--json").json
    vain = cli.here("ask", "latest", "--seconds", "0").out
    (words,) = re.findall(rf"take it over with `(ask {run_dir.name} \w+)`", vain)
    assert f"take one over: python main.py {words}" in cli.here("ask", "latest", "--list").out
    found = cli.here(*words.split(), "--dir", str(tmp_path / "mine"), "--json").json
    assert found["node_id"] == lost["node_id"] and found["ticket"] != lost["ticket"]
    assert found["prompt"] == lost["prompt"] and (tmp_path / "mine" / "TASK.md").is_file()
    (row,) = cli.here("ask", "latest", "--list", "--json").json["tickets"]
    assert row["holder"] == f"`ask --dir {tmp_path / 'mine'}`" and row["age_s"] < 20
    assert told(run_dir, lost["ticket"], 1.25)["state"] == "refused", "it is nobody's any more"
    with McpClient(cli.folder, "--role", "writer") as writer, McpClient(cli.folder) as client:
        name = f"{run_dir.name}/{found['node_id']}"
        assert "the user's to free" in writer.call("ask", ticket=name)["error"]
        taken = client.call("ask", ticket=name)
        assert (taken["node_id"], taken["next"]) == (found["node_id"], "tell")
        assert told(run_dir, found["ticket"], 1.25)["state"] == "refused"
        assert client.call("tell", ticket=taken["ticket"], files={"program.py": PROGRAM.format(x=1.5)})["metric"] == 0.5
    assert cli.here("ask", "latest", found["node_id"], "--json").json["metric"] == 0.5, "told: what became of it"
    unknown = cli.here("ask", "latest", "nobody", "--json")
    assert unknown.code == 2 and "has no such ticket" in unknown.json["message"]


def test_a_hint_names_its_run_and_a_ticket_is_told_again_to_its_holder(opened, cli, tmp_path):
    run_dir = opened(2)
    said = cli.here("ask", "latest").out
    assert f"tell {run_dir.name} " in said and "latest" not in said
    (words,) = re.findall(r"the task: `python main.py (ask .*) --dir DIR`", said)
    again = cli.here(*words.split(), "--dir", str(tmp_path / "work"))
    assert again.code == 0 and again.out.startswith(said.partition("\n")[0]), "the same ticket, with its task"
    assert "Find x near 2" in (tmp_path / "work" / "TASK.md").read_text()
    ticket = words.split()[-1]
    told(run_dir, ticket, 1.5)
    vain = cli.here(*words.split(), "--json")
    assert (vain.json["ticket"], vain.json["metric"]) == (None, 0.5), "it is answered: that is what became of it"


def test_a_verdict_of_a_stopped_run_is_read_without_going_on(opened, cli, eventually):
    run_dir = opened(3)
    ticket = asked(run_dir, 1)["ticket"]
    assert told(run_dir, ticket, 1.5)["metric"] == 0.5
    swarm_evo.ExternalRun(run_dir).close()
    started = cli.show()["journal_head"]
    found = cli.here("wait", "latest", ticket, "--json").json
    assert (found["metric"], found["next"], cli.show()["journal_head"]) == (0.5, "ask", started), "nobody was started"
    again = asked(run_dir, 2)
    assert again["ticket"] and again["warnings"] == [TAKEN_UP], "who goes on with a stopped run is told so"
    assert "warnings" not in asked(run_dir, 2), "once"


@pytest.mark.parametrize("steps", [pytest.param(1), 2], ids=["after the end", "while it goes on"])
def test_the_second_program_of_a_ticket_is_told_that_it_was_not_taken(opened, cli, tmp_path, steps):
    run_dir = opened(steps)
    ticket = asked(run_dir, 1)["ticket"]
    node = ticket.partition(".")[0]
    assert told(run_dir, ticket, 1.5)["metric"] == 0.5
    again = told(run_dir, ticket, 1.5)
    assert (again["metric"], again["message"]) == (0.5, "") and "answered_before" not in again, (
        "the same one: a lost answer"
    )
    other = tmp_path / "other.py"
    other.write_text(PROGRAM.format(x=1.99))
    said = cli.here("tell", "latest", ticket, "--file", str(other))
    line = f"this ticket was answered already: its first program is node {node} and scored 0.5; yours was not taken"
    assert said.code == 1 and line in said.out and said.out.startswith("answered_before: true\nstate: committed\n")
    found = swarm_evo.ExternalRun(run_dir).tell(ticket, files={"program.py": PROGRAM.format(x=1.99)})
    assert (found["message"], found["metric"], found["improved"]) == (line, 0.5, False)
    run = swarm_evo.ExternalRun(run_dir)
    for verb, nothing in (("check", "nothing was checked"), ("give-up", "nothing was given up")):
        words = ["--file", str(other)] if verb == "check" else []
        late = cli.here(verb, "latest", ticket, *words, "--json")
        assert (late.code, late.json["answered_before"]) == (1, True) and late.json["message"].endswith(nothing), verb
        mine = run.check(ticket, code="x = 2\n") if verb == "check" else run.give_up(ticket)
        assert mine["answered_before"] and mine["message"].endswith(nothing)
        with McpClient(cli.folder) as client:
            files = {"files": {"program.py": "x = 2\n"}} if verb == "check" else {}
            there = client.call(verb.replace("-", "_"), ticket=f"{run_dir.name}/{ticket}", **files)
        assert there["answered_before"] and there["message"].endswith(nothing)


HOLDER = """
import sys, time
import swarm_evo
ticket = swarm_evo.open(run="latest", project_dir={folder!r}).ask(seconds=20)
print(ticket["ticket"], flush=True)
time.sleep(60)
"""


def test_the_ticket_of_a_python_process_that_was_killed_goes_to_the_next(opened, cli, caplog):
    run_dir = opened(3)
    child = subprocess.Popen(
        [sys.executable, "-c", HOLDER.format(folder=str(cli.folder))], stdout=subprocess.PIPE, text=True, cwd=ROOT
    )
    assert child.stdout is not None
    lost = child.stdout.readline().strip()
    run = swarm_evo.ExternalRun(run_dir)
    assert lost and run.ask(seconds=0) is None, "its holder lives"
    child.kill()
    child.communicate()
    found = run.ask(seconds=10)
    assert found is not None and found["ticket"] == lost
    assert [row["holder"] for row in run.tickets()] == [f"Python process {os.getpid()} ({Path(sys.argv[0]).name})"]
    assert run.tell(lost, code=PROGRAM.format(x=1.5))["metric"] == 0.5
    assert run.ask(seconds=10) is not None and run.ask(seconds=1.5) is None
    assert f"Python process {os.getpid()}" in caplog.text and ", that is you," in caplog.text


def test_the_page_of_a_folder_says_what_its_door_wants(opened, cli, tmp_path):
    run_dir = opened(2)
    asked_ = cli.here("ask", "latest", "--dir", str(tmp_path / "work"), "--json").json
    page = (tmp_path / "work" / "TASK.md").read_text()
    assert "Answer in two parts" in asked_["prompt"]["system"], "a model can be asked as it is"
    assert "Answer in two parts" not in page and "write what is to run into program.py" in page.lower()
    assert f"tell {run_dir.name} {asked_['ticket']} --dir {tmp_path / 'work'}" in page
    cli.here("give-up", "latest", asked_["ticket"])
    with McpClient(cli.folder) as client:
        mine = client.call("ask")
        assert (
            "Answer in two parts" not in mine["prompt"]["system"] and "by the tool `tell`" in mine["prompt"]["system"]
        )
        client.call("give_up", ticket=mine["ticket"])
        laid = client.call("ask", dir=str(tmp_path / "tools"))
        page = (tmp_path / "tools" / "TASK.md").read_text()
        assert f"tell(ticket='{laid['ticket']}', dir='{tmp_path / 'tools'}', note=" in page and "--dir" not in page


def test_a_folder_with_a_program_of_the_users_own_is_refused_and_the_ticket_comes_again(opened, cli, tmp_path):
    """At both doors: a coding agent asks into the folder that it works in."""
    opened(2)
    (mine := tmp_path / "mine").mkdir()
    (mine / "program.py").write_text("my own\n")
    ended = cli.here("ask", "latest", "--dir", str(mine))
    assert ended.code == 2 and "what lies there as program.py is of no ticket" in ended.line
    (again,) = re.findall(r"main.py (ask .*) --dir OTHER`", ended.line)
    laid = cli.here(*shlex.split(again), "--dir", str(tmp_path / "other"), "--json").json
    assert laid["ticket"] == shlex.split(again)[2] and (tmp_path / "other" / "program.py").is_file()
    cli.here("give-up", "latest", laid["ticket"])
    with McpClient(cli.folder) as client:
        refused = client.call("ask", dir=str(mine))["error"]
        (ticket,) = re.findall(r"ask\(ticket='(.*)', dir=…\)", refused)
        assert client.call("ask", ticket=ticket, dir=str(tmp_path / "third"))["ticket"] == ticket
    assert (mine / "program.py").read_text() == "my own\n" and [path.name for path in mine.iterdir()] == ["program.py"]


def test_a_step_by_hand_says_whom_it_waits_for(cli, toy, tmp_path):
    child = cli.start("step", *toy(1), "--llm=external")
    line = next(line for line in child.stdout if "in another window" in line)  # before it, what takes long
    (words,) = re.findall(r"`.*main\.py (ask .*)` in another window", line)
    ticket = cli.here(*shlex.split(words), "--dir", str(tmp_path / "work"), "--json").json["ticket"]
    (tmp_path / "work" / "program.py").write_text(PROGRAM.format(x=1.5))
    assert cli.here("tell", "latest", ticket, "--dir", str(tmp_path / "work")).code == 0
    out, err = child.communicate(timeout=60)
    assert child.returncode == 0 and "step 1" in out and ": 0.5 *best candidate*" in out, out + err


def test_an_evaluator_that_breaks_in_a_look_is_told_in_one_line(opened, cli, tmp_path):
    run_dir = opened(1, breaks="check")
    ticket, program = asked(run_dir, 1)["ticket"], tmp_path / "program.py"
    program.write_text(PROGRAM.format(x=13))
    said = cli.here("check", "latest", ticket, "--file", str(program))
    assert said.code == 2 and "check broke inside: LookupError: the evaluator lost its table" in said.line
    assert "Traceback" in (run_dir / "system.log").read_text()
    program.write_text(PROGRAM.format(x=1.5))
    assert cli.here("check", "latest", ticket, "--file", str(program)).out == "ok\n", "the run lives on"


def test_an_evaluator_that_breaks_behind_a_tell_is_told_in_one_line(opened, cli, tmp_path):
    run_dir = opened(1, breaks="evaluate")
    ticket, program = asked(run_dir, 1)["ticket"], tmp_path / "program.py"
    program.write_text(PROGRAM.format(x=13))
    said = cli.here("tell", "latest", ticket, "--file", str(program))
    assert said.code == 1 and "the run broke off: LookupError: the evaluator lost its table" in said.out
    later = cli.here("wait", "latest", ticket)
    assert later.code == 1 and "LookupError: the evaluator lost its table" in later.out + later.err, (
        "again, once resumed"
    )
    with pytest.raises(swarm_evo.SearchError, match="LookupError: the evaluator lost its table"):
        swarm_evo.ExternalRun(run_dir).ask(seconds=20)


# ------------------------------------------------------------ lines

FILE = """import math
N = 3

# EVOLVE-BLOCK-START
def x():
    return 1.0
# EVOLVE-BLOCK-END

def answer():
    return x()
"""
TOP = FILE.partition("# EVOLVE")[0]
JUDGE = """
import importlib.util
def evaluate(path):
    spec = importlib.util.spec_from_file_location("program", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return -abs(module.answer() - 2)
"""


def test_lines_are_counted_in_the_file_that_was_handed_in(cli, tmp_path, eventually):
    """A file whose top is missing, or the block alone: the numbers are those that its writer sees."""
    for name, text in (("file.py", FILE), ("judge.py", JUDGE)):
        (tmp_path / name).write_text(text)
    ready = cli.folder / "ready"
    words = ("--problem=script", "problem.program=file.py", "problem.evaluator=judge.py", "search.max_steps=9")
    cli.start("run", "--writer=external", *words, "--idle=120", f"--ready={ready}")
    eventually(lambda: ready.is_file() and ready.read_text(), 60)
    program = tmp_path / "handed.py"
    ticket = cli.here("ask", "latest", "--json").json["ticket"]
    without_top = FILE.removeprefix(TOP)
    block = "def x():\n    return 1.0\n"
    for name, text in (("whole", FILE), ("without its top", without_top), ("the block alone", block)):
        broken = text.replace("return 1.0", "return 1.0 +")
        number = 1 + broken.split("\n").index("    return 1.0 +")
        program.write_text(broken)
        said = cli.here("check", "latest", ticket, "--file", str(program)).out
        assert re.findall(r"line (\d+)", said) == [str(number)], (name, said)
    for value, text in enumerate((without_top, block), 3):
        raising = text.replace("return 1.0", f"return {value} / 0")
        number = 1 + raising.split("\n").index(f"    return {value} / 0")
        program.write_text(raising)
        found = cli.here("tell", "latest", ticket, "--file", str(program), "--json").json
        assert "ZeroDivisionError" in found["message"]
        ticket = cli.here("ask", "latest", "--json").json["ticket"]
        frames = re.findall(r'File "[^"]*(?:solution|program)\.py", line (\d+), in x', found["output_tail"])
        assert frames == [str(number)], found["output_tail"]


def test_people_read_what_failed_where_and_what_to_type_next(cli, tmp_path, eventually, monkeypatch):
    for name, text in (("file.py", FILE), ("judge.py", JUDGE)):
        (tmp_path / name).write_text(text)
    ready = cli.folder / "ready"
    words = ("--problem=script", "problem.program=file.py", "problem.evaluator=judge.py", "search.max_steps=1")
    cli.start("run", "--writer=external", *words, "--idle=120", f"--ready={ready}")
    eventually(lambda: ready.is_file() and ready.read_text(), 60)
    ticket, program = cli.here("ask", "latest", "--json").json["ticket"], tmp_path / "mine.py"
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    vain = cli.here("tell", "latest", ticket)
    assert vain.code == 2 and "nothing on standard input; give --dir or --file" in vain.line
    program.write_text(FILE.replace("return 1.0", "return 1 / 0"))
    said = cli.here("tell", "latest", ticket, "--file", str(program))
    assert said.code == 0 and "ZeroDivisionError" in said.out and "journal_head" not in said.out
    assert 'File "program.py", line 6, in x' in said.out and "/workspace" not in said.out
    ended = cli.here("ask", "latest", "--seconds", "20")
    assert ended.out.splitlines()[-1] == f"next: python main.py export-best {cli.run_dir.name}"


@pytest.mark.parametrize("more", [(), ("search.batch=2",), ("search.batch=2", "search.schedule=rounds")])
def test_a_stopped_run_can_end_below_what_was_proposed_and_nobody_began(cli, toy, eventually, more):
    """It counted as begun: nobody could end the run before somebody had written it."""
    ready = cli.folder / "ready"

    def going(*words: str) -> subprocess.Popen[str]:
        ready.unlink(missing_ok=True)
        child = cli.start(*words, "--idle=120", f"--ready={ready}")
        eventually(lambda: ready.is_file() and ready.read_text(), 60)
        return child

    child = going("run", "--writer=external", *toy(8, *more))
    tickets_ = [asked(cli.run_dir, number)["ticket"] for number in range(2 if more else 1)]
    for number, ticket in enumerate(tickets_):
        thread = threading.Thread(target=told, args=(cli.run_dir, ticket, 1.5 + number / 8))
        thread.start()
    eventually(lambda: cli.show()["steps"] == len(tickets_), 60)
    done = len(tickets_)
    held = [asked(cli.run_dir, 7)["ticket"]] if more else []
    child.send_signal(signal.SIGINT)
    assert child.wait(30) == 130

    refused = cli.here("resume", "latest", f"search.max_steps={done - 1}")
    assert refused.code == 2 and f"allowed: {done + len(held)} or more" in refused.line
    child = going("resume", "latest", f"search.max_steps={done + len(held)}")
    if held:
        assert told(cli.run_dir, held[0], 1.875)["state"] == "committed"
    out, err = child.communicate(timeout=60)
    assert child.returncode == 0 and "that nobody had begun" in out, out + err
    assert cli.show()["steps"] == done + len(held) and cli.show()["status"] == "finished"
    assert cli.here("replay", "latest", "--verify").code == 0

    child = going("resume", "latest", f"search.max_steps={done + len(held) + 1}")
    assert told(cli.run_dir, asked(cli.run_dir, 8)["ticket"], 1.9375)["state"] == "committed"
    assert child.wait(60) == 0
    verified = cli.here("replay", "latest", "--verify")
    assert verified.code == 0, verified.out
    with RunReader(cli.run_dir) as reader:
        assert len(tickets(reader)) == done + len(held) + 1, "what was withdrawn was nobody's ticket"
    assert cli.here("verify", "latest").code == 0


def test_an_ended_run_sends_nobody_with_a_wrong_ticket_to_ask(opened, cli, tmp_path):
    """The command line, Python and MCP say one thing, whatever is done with the ticket."""
    run_dir = opened(1)
    assert told(run_dir, asked(run_dir, 1)["ticket"], 1.5)["state"] == "committed"
    run = swarm_evo.ExternalRun(run_dir)
    assert run.ask() is None, "the search was over with it"
    file = tmp_path / "other.py"
    file.write_text("x = 1\n")
    answers = [run.tell("zz", code="x = 1"), run.check("zz", code="x = 1"), run.give_up("zz"), run.wait("zz")]
    for verb in ("tell", "check", "give-up", "wait"):
        words = ["--file", str(file)] if verb in ("tell", "check") else []
        ended = cli.here(verb, "latest", "zz", *words, "--json")
        assert ended.code == 2, verb
        answers.append(ended.json)
    for found in answers:
        assert (found["state"], found["next"], found["over"]) == ("refused", "stop", True)
        assert (found["metric"], found["best"]["metric"], found["budget"]["steps_left"]) == (None, 0.5, 0)
        assert found["message"] == f"run {run_dir.name} has ended, and has no such ticket"
    with McpClient(cli.folder) as client:
        there = client.call("give_up", ticket=f"{run_dir.name}/zz")
    assert there["over"] and there["next"] == "export_best" and there["error"] == answers[0]["message"]
