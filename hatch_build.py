"""What a wheel holds beside the package: the application, and the dashboard's page where `make page` has made it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

APPLICATION = (
    "main.py", "cli", "runs", "config", "utils", "core", "agents", "problems", "reports", "dashboard/__init__.py",
    "dashboard/server",
)  # fmt: skip
PAGE = "dashboard/web/dist"


class ApplicationHook(BuildHookInterface):  # type: ignore[type-arg]
    """An editable install takes the checkout itself; copies beside it would only grow old."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        parts = [*APPLICATION, *([PAGE] if (Path(self.root) / PAGE / "index.html").is_file() else [])]
        build_data["force_include"] |= {part: f"swarm_evo/_app/{part}" for part in parts}
