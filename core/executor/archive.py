"""What programs left in their workspaces, kept as a zip each: for the best nodes of a run and its newest ones."""

from __future__ import annotations

import zipfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from utils.archives import BROKEN
from utils.direction import Direction
from utils.regular_files import open_regular


def archive_of(run_dir: Path, node_id: str) -> Path:
    """Where the archive of a node lies, if it has one."""
    return run_dir / "files" / node_id / f"{node_id}.zip"


def archived_files(run_dir: Path, node_id: str) -> list[dict[str, str | int]]:
    """`[{name, bytes}]` of what a node's archive holds; [] without one."""
    try:
        with open_regular(archive_of(run_dir, node_id)) as file, zipfile.ZipFile(file) as archive:
            return [{"name": info.filename, "bytes": info.file_size} for info in archive.infolist()]
    except BROKEN:
        return []


class RunArchive:
    """Removes the archives of a run that are neither among its `best` nor among its `newest`.

    Args:
        run_dir: `logs/<run>`.
        best: how many of the nodes with the best scores keep theirs.
        newest: how many of the last nodes keep theirs, whatever became of them.
    """

    def __init__(self, run_dir: Path, *, best: int, newest: int, lower_is_better: bool) -> None:
        self._run_dir = run_dir
        self._best, self._newest = best, newest
        self._direction = Direction(lower_is_better)
        self._leading: list[tuple[float, str]] = []
        """(score, node id) of the best so far, best first."""
        self._last: list[str] = []

    def restore(self, nodes: Iterable[tuple[str, float | None]]) -> None:
        """Learn (node id, score) of what was committed before this process began: at least the best and newest."""
        for node_id, score in nodes:
            self._note(node_id, score)
        kept = self._kept()
        for path in self._run_dir.glob("files/*/*.zip"):
            if path.stem == path.parent.name and path.stem not in kept:
                self._remove(path.stem)

    def add(self, node_id: str, score: float | None) -> None:
        """A node was committed."""
        before = self._kept() | {node_id}
        self._note(node_id, score)
        for gone in before - self._kept():
            self._remove(gone)

    def _note(self, node_id: str, score: float | None) -> None:
        if score is not None:
            leading = self._direction.ranked([*self._leading, (score, node_id)], lambda one: one[0])
            self._leading = leading[: self._best]  # among equals the first stays
        self._last = [*self._last, node_id][-self._newest :] if self._newest else []

    def _kept(self) -> set[str]:
        return {node_id for _, node_id in self._leading} | set(self._last)

    def _remove(self, node_id: str) -> None:
        path = archive_of(self._run_dir, node_id)
        path.unlink(missing_ok=True)
        with suppress(OSError):  # other files of the node lie there
            path.parent.rmdir()
