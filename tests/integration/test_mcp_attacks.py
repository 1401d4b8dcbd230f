"""The server of tools by raw lines, from a client that means no good or is broken: one answer each, and it lives on."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from support.command_line import PLUGINS, Cli
from support.forked_main import MAIN, ForkedPopen
from support.mcp_client import McpClient

from core.storage.held import is_held


def line(**message: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"


PING = line(id="after", method="ping")
LINES = [
    (b"[" * 100_000 + b"\n", None), (b'{"a":' * 100_000 + b"\n", None), (b"\0\0\n", None),
    (b'{"id":1,"x":"\xff"}\n', 1), (b"[" + line(id=1, method="ping").strip() + b"]\n", None),
    (b'{"id":' + b"9" * 5000 + b',"method":"ping"}\n', None), (b'{"id":1e400,"method":"ping"}\n', None),
    (line(id=True, method="ping"), None), (line(id=2**70, method="ping"), 2**70),
    (line(id=3, method="nonsense\x1b[2J"), 3), (line(id=4, method="tools/call", params=[1]), 4),
    (line(id=5, method="tools/call", params={"name": ["x"] * 9}), 5),
    (line(id=6, method="tools/call", params={"name": "status", "arguments": [1], "_meta": [1]}), 6),
    (line(id=7, method="initialize", params={"protocolVersion": {}, "clientInfo": [1]}), 7),
    (line(id=8, method="tools/call", params={"name": "list_runs", "_meta": {"progressToken": [1]}}), 8),
]  # fmt: skip


def test_a_server_answers_each_line_once_and_lives_on(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    given = b"".join(sent for sent, _ in LINES) + line(method="tools/call", params={"name": "list_runs"}) + PING
    done = subprocess.run([sys.executable, MAIN, "mcp"], input=given, capture_output=True, cwd=tmp_path, timeout=60)
    told = [json.loads(one, parse_constant=pytest.fail) for one in done.stdout.splitlines()]
    assert sorted(str(one["id"]) for one in told) == sorted(str(number) for _, number in [*LINES, (b"", "after")])
    assert done.returncode == 0 and not done.stderr and b"\x1b" not in done.stdout


@pytest.mark.parametrize("how", ["<&-", ">&-", "<&- >&- 2>&-", "> /dev/full", "2>&-"])
def test_streams_that_are_closed_or_full_are_no_fault_of_ours(tmp_path: Path, how: str) -> None:
    command = ["sh", "-c", f'exec "$0" "$1" mcp {how}', sys.executable, str(MAIN)]
    done = subprocess.run(command, input=PING, capture_output=True, cwd=tmp_path, timeout=60)
    assert done.returncode == 0 and not done.stderr, done


@pytest.fixture
def client(tmp_path: Path) -> Any:
    """One of a run that waits for its writers."""
    (tmp_path / "toy.yaml").write_text(f"problem: {{kind: toy, plugins: '{PLUGINS}'}}\nlogging: {{report: false}}\n")
    with McpClient(tmp_path) as opened:
        planned = opened.call("plan_run", problem="toy.yaml", steps=30, settings={"search.batch": 2})
        opened.call("start_run", confirm=planned["confirm"])
        yield opened
    for lock in tmp_path.glob("logs/*/run.lock"):
        if is_held(lock.parent):
            os.kill(int(lock.read_text()), signal.SIGTERM)
        while is_held(lock.parent):
            time.sleep(0.05)


DEEP = json.loads("[" * 400 + "]" * 400)
ODD: list[Any] = [
    None, True, -1, 2**70, float("nan"), "", "\ud800", "../../etc/passwd", "\x1b[2J\n", DEEP, {"a": DEEP},
    {"\0": "\ud800"},
]  # fmt: skip
STARTS = ("plan_run", "start_run", "stop_run", "resume_run", "export_best")
"""Tools that may start a process or end one: those are tried with what is wrong at a look."""
PROGRAMS = ["x = 1  # \ud800\n", "x = 1  # \0\n", "x = 1  # \x1b]0;title\x07\n", "x = " + "(" * 3000 + "1" + ")" * 3000]


def test_no_argument_breaks_a_call_and_the_journal_is_whole_afterwards(client: McpClient, tmp_path: Path) -> None:
    own = client.call("ask")["ticket"]
    needed = {"ticket": f"{own.partition('/')[0]}/x.y", "node": "x", "confirm": "x", "text": "x"}
    for tool in client.request("tools/list")["tools"]:
        name, schema = tool["name"], tool["inputSchema"]
        for argument, value in ((argument, value) for argument in schema["properties"] for value in ODD):
            if (name in STARTS and not (isinstance(value, list | dict) or value == "\ud800")) or argument == "dir":
                continue
            given = {one: needed[one] for one in schema.get("required", ())}
            given |= {"wait_s": 0} if "wait_s" in schema["properties"] else {}
            number = client.send("tools/call", name=name, arguments={**given, argument: value})
            answer = client.answer(number)["result"]
            assert "inside" not in str(answer["structuredContent"].get("error")), (name, argument, value)
    for row in client.call("status")["tickets"]:
        client.call("give_up", ticket=f"{own.partition('/')[0]}/{row['node_id']}")
    for text in PROGRAMS:
        ticket = client.call("ask")["ticket"]
        found = client.call("tell", ticket=ticket, files={"program.py": text})
        while found["state"] == "running" and found["next"] == "wait":
            found = client.call("wait", ticket=ticket)
        assert found["state"] in ("committed", "duplicate", "refused", "running"), found
        assert "inside" not in str(found), found
        if found["state"] == "refused":
            client.call("give_up", ticket=ticket)
    client.call("stop_run")
    verified = Cli(tmp_path).here("verify", "latest")
    assert verified.code == 0, verified


def test_what_ends_the_server_in_a_call_loses_no_program(client: McpClient, tmp_path: Path) -> None:
    with McpClient(tmp_path) as other:
        ticket = other.call("ask")["ticket"]
        other.send("tools/call", name="tell", arguments={"ticket": ticket, "files": {"program.py": "x = 1.25\n"}})
        other.child.communicate(timeout=60)
        assert other.child.returncode == 0
    assert client.call("wait", ticket=ticket)["metric"] == 0.75


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_in_one_line_at_most(tmp_path: Path, number: int) -> None:
    words = [sys.executable, MAIN, "mcp"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    child = ForkedPopen(words, cwd=tmp_path, text=True, **pipes)
    assert child.stdin is not None and child.stdout is not None
    child.stdin.write(PING.decode())
    child.stdin.flush()
    assert json.loads(child.stdout.readline())["id"] == "after"
    child.send_signal(number)
    _, said = child.communicate(timeout=30)
    assert child.returncode and "Traceback" not in said and len(said.splitlines()) < 2, said
