"""Real coding agents against a scripted model on loopback: each drives a run over MCP, each is a `provider: agent`.

`make test-world` installs them from npm into `.venv-agents/`; one that is not there is skipped by name.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from support.coding_agents import (
    AGENTS,
    INSTALLED,
    PATH,
    CodingAgent,
    by_our_own_words,
    fresh_world,
    in_a_shell,
    installed,
    ours,
    set_up,
    told,
)
from support.command_line import PLUGINS, Cli, toy_words
from support.model_server import ModelServer, Step, tool_named

PROGRAM = "x = {}\n# of what the writer outside thinks about the number above\n"
SENTENCE = "Make x better, use swarm-evo."
TIMES = int(os.environ.get("SWARM_EVO_TEST_STARTS", "3"))
"""Starts in which the tools must be in the first request."""


@pytest.fixture(params=AGENTS)
def client(request) -> CodingAgent:
    """A coding agent that is installed here."""
    return installed(request.param)


@pytest.fixture
def world(tmp_path: Path) -> dict[str, str]:
    return fresh_world(tmp_path)


def test_an_agent_drives_a_run_to_its_end_over_mcp(client, world, tmp_path):
    (tmp_path / "toy.yaml").write_text(f"problem: {{kind: toy, plugins: '{PLUGINS}'}}\nlogging: {{report: false}}\n")
    set_up(client, tmp_path, world)
    plan = {"problem": "toy.yaml", "steps": 2}
    script = by_our_own_words(plan, lambda number: {"program.py": PROGRAM.format(1.5 + number / 4)})
    with ModelServer(script) as models:
        done = told(client, SENTENCE, models, tmp_path, world)
        assert len(ours(models.asked[0])) == 17, "in the first request"
    assert done.returncode == 0 and "The run ended" in done.stdout, done.stderr[-2000:]
    assert (tmp_path / "out" / "solution.py").read_text() == PROGRAM.format(1.75)
    shown = Cli(tmp_path).show()
    assert (shown["steps"], shown["best_metric"], shown["metric_source"]) == (2, 0.25, "verified")


def test_the_tools_are_in_the_first_request(client, world, tmp_path):
    set_up(client, tmp_path, world)
    seen = []
    for _ in range(TIMES):
        with ModelServer(lambda request, results: "done") as models:
            told(client, SENTENCE, models, tmp_path, world)
            seen.append(len(ours(models.asked[0])))
    assert seen == [17] * TIMES


def writes(request: dict[str, Any], results: int) -> Step:
    """A model that looks at the task, writes the program and has it checked, in a shell and by MCP."""
    if results == 0:
        line = f"cat TASK.md; printf '{PROGRAM.format(1.5)}' > program.py; ./check".replace("\n", "\\n")
        return in_a_shell(request, line)
    return (tool_named(request, "check"), {}) if results == 1 else "I take one and a half."


def test_an_agent_writes_a_program_of_a_search(client, cli):
    with ModelServer(writes) as models:
        words = (f"--llm={client.name}", f"llm.code.base_url={models.url}", "llm.code.api_key=sk-planted",
                 f"llm.code.files={INSTALLED}", "llm.cache=false", "llm.code.timeout=300")  # fmt: skip
        ended = cli(*toy_words(1), *words, timeout=400, PATH=PATH)
        assert ended.code == 0, ended.err
        asked = json.dumps(models.asked)
        assert "Find x near 2" in asked, "it read the task"
        assert len(re.findall(r'ok\\+": ?true', json.dumps(models.asked[-1]))) >= 2, (
            "the script and the tool checked it"
        )
        assert set(models.keys) <= {"sk-planted", "Bearer sk-planted"}
    shown = cli.show()
    assert (shown["best_metric"], shown["writer"].partition("/")[0]) == (0.5, "agent")
    times = len(models.requests)
    assert cli.here("replay", "latest", "--verify").code == 0 and len(models.requests) == times
