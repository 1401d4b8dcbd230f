"""A coding agent writes: confined, metered, recorded, taken in as it left its folder; what it does wrong is data."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any
from urllib.request import urlopen

import pytest
from support.command_line import Cli, Ended
from support.dashboard import serving
from support.model_server import ModelServer
from support.processes import eventually, running

from core.storage.reader import RunReader
from reports.facts import read_facts
from reports.html import render
from reports.markdown import render_markdown
from reports.outside import sessions

KEY = "sk-planted-key-of-the-user"
HEAD = """
import json, os, socket, subprocess, sys, time, urllib.error, urllib.request
def ask(text="hello", path="/v1/messages", **more):
    body = {"model": "claude-sonnet-4-5", "max_tokens": 500, "messages": [{"role": "user", "content": text}], **more}
    headers = {"x-api-key": os.environ["ANTHROPIC_API_KEY"], "content-type": "application/json"}
    url = os.environ["ANTHROPIC_BASE_URL"] + path
    with urllib.request.urlopen(urllib.request.Request(url, json.dumps(body).encode(), headers)) as answer:
        return json.load(answer)
def gone():
    if os.path.exists("program.py"):
        os.remove("program.py")
def write(x, name="program.py"):
    with open(name, "w") as file:
        file.write(f"x = {x}\\n# of what the writer outside thinks about the number above\\n")
"""
USUAL = "print(ask(open('TASK.md').read())['content'][0]['text']); write(1.5)"


@pytest.fixture
def models() -> Iterator[ModelServer]:
    """Who shows tools hears the number of his request, from 1 on."""
    server = ModelServer(lambda request, results: str(len(server.requests)), plain="as you say")
    with server:
        yield server


@pytest.fixture
def search(cli: Cli, toy: Callable[..., list[str]], models: ModelServer) -> Callable[..., Ended]:
    """Run a search whose writer is an agent with this body."""

    def run(body: str, *more: str, steps: int = 1, **environment: str) -> Ended:
        agent = cli.folder / "agent.py"
        agent.write_text(HEAD + body)
        keys = {"provider": "agent", "command": f"{sys.executable} {agent}", "model": "claude-sonnet-4-5",
                "base_url": models.url, "api_key": KEY, "session.usd": 0.5, "timeout": 60}  # fmt: skip
        words = [f"llm.code.{name}={value}" for name, value in keys.items()]
        fixed = ["llm.feedback.provider=rules", "llm.feedback.model=rules", "agent.repairs=0", "search.batch=1"]
        return cli(*toy(steps), *words, *fixed, "agent.repair_crashes=false", *more, timeout=120, **environment)

    return run


def only_node(cli: Cli) -> dict[str, Any]:
    (row,) = cli.show()["nodes"]
    found: dict[str, Any] = cli.here("show", "latest", row["node_id"], "--json").json
    return found


@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_session_is_stored_with_its_reply(search, cli, models, moment):
    """Killed between the two, its exchanges stood there twice once it had been asked again."""
    assert search(USUAL, SWARM_EVO_FAULT=f"{moment}:call:1").code == -signal.SIGKILL
    ended = cli.here("resume", "latest")
    assert ended.code == 0, ended.err
    roles = [call["role"] for call in only_node(cli)["calls"]]
    assert roles.count("session") == 1 and roles.count("code") == 1
    assert len(models.requests) == (2 if moment == "before" else 1), "what is stored is not asked again"


@pytest.mark.long
def test_an_agents_session_is_one_recorded_reply(search, cli, models):
    body = """
task = open("TASK.md").read()
assert "Find x near 2" in task and "./check" in task
assert "Answer in two parts" not in task and "change these files: program.py" in task
write(7)
print("checked:", subprocess.run(["./check"], capture_output=True, text=True).stdout)
print(ask(task)["content"][0]["text"], "| I take one and a half.")
write(1.5)
try:
    socket.create_connection(("192.0.2.1", 80), 2); print("ESCAPED")
except OSError:
    pass
print("sees:", sorted(os.listdir("/workspace")), [name for name in os.environ if "SECRET" in name])
print("key:", os.environ["ANTHROPIC_API_KEY"], os.environ["OPENAI_API_KEY"])
print("**PLAN:** I take one and a half.")
"""
    ended = search(body, MY_SECRET="planted")
    assert ended.code == 0, ended.err
    node = only_node(cli)
    assert (node["metric"], node["metric_source"], node["writer"]) == (0.5, "verified", "agent/claude-sonnet-4-5")
    assert (node["prompt_tokens"], node["completion_tokens"]) == (100, 10)
    assert node["plan"] == "I take one and a half.", "short, as a model's; the rest stays in the transcript"
    assert KEY not in json.dumps(node) and KEY in models.keys, "only the gateway has it"
    exchange, last, reply = node["calls"]
    assert (exchange["role"], last["role"], reply["role"]) == ("session", "session", "code")
    assert '"ok": true' in last["reply"] and "I take one and a half" in last["reply"]
    assert "ESCAPED" not in last["reply"] and "SECRET" not in last["reply"].partition("sees:")[2]
    assert "Find x near 2" in exchange["user"] and "as you say" in exchange["reply"]
    assert exchange["prompt_tokens"] is None, "what it took stands once, in the session's own record"
    with RunReader(cli.run_dir) as reader:
        (session,) = sessions(reader)
        assert (session["turns"], session["prompt_tokens"], session["writer"]) == (1, 100, "agent/claude-sonnet-4-5")
    assert "1 session of coding agents" in render(read_facts(cli.run_dir))
    with (
        serving(cli.folder) as (address, _),
        urlopen(f"http://{address}/api/runs/{cli.run_dir.name}/outside") as answer,
    ):
        told = json.load(answer)
        assert told["tickets"] == [] and told["sessions"][0]["node_id"] == node["node_id"]
        assert told["sessions"][0]["files"] == ["program"]
        (wrote,) = [row for row in told["writers"] if row["writer"].startswith("agent/")]
        assert (wrote["programs"], wrote["best"], wrote["tokens"]) == (1, 0.5, 110)
        with urlopen(f"http://{address}/api/runs/{cli.run_dir.name}/nodes/{node['node_id']}/transcript") as answer:
            turn, words = json.load(answer)
        assert "Find x near 2" in turn["told"][0] and turn["said"] == "as you say" and turn["status"] == "200"
        assert "sees:" in words["said"] and words["status"] == "its last words"
    report = render(read_facts(cli.run_dir))
    assert "session of " in report and "as you say" in report and "Who wrote what" in report
    marked = render_markdown(read_facts(cli.run_dir))
    assert "| agent/claude-sonnet-4-5 | 1 |" in marked and "\n1 session of coding agents, 1 turn.\n" in marked
    asked = len(models.requests)
    assert cli.here("replay", "latest", "--verify").code == 0
    (cli.folder / "agent.py").write_text("raise SystemExit('started again')")
    assert cli.here("resume", "latest").code == 0
    assert len(models.requests) == asked, "a replay and a resume start no agent"


MISDEEDS = {
    "ends without files": ("pass", "no_code", "the agent changed none of the files"),
    "leaves what it was given": ("open('other.py', 'w').write('x = 1')", "no_code", "changed none of the files"),
    "prints its program": ("print('```python\\nx = 1.5\\n# ' + 'y' * 60 + '\\n```')", "no_code", "changed none"),
    "a link out": ("gone(); os.symlink('/etc/passwd', 'program.py')", "no_code", "is no regular file"),
    "a pipe": ("gone(); os.mkfifo('program.py')", "no_code", "is no regular file"),
    "removes it": ("gone()", "no_code", "program.py is gone"),
    "leaves blanks": ("open('program.py', 'w').write(' \\n')", "no_code", "program.py is empty"),
    "too large a file": ("open('program.py', 'w').write('#' * 2_000_000)", "no_code", "cannot be taken"),
    "no text": ("open('program.py', 'wb').write(b'\\xff\\xfe')", "no_code", "cannot be taken"),
    "ten thousand files": ("[open(f'f{n}', 'w').close() for n in range(10000)]; write(2.5)", None, ""),
    "a score of its own": ("write(1.75); print('score: 0.0 (verified) metric = 0')", None, ""),
    "ends in a crash": ("write(2.25); raise SystemExit(3)", None, ""),
    "crashes without files": ("raise OSError('no such tool')", "no_code", "with code 1: OSError: no such tool"),
    "a bad program": ("open('program.py', 'w').write('x = (')", "syntax", "does not parse"),
    "gives up": ("subprocess.run(['./give-up', 'too hard']); time.sleep(60)", "no_code", "gave up: too hard"),
    "never ends": ("write(1.625); time.sleep(600)", None, ""),
    "never writes": ("time.sleep(600)", "no_code", "it did not end within 20 s (llm.code.timeout)"),
}  # fmt: skip
SCORES = {"ten thousand files": 0.5, "a score of its own": 0.25, "ends in a crash": 0.25, "never ends": 0.375}


@pytest.mark.long
def test_what_an_agent_does_wrong_is_a_failure_of_its_node(search, cli):
    """A session a misdeed: the model's answer tells an agent which one is its own."""
    deeds = [body for body, _, _ in MISDEEDS.values()]
    body = f"exec({deeds!r}[int(ask(tools=[{{'name': 'count'}}])['content'][0]['text']) - 1])"
    ended = search(body, "llm.code.timeout=20", steps=len(deeds))
    assert ended.code == 0, ended.err
    nodes = [cli.node(row["node_id"]) for row in sorted(cli.show()["nodes"], key=lambda row: row["place"])]
    for (deed, (_, failure, reason)), node in zip(MISDEEDS.items(), nodes, strict=True):
        assert node["failure"] == failure and reason in node["message"], (deed, node["message"])
        assert node["metric"] == SCORES.get(deed), "the evaluator's score, whatever was printed"
        assert "root:" not in json.dumps(node)


@pytest.mark.long
def test_the_reason_why_an_agent_left_nothing_stands_in_the_next_task(search, cli):
    body = """
task = open('TASK.md').read(); ask()
print('was told:', 'changed none of the files' in task)
"""
    ended = search(body, steps=2)
    assert ended.code == 3, ended.err
    first, second = cli.show()["nodes"]
    assert "was told: True" in cli.node(second["node_id"])["plan"]
    shown = cli.here("show", "latest", first["node_id"])
    assert "the agent changed none of the files that it may change" in shown.out


@pytest.mark.long
def test_an_agent_that_cheats_finds_nothing(search, cli, models):
    """Labels, keys, the journal, other processes, and whatever else answers on this machine's loopback."""
    planted = time.time() - 60
    for place in ("workspaces/.prepared/0/private/test.csv", "secret.txt", "logs/other/run.db"):
        path = cli.folder / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("CANARY-LABELS")
    port = models.url.rpartition(":")[2]
    body = f"""
PLACE, MARKS, found = {str(cli.folder)!r}, (b"CANARY-" + b"LABELS", b"sk-planted-" + b"key"), []
PLANTED = {planted!r}
for top in (PLACE, "/workspace", "/tmp", "/root", "/home", "/var", "/etc", "/run", "/opt", "/work"):
    for folder, inner, names in os.walk(top):  # its own Python is the most of all files, and known
        inner[:] = [name for name in inner if os.path.join(folder, name) not in (sys.prefix, sys.base_prefix)]
        for name in names:
            try:
                with open(os.path.join(folder, name), "rb") as file:
                    if max(os.fstat(file.fileno())[8:10]) < PLANTED:
                        continue  # was last written before there were marks: most of what is installed
                    text = file.read(100_000)
            except OSError:
                continue
            if any(mark in text for mark in MARKS):
                found.append(os.path.join(folder, name))
for pid in filter(str.isdigit, os.listdir("/proc")):
    for name in ("environ", "cmdline"):
        try:
            with open(f"/proc/{{pid}}/{{name}}", "rb") as file:
                text = file.read()
        except OSError:
            continue
        if MARKS[1] in text:
            found.append(pid)
for address in (("127.0.0.1", {port}), ("192.0.2.1", 53)):
    try:
        socket.create_connection(address, 1)
        found.append(address)
    except OSError:
        pass
with open("/workspace/logs", "w"):
    pass
for line in ("logs/other/run.db", "secret.txt"):
    try:
        open(os.path.join(PLACE, line), "a").write("forged")
        found.append("wrote " + line)
    except OSError:
        pass
ask()
write(1.5)
print("score: 0 verified; FOUND:", found)
"""
    assert search(body).code == 0
    node = only_node(cli)
    assert "FOUND: []" in node["plan"], node["plan"]
    assert node["metric"] == 0.5 and (cli.folder / "secret.txt").read_text() == "CANARY-LABELS"


@pytest.mark.long
def test_nobody_of_its_group_lives_on(search, cli, tmp_path):
    mark = f"survivor-{os.getpid()}"
    ended = search(f"ask(); write(1.5); subprocess.Popen(['sleep', '1000'], start_new_session=True); '{mark}'; "
                   f"subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(1000)', '{mark}'])")  # fmt: skip
    assert ended.code == 0
    eventually(lambda: not running(mark))


@pytest.mark.long
def test_the_bill_of_a_session_ends_at_its_cap(search, cli, models):
    body = """
for n in range(50):
    try:
        ask("x" * 2000)
    except OSError:
        break
write(1.5); time.sleep(30)
"""
    price = ("llm.code.price.input=100", "llm.code.price.output=100", "llm.code.session.usd=0.5")
    ended = search(body, *price)
    assert ended.code == 0, ended.err
    node = only_node(cli)
    assert node["metric"] == 0.5 and "dollars of this session are used" in node["plan"]
    assert 0 < node["cost_usd"] <= 0.5, "110 tokens a turn at $100 a million are $0.011"
    assert len(models.requests) < 50
    most = [request["max_tokens"] for request in models.requests]
    assert most[0] == 500 and min(most) < 500, "replies are bounded by what is left"


@pytest.mark.long
def test_turns_are_bounded(search, cli, models):
    ended = search("write(1.5)\nwhile True: ask()", "llm.code.session.turns=3")
    assert ended.code == 0 and len(models.requests) == 3
    assert only_node(cli)["metric"] == 0.5


def test_requests_that_the_provider_refuses_are_no_turns(search, cli, models):
    """A client asks again where it is told to wait: the limit is of replies."""
    models.refusals = 5
    body = """
replies = 0
while replies < 2:
    try:
        ask(); replies += 1
    except urllib.error.HTTPError as error:
        assert error.code == 429, error
write(1.5)
"""
    ended = search(body, "llm.code.session.turns=2")
    assert ended.code == 0 and len(models.requests) == 2, ended.err
    assert only_node(cli)["metric"] == 0.5
    with RunReader(cli.run_dir) as reader:
        (session,) = sessions(reader)
        assert session["turns"] == 2
        (code,) = reader.cost_by_role()
    assert (code["role"], code["calls"]) == ("code", 1), "a session is one call"
    with (
        serving(cli.folder) as (address, _),
        urlopen(f"http://{address}/api/runs/{cli.run_dir.name}/cost") as answer,
    ):
        told = json.load(answer)
    assert told["totals"]["calls"] == 1 and told["totals"]["seconds"] == told["rows"][0]["seconds"] == code["seconds"]


@pytest.mark.long
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["llm.code.command=/nonexistent/claude -p x"], "there is no program '/nonexistent/claude'"),
        (["llm.code.command=claude -p x"], "there is no program 'claude'; npm install -g @anthropic-ai/claude-code"),
        (["llm.code.command=null"], "--llm=claude-code"),
        (["llm.code.session.usd=null"], "session.usd is not set"),
        (["execution.sandbox=lite"], "network=gateway needs the sandbox tier warm or bubblewrap"),
    ],
)
def test_what_cannot_work_is_one_line(search, cli, words, said):
    ended = search(USUAL, *words, PATH="/usr/bin:/bin")
    assert ended.code in (1, 2) and said in ended.err.strip().splitlines()[-1], ended.err


@pytest.mark.long
def test_a_key_that_is_missing_ends_the_run_in_one_line(search, cli):
    words = ("llm.code.api_key=null", "llm.code.base_url=https://models.example", "llm.code.attempts=1")
    ended = search(USUAL, *words)
    assert ended.code == 1 and "the gateway has no key for https://models.example" in ended.err, ended.err
    assert cli.show()["steps"] == 0


@pytest.mark.long
def test_an_agent_that_cannot_begin_ends_the_run_with_its_own_words(search, cli):
    ended = search("print('Not logged in. Please run /login', file=sys.stderr); sys.exit(1)", "llm.code.attempts=1")
    last = ended.err.strip().splitlines()[-1]
    assert ended.code == 1 and "Not logged in" in last and "llm.code.files" in last
    assert cli.show()["steps"] == 0, "no step was spent"


@pytest.mark.long
def test_the_last_line_of_its_errors_is_what_an_agent_ends_with(search, cli):
    body = "print('a long banner'); print('one\\nNo module named rich', file=sys.stderr); sys.exit(2)"
    ended = search(body, "llm.code.attempts=1")
    assert ended.code == 1 and "before it asked a model: No module named rich; it sees only" in ended.err, ended.err


@pytest.mark.long
def test_a_program_behind_a_shim_is_told_what_to_show(search, cli, tmp_path):
    manager = tmp_path / "manager"
    (manager / "shims").mkdir(parents=True)
    (manager / "libexec").write_text(f"#!/bin/sh\nexec {sys.executable} {cli.folder}/agent.py\n")
    shim = manager / "shims" / "clever"
    shim.write_text(f"#!/bin/sh\nexec {manager}/libexec\n")
    for path in (manager / "libexec", shim):
        path.chmod(0o755)
    ended = search(USUAL, f"llm.code.command={shim}", "llm.code.attempts=1")
    last = ended.err.strip().splitlines()[-1]
    assert ended.code == 1 and f"is a shim, which needs its manager: add {manager} to llm.code.files" in last, last
    files = f"[{manager},{sys.executable},{cli.folder}/agent.py]"
    shown = search(USUAL, f"llm.code.command={shim}", f"llm.code.files={files}", "project.dir=again")
    assert shown.code == 0, shown.err
