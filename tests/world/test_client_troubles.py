"""Coding agents that cannot write: not installed, no key, no login, too old. One line each, and what to do."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
import yaml
from support.coding_agents import AGENTS, INSTALLED, PATH, CodingAgent, fresh_world, installed
from support.command_line import ROOT, toy_words


@pytest.fixture(params=AGENTS)
def client(request) -> CodingAgent:
    return installed(request.param)


def last_line(cli, agent: CodingAgent, *words: str, path: str = PATH) -> tuple[int, str]:
    """(exit code, the one line of the error): the run's own lines stand before it, on the other stream."""
    fixed = (f"--llm={agent.name}", f"llm.code.files={INSTALLED}", "llm.code.timeout=120", "llm.code.attempts=1")
    environment = {**fresh_world(cli.folder), "PATH": path, "SWARM_EVO__LOGGING__REPORT": "false"}
    done = subprocess.run(
        [sys.executable, str(ROOT / "main.py"), *toy_words(1), *fixed, *words], cwd=cli.folder, env=environment,
        capture_output=True, text=True, timeout=240, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    lines = [line for line in done.stderr.splitlines() if line.startswith("swarm-evo: ")]
    assert len(lines) == 1 and "Traceback" not in done.stderr, done.stderr
    return done.returncode, lines[0]


@pytest.mark.parametrize("name", AGENTS)
def test_one_that_is_not_installed_is_told_with_its_package(cli, tmp_path, name):
    agent, without = AGENTS[name], os.defpath
    code, line = last_line(cli, agent, "llm.code.files=[]", path=without)
    assert code == 2 and f"no program '{agent.program}'; npm install -g {agent.package}" in line
    words = [sys.executable, str(ROOT / "main.py"), "setup", name]
    world = {"HOME": str(tmp_path / "home"), "PATH": without}
    done = subprocess.run(words, cwd=tmp_path, env=world, capture_output=True, text=True)
    assert done.returncode == 0 and f"no program '{agent.program}' here yet" in done.stdout


def test_a_key_that_is_missing_in_the_gateway_is_named(cli, client):
    code, line = last_line(cli, client)
    variable = next(name for name in client.keys("http://127.0.0.1:1") if name.endswith("API_KEY"))
    assert code and "the gateway has no key for https://" in line and f"set {variable} or" in line


def test_one_without_a_login_says_so_in_its_own_words(cli, client):
    code, line = last_line(cli, client, "llm.code.network=open")
    assert code == 1 and "before it asked a model: " in line
    said = {"claude-code": "/login", "codex": "OPENAI_API_KEY", "gemini-cli": "Auth", "opencode": "error"}
    assert said[client.name] in line, line


def test_one_that_is_too_old_for_an_option_says_which(cli, client):
    """Every client refuses an option that it does not know, as an old one would; OpenCode prints its usage."""
    preset = yaml.safe_load((ROOT / "config" / "llm" / f"{client.name}.yaml").read_text())["llm"]["code"]["command"]
    program, rest = preset.split(" ", 1)
    verb, rest = rest.split(" ", 1) if client.name in ("codex", "opencode") else ("", rest)
    command = " ".join(filter(None, (program, verb, "--option-of-a-later-one", rest)))
    code, line = last_line(cli, client, f"llm.code.command={command}", "llm.code.api_key=k")
    said = "it does not know an option" if client.name == "opencode" else "option-of-a-later-one"
    assert code == 1 and said in line, line
