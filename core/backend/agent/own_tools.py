"""The gateway's two tools by the Model Context Protocol, and where each client looks for them in its folder."""

from __future__ import annotations

import json
from typing import Any

from utils.mcp_tool import Tool

SERVER = "swarm-evo"
TOOLS = (
    Tool(
        "check",
        "Look at the files as they lie in your folder: do they parse, keep the rules, differ from all programs before? "
        "Never a score. At most 5 times.",
        {},
        {"ok": {"type": "boolean"}, "problems": {"type": "array"}, "warnings": {"type": "array"}},
        reads=True,
    ),
    Tool(
        "give_up",
        "End this session without a program.",
        {"reason": {"type": "string", "description": "why, in a sentence"}},
        {"state": {"type": "string"}},
        repeats=True,
    ),
)


def entries(url: str, token: str) -> dict[str, str]:
    """Path → text of the settings in which clients find the tools, and some their model; Codex takes both as words.

    Args:
        url: of the gateway; '' where there is none, and no tools.
    """
    at, headers = f"{url}/mcp", {"Authorization": f"Bearer {token}"}
    claude: dict[str, Any] = {"type": "http", "url": at, "headers": headers, "alwaysLoad": True}
    found: dict[str, Any] = {".mcp.json": {"mcpServers": {SERVER: claude} if url else {}}}
    if url:
        found[".gemini/settings.json"] = {
            "mcpServers": {SERVER: {"httpUrl": at, "headers": headers, "trust": True}},
            # by itself it would take the variable of an address for another way to log in
            "security": {"auth": {"selectedType": "gemini-api-key"}},
        }
        model = {"options": {"baseURL": f"{url}/v1"}}
        found["opencode.json"] = {
            "provider": {"anthropic": model, "openai": model},
            "mcp": {SERVER: {"type": "remote", "url": at, "headers": headers}},
            "permission": "allow",
        }
    return {path: json.dumps(settings) + "\n" for path, settings in found.items()}
