"""The user's data set as files: a folder, one table, a zip that holds a folder, or files sorted into folders."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from problems.competition.sorted_folders import SortedFiles, as_tables, find_sorted
from utils.archives import unpacked, whole_archive
from utils.config_schema import Config
from utils.dataset_files import find_parts, find_sample, find_table, find_train, parts_inside
from utils.user_path import user_path
from utils.workspace_builder import DatasetFolder, validate_dataset

UNPACKED = Path("workspaces") / ".unpacked"
"""Below the project's folder: data sets that came in a zip, or without a table."""
SHOWN = 5


@dataclass(frozen=True, slots=True)
class Brought:
    """What the user brought.

    Args:
        dataset: its tables.
        name: of the folder, or of the one file that he named.
        archive: the zip that it came in; None for a folder or a table.
        beside: the folder in which the zip lay, where that was named.
        sorted: the user's files, where their folders' names were the only labels.
    """

    dataset: DatasetFolder
    name: str
    archive: Path | None = None
    beside: Path | None = None
    sorted: SortedFiles | None = None

    @property
    def origin(self) -> Path | None:
        """Where the user's files are, if `dataset` is a folder of ours."""
        return self.archive or (self.sorted.root if self.sorted else None)

    def told(self) -> str:
        """What was unpacked and made into tables, in a line; '' where nothing was."""
        return "; ".join(filter(None, (self._unpacked(), self.sorted.told() if self.sorted else "")))

    def _unpacked(self) -> str:
        if self.archive is None:
            return ""
        place = self.sorted.root if self.sorted else self.dataset.path
        names = sorted(path.name for path in place.iterdir() if not path.is_symlink())
        more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
        return f"{self.archive.name} is unpacked: {', '.join(names[:SHOWN])}{more}"


def find_dataset(cfg: Config) -> Brought:
    """The tables that `data` names. ConfigError: one line with the key, the value and what is missing."""
    data, project = cfg.data, Path(cfg.project.dir).resolve()
    place, ours = project / UNPACKED, (project / "workspaces", project / "logs")
    archive = whole_archive(data.dir, data.train)
    if archive is None:
        files = _sorted(user_path(data.dir) if data.dir else None, cfg, ours)
        if files is not None:
            return Brought(validate_dataset(as_tables(files, data.target, place)), files.root.name, sorted=files)
        dataset = validate_dataset(data.dir, train=data.train, test=data.test, labels=data.labels, target=data.target)
        is_lone = dataset.alone and "train" not in dataset.parts
        return Brought(dataset, dataset.train.stem if is_lone else dataset.path.name)
    given = user_path(data.dir or archive).resolve()
    beside, name = (given, given.name) if given.is_dir() else (None, archive.stem)
    inner = unpacked(archive, place, beside, ours)
    files = _sorted(inner, cfg, ours)
    if files is not None:
        return Brought(validate_dataset(as_tables(files, data.target, place)), name, archive, sorted=files)
    names = {name: _inside(getattr(data, name), inner, place) for name in ("train", "test", "labels")}
    if data.train and (user_path(data.dir or ".") / data.train).exists():
        names["train"] = None  # it is the zip itself
    dataset = validate_dataset(inner, key=f"data '{archive}'", beside=beside, target=data.target, **names)
    return Brought(dataset, name, archive, beside)


def _sorted(folder: Path | None, cfg: Config, ours: tuple[Path, ...]) -> SortedFiles | None:
    """The files of a folder whose own folders sort them; None where a table is there or named."""
    if folder is None or not folder.is_dir() or cfg.data.train or cfg.data.labels:
        return None
    others = find_table(folder, "test"), find_sample(folder)
    has_table = find_train(folder, others) or find_parts(folder, "train", others) or parts_inside(folder, "train")
    return None if has_table else find_sorted(folder.resolve(), ours)


def _inside(name: str | None, inner: Path, unpacked_below: Path) -> str | None:
    """The file that the user named by its path in the zip, from its root or from where its tables are."""
    root = unpacked_below / inner.relative_to(unpacked_below).parts[0]
    return str(root / name) if name and not (inner / name).is_file() and (root / name).is_file() else name
