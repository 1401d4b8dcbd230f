"""What goes into the wheel only if it has been made: the dashboard's page (`make page`)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PAGE = "dashboard/web/dist"


class PageHook(BuildHookInterface):  # type: ignore[type-arg]
    """`force-include` takes a folder with all that lies in it, and fails where there is none."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version != "editable" and (Path(self.root) / PAGE / "index.html").is_file():
            build_data["force_include"][PAGE] = f"swarm_evo/_app/{PAGE}"
