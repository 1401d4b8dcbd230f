"""The gateway's two tools by the Model Context Protocol, and where each client looks for them in its folder."""

from __future__ import annotations

import json
from typing import Any

from utils.mcp_protocol import Tool

SERVER = "swarm-evo"
TOOLS = (
    Tool(
        "check",
        "Look at the files as they lie in your folder: do they parse, keep the rules, differ from all programs before? "
        "Never a score. At most 5 times.",
        {},
        {"ok": {"type": "boolean"}, "problems": {"type": "array"}},
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
    """Path → text of the settings in which Claude Code and Gemini CLI find the tools; others take them by their words.

    Args:
        url: of the gateway; '' where there is none, and no tools.
    """
    headers = {"Authorization": f"Bearer {token}"}
    claude: dict[str, Any] = {"type": "http", "url": f"{url}/mcp", "headers": headers, "alwaysLoad": True}
    gemini: dict[str, Any] = {"httpUrl": f"{url}/mcp", "headers": headers, "trust": True}
    found = {".mcp.json": {"mcpServers": {SERVER: claude} if url else {}}}
    if url:  # by itself Gemini CLI would take the variable of an address for another way to log in
        login = {"auth": {"selectedType": "gemini-api-key"}}
        found[".gemini/settings.json"] = {"mcpServers": {SERVER: gemini}, "security": login}
    return {path: json.dumps(settings) + "\n" for path, settings in found.items()}
