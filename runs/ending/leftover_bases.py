"""Copies of repositories that no run uses any more: they are removed with the last run that does."""

from __future__ import annotations

import re
import time
from pathlib import Path

from problems.command.tree.problem import BASES
from runs.run_folder import all_runs
from utils.regular_files import DOCUMENT, read_regular

_NAME = re.compile(r"[0-9a-f]{24}")
_YOUNG = 60.0
"""Seconds in which a run that begins has named its base."""


def leftover_bases(project_dir: str | Path) -> list[Path]:
    """Folders of bases that no run names; [] where a run cannot tell what it uses. A run has its own copy besides."""
    store = Path(project_dir).resolve() / "workspaces" / BASES
    used: set[str] = set()
    for run in all_runs(project_dir):
        try:
            used.update(_NAME.findall(read_regular(run / "config.yaml", DOCUMENT)))
        except (OSError, ValueError):
            return []
    found = [path for path in sorted(store.glob("*")) if _NAME.fullmatch(path.name) and path.name not in used]
    return [path for path in found if time.time() - path.stat().st_mtime > _YOUNG]
