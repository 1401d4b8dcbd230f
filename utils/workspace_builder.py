"""Checks a data set's folder and lays out a workspace: `input/` (read-only data), `working/`, `submission/`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from utils.dataset_files import ARCHIVES, DATABASES, TABLES, UNREAD, find_lone, find_sample, find_test, find_train
from utils.errors import ConfigError
from utils.file_utils import is_lfs_pointer, link_or_copy, size_text
from utils.user_path import user_path

TRAIN, DESCRIPTION = "train.csv", "description.md"
SUBMISSION = "submission/submission.csv"
"""Where a program leaves its predictions, relative to its workspace."""


@dataclass(frozen=True, slots=True)
class DatasetFolder:
    """What a user's data folder holds."""

    path: Path
    train: Path
    test: Path | None
    sample: Path | None
    labels: Path | None
    """A second table that holds the labels, where the user named one."""
    description: str
    """Text of `description.md`, or ''."""
    alone: bool = False
    """True if the user named one file and no folder: nothing beside that file is his data."""


def validate_dataset(
    folder: str | Path | None,
    *,
    train: str | None = None,
    test: str | None = None,
    labels: str | None = None,
    key: str = "data.dir",
    beside: Path | None = None,
) -> DatasetFolder:
    """Find a data set's tables: by the names given (relative to the folder), else by what the files are called.

    Args:
        folder: a folder, or a single table. None: `train` is a path of its own.
        beside: a further folder of the user's, into which links may lead.

    Raises:
        ConfigError: one line that names the key, the value and what is missing.
    """
    path = user_path(folder) if folder is not None else None
    if path is None or path.is_file():
        lone = _named(Path(), train, "data.train") if path is None else path
        assert lone is not None
        check_is_data(lone, "data.train" if path is None else key)
        return DatasetFolder(
            lone.resolve().parent, lone.resolve(), _named(lone.parent, test, "data.test"), None,
            _named(lone.parent, labels, "data.labels"), "", alone=True,
        )  # fmt: skip
    if not path.is_dir():
        raise ConfigError(f"{key}={folder}: no such folder")
    theirs = _named(path, test, "data.test") or find_test(path)
    sample, answers = find_sample(path), _named(path, labels, "data.labels")
    others = (theirs, sample, answers)
    rows = _named(path, train, "data.train") or find_train(path, others) or find_lone(path, others)
    if rows is None:
        raise ConfigError(f"{key}={folder}: needs a {TRAIN}{_remedy(sorted(p.name for p in path.iterdir()))}")
    if rows.parent.is_relative_to(path.resolve()):  # the others lie beside it, where it was named below the folder
        theirs, sample = theirs or find_test(rows.parent, rows), sample or find_sample(rows.parent)
    for table in (rows, theirs, sample, answers):
        if table is not None:
            check_is_data(table, key)
    description = path / DESCRIPTION
    ours = any(description.resolve().is_relative_to(place.resolve()) for place in (path, beside or path))
    text = description.read_text(encoding="utf-8", errors="replace") if ours and description.is_file() else ""
    theirs, sample = (table and table.resolve() for table in (theirs, sample))
    return DatasetFolder(path.resolve(), rows.resolve(), theirs, sample, answers, text)


def _remedy(names: list[str]) -> str:
    """What to do about a folder of these files, in which no training table can be told."""
    low = [(name, name.lower()) for name in names]
    if packed := next((name for name, small in low if small.endswith(ARCHIVES)), None):
        return f"; '{packed}' is an archive: unpack it first"
    found = ", ".join(name[:60] for name in names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
    holds = f", or say --data.train=FILE; the folder holds {found or 'nothing'}"
    if base := next((name for name, small in low if small.endswith(DATABASES)), None):
        return f"{holds}; '{base}' is a database: write its table as a CSV"
    if other := next((name for name, small in low if small.endswith(UNREAD)), None):
        return f"{holds}; '{other}' cannot be read: save it as CSV or Parquet"
    if sum(small.endswith(tuple(TABLES)) for _, small in low) > 1:
        return f"{holds}; if these tables have the same columns, join them into one"
    return holds


def _named(folder: Path, name: str | None, key: str) -> Path | None:
    """The file that the user named, as it is or inside the folder."""
    if name is None:
        return None
    given = user_path(name)
    for path in (folder / given, given):
        if path.is_file():
            return path.resolve()
    raise ConfigError(f"{key}={name}: no such file in '{folder}'")


def check_is_data(path: Path, key: str) -> None:
    """Refuse a Git-LFS pointer and an empty file where data is expected. An absent file is fine."""
    if is_lfs_pointer(path):
        raise ConfigError(
            f"{key}: '{path}' is a Git-LFS pointer of {size_text(path.stat().st_size)}, not the data; "
            f"fetch it with: git lfs pull"
        )
    if path.name.lower().endswith(ARCHIVES):
        raise ConfigError(f"{key}: '{path}' is an archive: unpack it first")
    if path.is_file() and path.stat().st_size == 0:
        raise ConfigError(f"{key}: '{path}' is empty")


def build_workspace(folder: Path, inputs: Path | None = None) -> Path:
    """Make `folder` with `input` (a link to `inputs`, or a copy), `working/` and `submission/`; return it."""
    for name in ("working", "submission"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    if inputs is not None:
        link_or_copy(inputs, folder / "input")
    else:
        (folder / "input").mkdir(exist_ok=True)
    return folder
