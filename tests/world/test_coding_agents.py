"""Real coding agents against a scripted model on loopback: each drives a run over MCP, each is a `provider: agent`.

`make test-world` installs them from npm into `.venv-agents/`; one that is not there is skipped by name.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.command_line import PLUGINS, ROOT, Cli, toy_words
from support.model_server import ModelServer, Step, tool_named, tools_of

from runs.mcp.tools import ROLES

INSTALLED = ROOT / ".venv-agents" / "node_modules"
PATH = f"{INSTALLED / '.bin'}:{os.environ['PATH']}"
PROGRAMS = {"claude-code": "claude", "codex": "codex", "gemini-cli": "gemini", "opencode": "opencode"}
PROGRAM = "x = {}\n# of what the writer outside thinks about the number above\n"
SENTENCE = "Make x better, use swarm-evo."
TIMES = int(os.environ.get("SWARM_EVO_TEST_STARTS", "3"))
"""Starts in which the tools must be in the first request."""


@pytest.fixture(params=PROGRAMS)
def client(request) -> str:
    """A coding agent that is installed here."""
    if shutil.which(PROGRAMS[request.param], path=PATH) is None:
        pytest.skip(f"{PROGRAMS[request.param]} is not installed (npm)")
    return str(request.param)


@pytest.fixture
def world(tmp_path: Path) -> dict[str, str]:
    """An environment with a fresh home and no key but a planted one."""
    home = tmp_path / "home"
    (home / ".codex").mkdir(parents=True)
    (home / ".gemini").mkdir()
    (home / ".gemini" / "settings.json").write_text('{"security": {"auth": {"selectedType": "gemini-api-key"}}}')
    kept = {name: os.environ[name] for name in ("LANG", "LC_ALL", "TZ") if name in os.environ}
    return {
        **kept,
        "PATH": PATH,
        "HOME": str(home),
        "CODEX_HOME": str(home / ".codex"),
        "SWARM_EVO_TEST_NO_NETWORK": "1",
    }


def command(client: str, url: str) -> list[str]:
    """The agent as its user starts it without a terminal, with the scripted model for its own."""
    if client == "claude-code":
        return ["claude", "-p", "--model", "claude-sonnet-5", "--allowedTools", "mcp__swarm-evo",
                "--mcp-config", ".mcp.json", "--strict-mcp-config", "--", SENTENCE]  # fmt: skip
    if client == "gemini-cli":
        return ["gemini", "--yolo", "-m", "gemini-2.5-pro", "-p", SENTENCE]
    if client == "opencode":
        return ["opencode", "run", "-m", "anthropic/claude-sonnet-5", SENTENCE]
    keys = {"model_provider": "own", "model_providers.own.name": "own", "model_providers.own.base_url": f"{url}/v1",
            "model_providers.own.env_key": "OPENAI_API_KEY", "model_providers.own.wire_api": "responses"}  # fmt: skip
    words = [word for key, value in keys.items() for word in ("-c", f"{key}={value}")]
    return ["codex", "exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "-m", "gpt-5-codex",
            *words, SENTENCE]  # fmt: skip


def keys(url: str) -> dict[str, str]:
    """Where each client looks for its model, in the environment."""
    opencode = {"provider": {"anthropic": {"options": {"baseURL": f"{url}/v1"}}}, "permission": "allow"}
    return {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "k", "OPENAI_API_KEY": "k", "GEMINI_API_KEY": "k",
            "GOOGLE_GEMINI_BASE_URL": url, "GEMINI_CLI_TRUST_WORKSPACE": "true",
            "OPENCODE_CONFIG_CONTENT": json.dumps(opencode)}  # fmt: skip


NAMES = [tool.name for role in ROLES.values() for tool in role]


def ours(request: dict[str, Any]) -> list[str]:
    """Names of our tools in a request, as the client calls them; those of a name space as `space/name`."""
    found = tools_of(request)
    return [name for name in found if any(re.fullmatch(rf"(.*swarm.evo[\W_]*|){own}", name) for own in NAMES)]


def by_our_own_words(told: Callable[[int], float]) -> Callable[[dict[str, Any], int], Step]:
    """A model that does what `next` says, and nothing else: is the way in our answers?"""
    written: list[float] = []

    def step(request: dict[str, Any], results: int) -> Step:
        text = json.dumps(request.get("messages") or request.get("input") or request.get("contents"))

        def last(key: str) -> str:
            found = re.findall(key + r'\\*":\s*\\*"([^"\\]+)', text)
            return found[-1] if found else ""

        tools = {own: name for name in ours(request) for own in NAMES if name.endswith(own)}
        following = last("next") if results else "plan_run"
        if following not in tools or following == "status":
            return f"The run ended: {following}"
        arguments: dict[str, Any] = {
            "plan_run": {"problem": "toy.yaml", "steps": 2},
            "start_run": {"confirm": last("confirm")},
            "wait": {"ticket": last("ticket")},
            "export_best": {"dir": "out"},
        }.get(following, {})
        if following == "tell":
            written.append(told(len(written)))
            arguments = {"ticket": last("ticket"), "files": {"program.py": PROGRAM.format(written[-1])}}
        return (tools[following], arguments)

    return step


def test_an_agent_drives_a_run_to_its_end_over_mcp(client, world, tmp_path):
    (tmp_path / "toy.yaml").write_text(f"problem: {{kind: toy, plugins: '{PLUGINS}'}}\nlogging: {{report: false}}\n")
    setup = [sys.executable, str(ROOT / "main.py"), "setup", client]
    assert subprocess.run(setup, cwd=tmp_path, env=world, capture_output=True).returncode == 0
    with ModelServer(by_our_own_words(lambda number: 1.5 + number / 4)) as models:
        done = subprocess.run(
            command(client, models.url), cwd=tmp_path, env={**world, **keys(models.url)}, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=400,
        )  # fmt: skip
        assert len(ours(models.asked[0])) == 17, "in the first request"
    assert done.returncode == 0 and "The run ended" in done.stdout, done.stderr[-2000:]
    assert (tmp_path / "out" / "solution.py").read_text() == PROGRAM.format(1.75)
    shown = Cli(tmp_path).show()
    assert (shown["steps"], shown["best_metric"], shown["metric_source"]) == (2, 0.25, "verified")


def test_the_tools_are_in_the_first_request(client, world, tmp_path):
    subprocess.run([sys.executable, str(ROOT / "main.py"), "setup", client], cwd=tmp_path, env=world, check=True)
    seen = []
    for _ in range(TIMES):
        with ModelServer(lambda request, results: "done") as models:
            subprocess.run(
                command(client, models.url), cwd=tmp_path, env={**world, **keys(models.url)}, stdin=subprocess.DEVNULL,
                capture_output=True, timeout=240,
            )  # fmt: skip
            seen.append(len(ours(models.asked[0])))
    assert seen == [17] * TIMES


def writes(request: dict[str, Any], results: int) -> Step:
    """A model that looks at the task, writes the program and has it checked, in a shell and by MCP."""
    line = f"cat TASK.md; printf '{PROGRAM.format(1.5)}' > program.py; ./check".replace("\n", "\\n")
    shell = tool_named(request, "Bash", "bash", "exec_command", "shell_command")
    if results == 0:
        return (shell, {"cmd": line} if shell == "exec_command" else {"command": line, "description": "write it"})
    return (tool_named(request, "check"), {}) if results == 1 else "I take one and a half."


def test_an_agent_writes_a_program_of_a_search(client, cli):
    with ModelServer(writes) as models:
        words = (f"--llm={client}", f"llm.code.base_url={models.url}", "llm.code.api_key=sk-planted",
                 f"llm.code.files={INSTALLED}", "llm.cache=false", "llm.code.timeout=300")  # fmt: skip
        ended = cli(*toy_words(1), *words, timeout=400, PATH=PATH)
        assert ended.code == 0, ended.err
        told = json.dumps(models.asked)
        assert "Find x near 2" in told, "it read the task"
        assert len(re.findall(r'ok\\+": ?true', json.dumps(models.asked[-1]))) >= 2, (
            "the script and the tool checked it"
        )
        assert set(models.keys) <= {"sk-planted", "Bearer sk-planted"}
    shown = cli.show()
    assert (shown["best_metric"], shown["writer"].partition("/")[0]) == (0.5, "agent")
    asked = len(models.requests)
    assert cli.here("replay", "latest", "--verify").code == 0 and len(models.requests) == asked
