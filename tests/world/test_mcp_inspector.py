"""The protocol's own inspector, from npm, reads our tools and calls them."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.command_line import ROOT

from runs.mcp.tools import ROLES

PROGRAM = ROOT / ".venv-agents" / "node_modules" / ".bin" / "mcp-inspector"


def inspected(folder: Path, *words: str) -> dict[str, Any]:
    if not PROGRAM.exists() or shutil.which("node") is None:
        pytest.skip("@modelcontextprotocol/inspector is not installed (npm)")
    server = [sys.executable, str(ROOT / "main.py"), "mcp"]
    done = subprocess.run(
        [str(PROGRAM), "--cli", *server, *words], cwd=folder, capture_output=True, text=True, timeout=120,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_it_lists_every_tool_with_its_schema(tmp_path):
    tools = inspected(tmp_path, "--method", "tools/list")["tools"]
    assert [tool["name"] for tool in tools] == [tool.name for role in ROLES.values() for tool in role]
    assert all(tool["inputSchema"]["type"] == "object" and tool["description"] for tool in tools)


def test_it_calls_a_tool(tmp_path):
    call = ("--method", "tools/call", "--tool-name", "plan_run")
    told = inspected(tmp_path, *call, "--tool-arg", "problem=bin_packing", "--tool-arg", "steps=3")
    assert not told.get("isError") and told["structuredContent"]["next"] == "start_run"
    refused = inspected(tmp_path, *call, "--tool-arg", "problem=no_such_problem")
    assert refused["isError"] and "no_such_problem" in refused["structuredContent"]["error"]
