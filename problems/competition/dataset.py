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
        beside: the folder in which the zip lay, where that was named.
    """

    dataset: DatasetFolder
    name: str
    archive: Path | None = None
    beside: Path | None = None

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
    inner = unpacked(archive, project / UNPACKED, beside, ours)
    names = {name: _inside(getattr(data, name), inner, project / UNPACKED) for name in ("train", "test", "labels")}
    if data.train and (Path(data.dir or ".").expanduser() / data.train).exists():
        names["train"] = None  # it is the zip itself
    dataset = validate_dataset(inner, key=f"data '{archive}'", beside=beside, **names)
    return Brought(dataset, given.name if beside else archive.stem, archive, beside)


def _inside(name: str | None, inner: Path, unpacked_below: Path) -> str | None:
    """The file that the user named by its path in the zip, from its root or from where its tables are."""
    root = unpacked_below / inner.relative_to(unpacked_below).parts[0]
    return str(root / name) if name and not (inner / name).is_file() and (root / name).is_file() else name
