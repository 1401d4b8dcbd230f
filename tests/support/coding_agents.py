"""The coding agents of npm as their users start them, with a scripted model for their own: one table for all tests."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from support.command_line import ROOT
from support.model_server import ModelServer, Step, tool_named, tools_of

from runs.mcp.tools import ROLES

INSTALLED = ROOT / ".venv-agents" / "node_modules"
"""`make test-world` installs them there."""
PATH = f"{INSTALLED / '.bin'}:{os.environ['PATH']}"
NAMES = [tool.name for role in ROLES.values() for tool in role]
SHELLS = ("Bash", "bash", "exec_command", "shell_command")
"""How the tool ends that runs a line in a shell."""


@dataclass(frozen=True)
class CodingAgent:
    """One client, and how it is started without a terminal."""

    name: str
    """Of its preset, and of `setup`."""
    program: str
    package: str
    words: Callable[[str, str], list[str]]
    """(address of the model, what its user says) → its command line."""
    keys: Callable[[str], dict[str, str]]
    """Address of the model → where it looks for it, in the environment."""


def _claude(url: str, said: str) -> list[str]:
    return ["claude", "-p", "--model", "claude-sonnet-5", "--allowedTools", "mcp__swarm-evo,Bash",
            "--mcp-config", ".mcp.json", "--strict-mcp-config", "--", said]  # fmt: skip


def _codex(url: str, said: str) -> list[str]:
    keys = {"model_provider": "own", "model_providers.own.name": "own", "model_providers.own.base_url": f"{url}/v1",
            "model_providers.own.env_key": "OPENAI_API_KEY", "model_providers.own.wire_api": "responses"}  # fmt: skip
    words = [word for key, value in keys.items() for word in ("-c", f"{key}={value}")]
    return ["codex", "exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "-m", "gpt-5-codex",
            *words, said]  # fmt: skip


def _of_opencode(url: str) -> dict[str, str]:
    settings = {"provider": {"anthropic": {"options": {"baseURL": f"{url}/v1"}}}, "permission": "allow"}
    return {"ANTHROPIC_API_KEY": "k", "OPENCODE_CONFIG_CONTENT": json.dumps(settings)}


AGENTS = {
    agent.name: agent
    for agent in (
        CodingAgent(
            "claude-code", "claude", "@anthropic-ai/claude-code", _claude,
            lambda url: {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "k"},
        ),
        CodingAgent("codex", "codex", "@openai/codex", _codex, lambda url: {"OPENAI_API_KEY": "k"}),
        CodingAgent(
            "gemini-cli", "gemini", "@google/gemini-cli",
            lambda url, said: ["gemini", "--yolo", "-m", "gemini-2.5-pro", "-p", said],
            lambda url: {"GEMINI_API_KEY": "k", "GOOGLE_GEMINI_BASE_URL": url, "GEMINI_CLI_TRUST_WORKSPACE": "true"},
        ),
        CodingAgent(
            "opencode", "opencode", "opencode-ai",
            lambda url, said: ["opencode", "run", "-m", "anthropic/claude-sonnet-5", said],
            _of_opencode,
        ),
    )
}  # fmt: skip


def installed(name: str) -> CodingAgent:
    """The client of that name; skips the test where it is not installed."""
    agent = AGENTS[name]
    if shutil.which(agent.program, path=PATH) is None:
        pytest.skip(f"{agent.program} is not installed (npm install {agent.package})")
    return agent


def fresh_world(folder: Path) -> dict[str, str]:
    """An environment with a fresh home and no key."""
    home = folder / "home"
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


def set_up(agent: CodingAgent, folder: Path, world: Mapping[str, str]) -> None:
    """What its user types once: `setup CLIENT`."""
    words = [sys.executable, str(ROOT / "main.py"), "setup", agent.name]
    subprocess.run(words, cwd=folder, env=dict(world), check=True, capture_output=True)


def told(
    agent: CodingAgent, said: str, models: ModelServer, folder: Path, world: Mapping[str, str], seconds: float = 400
) -> subprocess.CompletedProcess[str]:
    """How the client ended, to whom its user said one sentence."""
    return subprocess.run(
        agent.words(models.url, said), cwd=folder, env={**world, **agent.keys(models.url)}, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, timeout=seconds,
    )  # fmt: skip


def ours(request: dict[str, Any]) -> list[str]:
    """Names of our tools in a request, as the client calls them; those of a name space as `space/name`."""
    return [
        name for name in tools_of(request) if any(re.fullmatch(rf"(.*swarm.evo[\W_]*|){own}", name) for own in NAMES)
    ]


def in_a_shell(request: dict[str, Any], line: str) -> Step:
    """The call of the client's own tool that runs a line."""
    shell = tool_named(request, *SHELLS)
    return (shell, {"cmd": line} if shell == "exec_command" else {"command": line, "description": "as asked"})


def by_our_own_words(
    plan: Mapping[str, Any], told_files: Callable[[int], dict[str, str]], first: str = ""
) -> Callable[[dict[str, Any], int], Step]:
    """A model that does what `next` says, and nothing else: is the way in our answers?

    Args:
        plan: arguments of `plan_run`.
        told_files: ticket's number from 0 → the files that are handed in.
        first: a line that it runs in a shell before.
    """
    handed: list[dict[str, str]] = []

    def step(request: dict[str, Any], results: int) -> Step:
        if first and results == 0:
            return in_a_shell(request, first)
        text = json.dumps(request.get("messages") or request.get("input") or request.get("contents"))

        def last(key: str) -> str:
            found = re.findall(key + r'\\*":\s*\\*"([^"\\]+)', text)
            return found[-1] if found else ""

        tools = {own: name for name in ours(request) for own in NAMES if name.endswith(own)}
        following = last("next") if results > bool(first) else "plan_run"
        if following not in tools or following == "status":
            return f"The run ended: {following}"
        arguments: dict[str, Any] = {
            "plan_run": dict(plan),
            "start_run": {"confirm": last("confirm")},
            "wait": {"ticket": last("ticket")},
            "export_best": {"dir": "out"},
        }.get(following, {})
        if following == "tell":
            handed.append(told_files(len(handed)))
            arguments = {"ticket": last("ticket"), "files": handed[-1]}
        return (tools[following], arguments)

    return step
