"""Clients of the protocol that are not ours lead a run to its end: the official SDK's, and the inspector from npm."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.coding_agents import INSTALLED
from support.command_line import PLUGINS, ROOT, Cli

from runs.mcp.tools import ROLES

INSPECTOR = INSTALLED / ".bin" / "mcp-inspector"
SERVER = [str(ROOT / "main.py"), "mcp"]
PROGRAM = "x = {}\n# of what the writer outside thinks about the number above\n"
Call = Callable[..., dict[str, Any]]
"""(tool, **arguments) → its structured result."""


def inspected(folder: Path, *words: str) -> dict[str, Any]:
    """What the inspector prints: each call is a client and a server of its own."""
    if not INSPECTOR.exists() or shutil.which("node") is None:
        pytest.skip("@modelcontextprotocol/inspector is not installed (npm)")
    done = subprocess.run(
        [str(INSPECTOR), "--cli", sys.executable, *SERVER, *words], cwd=folder, capture_output=True, text=True,
        timeout=120, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def by_the_inspector(folder: Path, way: Callable[[Call], None]) -> None:
    def call(tool: str, **arguments: Any) -> dict[str, Any]:
        given = {key: value if isinstance(value, str) else json.dumps(value) for key, value in arguments.items()}
        words = [word for key, value in given.items() for word in ("--tool-arg", f"{key}={value}")]
        found = inspected(folder, "--method", "tools/call", "--tool-name", tool, *words)
        result: dict[str, Any] = found["structuredContent"]
        return result

    way(call)


def by_the_sdk(mode: str) -> Callable[[Path, Callable[[Call], None]], None]:
    """The official client, of one age of the protocol or by finding out which: its calls go one after the other."""
    mcp = pytest.importorskip("mcp")
    from mcp.client.stdio import StdioServerParameters

    def lead(folder: Path, way: Callable[[Call], None]) -> None:
        async def led() -> None:
            server = StdioServerParameters(command=sys.executable, args=SERVER, cwd=str(folder))
            async with mcp.Client(server, mode=mode) as client:
                listed = (await client.list_tools()).tools
                assert [tool.name for tool in listed] == [tool.name for role in ROLES.values() for tool in role]
                loop = asyncio.get_running_loop()

                def call(tool: str, **arguments: Any) -> dict[str, Any]:
                    asked = asyncio.run_coroutine_threadsafe(client.call_tool(tool, arguments), loop)
                    result = asked.result(60)
                    assert not result.is_error, result
                    found: dict[str, Any] = result.structured_content or {}
                    return found

                await asyncio.to_thread(way, call)

        asyncio.run(led())

    return lead


@pytest.mark.parametrize("door", ["inspector", "sdk legacy", "sdk auto", "sdk 2026-07-28"])
def test_a_client_leads_a_run_from_its_plan_to_the_best_program(tmp_path, door):
    (tmp_path / "toy.yaml").write_text(f"problem: {{kind: toy, plugins: '{PLUGINS}'}}\nlogging: {{report: false}}\n")

    def way(call: Call) -> None:
        planned = call("plan_run", problem="toy.yaml", steps=2)
        assert planned["next"] == "start_run"
        started = call("start_run", confirm=planned["confirm"])
        while started["next"] == "start_run":
            started = call("start_run", confirm=planned["confirm"])
        for x in (1.5, 1.75):
            ticket = call("ask")["ticket"]
            files = {"program.py": PROGRAM.format(x)}
            assert call("check", ticket=ticket, files=files)["next"] == "tell"
            verdict = call("tell", ticket=ticket, files=files)
            while verdict["next"] == "wait":
                verdict = call("wait", ticket=ticket)
            assert verdict["metric"] == 2 - x
        ended = call("ask")
        assert (ended["ticket"], ended["next"], ended["over"]) == (None, "export_best", True)
        assert call("export_best", dir="out")["metric"] == 0.25

    lead = by_the_inspector if door == "inspector" else by_the_sdk(door.partition(" ")[2])
    lead(tmp_path, way)
    assert (tmp_path / "out" / "solution.py").read_text() == PROGRAM.format(1.75)
    shown = Cli(tmp_path).show()
    assert (shown["steps"], shown["metric_source"]) == (2, "verified")


def test_the_inspector_lists_every_tool_with_its_schema(tmp_path):
    tools = inspected(tmp_path, "--method", "tools/list")["tools"]
    assert [tool["name"] for tool in tools] == [tool.name for role in ROLES.values() for tool in role]
    assert all(tool["inputSchema"]["type"] == "object" and tool["description"] for tool in tools)


def test_the_inspector_shows_a_refusal_as_a_result(tmp_path):
    call = ("--method", "tools/call", "--tool-name", "plan_run", "--tool-arg", "problem=no_such_problem")
    refused = inspected(tmp_path, *call)
    assert refused["isError"] and "no_such_problem" in refused["structuredContent"]["error"]
