"""The user's data set as files: a folder, one table, or a zip that holds a folder."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from utils.archives import unpacked, whole_archive
from utils.config_schema import Config
from utils.workspace_builder import DatasetFolder, validate_dataset

UNPACKED = Path("workspaces") / ".unpacked"
"""Below the project's folder: data sets that came in a zip."""
SHOWN = 5


@dataclass(frozen=True, slots=True)
class Brought:
    """What the user brought.

    Args:
        dataset: its tables.
        name: of the folder, or of the one file that he named.
        archive: the zip that it came in; None for a folder or a table.
    """

    dataset: DatasetFolder
    name: str
    archive: Path | None = None

    def told(self) -> str:
        """What was unpacked, in a line; '' where nothing was."""
        if self.archive is None:
            return ""
        names = sorted(path.name for path in self.dataset.path.iterdir() if not path.is_symlink())
        more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
        return f"{self.archive.name} is unpacked: {', '.join(names[:SHOWN])}{more}"


def find_dataset(cfg: Config) -> Brought:
    """The tables that `data` names. ConfigError: one line with the key, the value and what is missing."""
    data = cfg.data
    archive = whole_archive(data.dir, data.train)
    if archive is None:
        dataset = validate_dataset(data.dir, train=data.train, test=data.test, labels=data.labels)
        return Brought(dataset, dataset.train.stem if dataset.alone else dataset.path.name)
    project, given = Path(cfg.project.dir).resolve(), Path(data.dir or archive).expanduser().resolve()
    beside = given if given.is_dir() else None
    ours = (project / "workspaces", project / "logs")
    dataset = validate_dataset(
        unpacked(archive, project / UNPACKED, beside, ours), test=data.test, labels=data.labels, key=f"data '{archive}'"
    )
    return Brought(dataset, given.name if beside else archive.stem, archive)
