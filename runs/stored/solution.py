"""What a run left of its winner in `best_solution/`: an export without the problem, whose data may be gone."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from core.state.node import Node
from core.storage.reader import RunReader
from runs.recorded.files import BEST, DETAIL, is_as_recorded, solution_files
from utils.regular_files import read_json

REFIT = "refit"
"""Key of `node.json`: true where the outputs beside it are those of a refit, which has no score."""


@dataclass(frozen=True, slots=True)
class StoredSolution:
    """Files of the winner, as the run recorded them.

    Args:
        files: below `folder`; () where they are missing, changed, or another node's.
        refit: its outputs are those of `export-best --refit`.
    """

    folder: Path
    files: Sequence[Path] = ()
    refit: bool = False


def stored_solution(reader: RunReader, node: Node) -> StoredSolution:
    """The solution that is `node`'s. All of it is that which the run recorded, or there is none."""
    folder = reader.run_dir / BEST
    files, told = solution_files(reader), None
    with suppress(OSError, ValueError):
        if all(is_as_recorded(path, known) for path, known in files.items()):
            told = read_json(folder / DETAIL)
    is_its = isinstance(told, dict) and told.get("id") == node.id and len(files) > 1
    if not is_its:
        return StoredSolution(folder)
    assert isinstance(told, dict)
    return StoredSolution(folder, tuple(files), bool(told.get(REFIT)))


def mark_refit(out: Path) -> None:
    """Note in a solution's `node.json` that its outputs are a refit's."""
    path = out / DETAIL
    told = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**told, REFIT: True}, indent=2) + "\n", encoding="utf-8")
