"""The list of a folder's runs, as the JSON objects that `list-runs` and programs read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from core.storage.held import is_held
from core.storage.labels import Labels
from reports.run_index import RunIndex, RunLine, line_as_seen
from runs.run_folder import all_runs, logs_dir


def run_rows(project_dir: str | Path) -> list[dict[str, Any]]:
    """The JSON object of each run of the folder that has begun, oldest first.

    A run whose store cannot be read is listed with `status` `unreadable` and the `reason`: it hides neither itself
    nor the others.
    """
    lines = RunIndex(logs_dir(project_dir)).lines(all_runs(project_dir))
    return [_row(folder, listed.line, listed.labels) for folder, listed in lines.items()]


def _row(folder: Path, line: RunLine, labels: Labels) -> dict[str, Any]:
    held = line.status == "running" and is_held(folder)
    row = {**vars(line_as_seen(line, held=held)), **vars(labels)}  # both are flat; to dump them takes ten times as long
    reason = row.pop("error")
    return {**row, "tags": list(labels.tags), **({"reason": reason} if reason else {})}
