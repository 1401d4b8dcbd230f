"""`agent.tools`: a plain model looks before it writes, in whole runs: bounded, counted, recorded, compared."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from support.command_line import Cli, toy_words
from support.model_server import ModelServer, Step

from core.storage.reader import RunReader

PROGRAM = "I saw {seen}.\n```python\nx = {x}\n# of what the writer thinks about the number above\n```"
COUNT = "import os\nprint('rows', 6 * 7, sorted(os.listdir('.')))"
ESCAPE = """
import os, socket
for path in ("{secret}", "{secret}/..", "/etc/shadow", "/proc/1/environ"):
    try:
        print("READ", path, os.listdir(path) if os.path.isdir(path) else open(path).read())
    except OSError:
        pass
try:
    socket.create_connection(("127.0.0.1", 1), 1)
    print("CONNECTED")
except OSError as error:
    print("no network", error.errno)
"""


def results(request: dict[str, Any]) -> list[str]:
    return [message["content"] for message in request["messages"] if message["role"] == "tool"]


def looks(request: dict[str, Any], number: int) -> Step:
    """Runs a program, reads the first node, has its program checked, writes."""
    user = request["messages"][1]["content"]
    steps: list[Step] = [("run_python", {"code": COUNT}), ("read_node", {"number": 0}),
                         ("check", {"program": "x = ("})]  # fmt: skip
    if number < len(steps):
        return steps[number]
    seen = results(request)
    assert "rows 42" in seen[0] and json.loads(seen[2])["problems"][0]["kind"] == "syntax"
    return PROGRAM.format(seen=seen[1].splitlines()[0], x=1 + len(user) / 10_000)


@pytest.fixture
def models() -> Iterator[ModelServer]:
    with ModelServer(looks, plain=PROGRAM.format(seen="nothing", x=1.9)) as server:
        yield server


def asking(models: ModelServer) -> list[str]:
    keys = {"provider": "openai", "model": "scripted", "base_url": f"{models.url}/v1", "api_key": "sk-planted",
            "price.input": 1, "price.output": 2}  # fmt: skip
    fixed = ["llm.feedback.provider=rules", "llm.feedback.model=rules", "search.batch=1", "search.schedule=rounds"]
    return [*(f"llm.code.{name}={value}" for name, value in keys.items()), *fixed]


def words(models: ModelServer, steps: int = 2, *more: str) -> list[str]:
    return [*toy_words(steps), *asking(models), *more]


def test_a_model_looks_before_it_writes_and_a_replay_answers_the_same(cli: Cli, models: ModelServer) -> None:
    ended = cli.here(*words(models, 2, "agent.tools=true"))
    assert ended.code == 0, ended.err
    first, second = models.asked[0], models.asked[4]
    assert [tool["function"]["name"] for tool in first["tools"]] == ["run_python", "read_node", "check"]
    assert "calls of functions, 8 at most" in first["messages"][1]["content"]
    assert first["tool_choice"] == "auto"
    shown = cli.show()
    node = cli.node(shown["nodes"][1]["node_id"])
    assert node["metadata"]["looks"] == {"run_python": 1, "read_node": 1, "check": 1}
    assert node["plan"].startswith("I saw [0] draft: metric"), "it read what the first one came to"
    assert "there is no program [0]" in results(models.asked[2])[1] and "draft" in results(models.asked[6])[1]
    assert node["prompt_tokens"] == 400, "four requests"
    assert node["cost_usd"] == pytest.approx(4 * (100 + 2 * 10) / 1e6)
    (row, _) = json.loads((cli.run_dir / "metrics.json").read_text())
    assert row["prompt_tokens"] == 400 and row["cost_usd"] == pytest.approx(0.00048)
    roles = [call["role"] for call in node["calls"]]
    assert roles == ["code", "look"] * 3 + ["code"]
    with RunReader(cli.run_dir) as reader:
        (ran, *_) = [call for call in reader.calls() if call.role == "look"]
    assert ran.tool == "run_python" and "rows 42" in ran.reply and ran.prompt_tokens is None
    asked = len(models.requests)
    assert cli.here("replay", "latest", "--verify").code == 0
    assert cli.here("resume", "latest").code == 0
    assert len(models.requests) == asked
    assert second is not first


@pytest.mark.long
def test_off_by_default_and_a_sweep_compares_it(cli: Cli, models: ModelServer) -> None:
    ended = cli.here(
        "sweep", "--name", "looks", "--seeds", "1..2", "--vary", "agent.tools=false,true", *words(models, 1)
    )
    assert ended.code == 0, ended.err
    with_tools = [request for request in models.requests if request.get("tools")]
    assert len(with_tools) == 8 and len(models.requests) == 10, "four requests a run with tools, one without"
    table = cli.here("sweep", "show", "looks", "--json").json
    assert "agent.tools" in json.dumps(table)


@pytest.mark.long
def test_what_it_runs_is_in_the_sandbox_and_bounded(cli: Cli) -> None:
    secret = cli.folder / "secret.txt"
    secret.write_text("PLANTED")

    def attacks(request: dict[str, Any], number: int) -> Step:
        programs = [
            ESCAPE.replace("{secret}", str(secret)),
            "print('y' * 1_000_000)",
            "while True: pass",
            "print('not reached')",
        ]
        if number < len(programs):
            return "run_python", {"code": programs[number]}
        return PROGRAM.format(seen="little", x=1.5)

    with ModelServer(attacks) as models:
        ended = cli.here(*words(models, 1, "agent.tools=true", "agent.tool_seconds=3", "agent.tool_kb=2"))
    assert ended.code == 0, ended.err
    seen = results(models.asked[-1])
    assert "no network" in seen[0] and "READ" not in seen[0] and "PLANTED" not in seen[0]
    assert len(seen[1].encode()) <= 2048 and "left out" in seen[1]
    assert "failed (timeout)" in seen[2]
    assert "seconds for calls are used" in seen[3]
    assert cli.show()["best_metric"] == 0.5


def test_arguments_that_no_function_takes_are_told_and_end_no_run(cli: Cli) -> None:
    """A number for a file's text, and half a character in a program (`"\\ud800"`), ended a run as faults of ours."""
    (cli.folder / "repo").mkdir()
    (cli.folder / "repo" / "a.txt").write_text("x = 1\n")
    calls: list[Step] = [
        ("check", {"files": {"a.txt": 5}}), ("check", {"files": ["a.txt"]}), ("read_node", {"number": 1e300}),
        ("run_python", {"code": "print('\ud800')"}), ("check", {"files": {"a.txt": "\ud800\0"}}),
        ("run_python", {"code": "print(1)\0"}),
    ]  # fmt: skip

    def asks(request: dict[str, Any], number: int) -> Step:
        return calls[number] if number < len(calls) else "### a.txt\n```\nx = 2\n```"

    with ModelServer(asks) as models:
        tree = ["problem.kind=command", "problem.source=repo", "problem.editable=a.txt", "problem.eval=cat a.txt",
                "problem.metric=x", "problem.metric_from=regex:x = (\\d+)", "problem.direction=max"]  # fmt: skip
        ended = cli.here("run", *tree, *asking(models), "search.max_steps=1", "agent.tools=true")
    assert ended.code == 0, ended.err
    number, listed, none, half, checked, null = results(models.asked[-1])
    assert number == 'check: arguments.files["a.txt"] must be string, not 5' and "must be object" in listed
    assert none.startswith("there is no program [1") and half == "?" and json.loads(checked)["ok"]
    assert "null bytes" in null


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["agent.tools=true"], "needs a model that calls functions, but there is llm.code.provider=rules"),
        (["agent.tools=true", "llm.code.provider=openai", "llm.code.model=m", "llm.code.base_url=http://127.0.0.1:1/v1",
          "llm.code.tools=fence"], "llm.code.tools=fence"),
        (["agent.tool_calls=0"], "agent.tool_calls"),
    ],
)  # fmt: skip
def test_what_cannot_work_is_one_line(cli: Cli, more: list[str], said: str) -> None:
    ended = cli.here(*toy_words(1), *more)
    assert ended.code == 2 and said in ended.line
