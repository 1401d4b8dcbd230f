"""A client of `mcp` that sends lines itself, so that a test sees what a client sees."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from support.forked_main import MAIN, ForkedPopen


class McpClient:
    """Starts the server in a folder and shakes hands; `call` returns a tool's structured result."""

    def __init__(self, folder: Path, *words: str, version: str = "2025-11-25") -> None:
        self.child = ForkedPopen(
            [sys.executable, MAIN, "mcp", *words],
            cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        self.notices: list[dict[str, Any]] = []
        """Notifications so far."""
        self._number = 0
        self.about = self.request("initialize", protocolVersion=version, capabilities={}, clientInfo={"name": "t"})

    def __enter__(self) -> McpClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def send(self, method: str, **params: Any) -> int:
        self._number += 1
        assert self.child.stdin is not None
        self.child.stdin.write(
            json.dumps({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params}) + "\n"
        )
        self.child.stdin.flush()
        return self._number

    def answer(self, number: int) -> dict[str, Any]:
        """The whole message that answers a request."""
        assert self.child.stdout is not None
        for line in self.child.stdout:
            message: dict[str, Any] = json.loads(line)
            if message.get("id") == number:
                return message
            self.notices.append(message)
        raise EOFError("the server has ended")

    def request(self, method: str, **params: Any) -> dict[str, Any]:
        result: dict[str, Any] = self.answer(self.send(method, **params))["result"]
        return result

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        result = self.request("tools/call", name=tool, arguments=arguments)
        found: dict[str, Any] = result["structuredContent"]
        assert json.loads(result["content"][0]["text"]) == found
        assert result["isError"] == ("error" in found)
        return found

    def kill(self) -> None:
        self.child.kill()
        self.child.communicate()
