"""Checks a data set's folder and lays out a workspace: `input/` (read-only data), `working/`, `submission/`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from utils.dataset_files import (
    ARCHIVES,
    DATABASES,
    PACKED,
    PARTITION,
    PICKLES,
    TABLES,
    UNREAD,
    files_named,
    find_holder,
    find_lone,
    find_paired,
    find_parts,
    find_sample,
    find_test,
    find_test_below,
    find_test_by_head,
    find_train,
    find_unlabelled,
    folder_of_train,
    folders_called,
    parts_inside,
    pattern_below,
)
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
    """True if the user named files and no folder: nothing beside them is his data."""
    parts: Mapping[str, tuple[Path, ...]] = field(default_factory=dict)
    """`train`, `test` or `labels` → the files that it is made of, the first of which it is: where they are several or
    their folders tell a column."""


def validate_dataset(
    folder: str | Path | None,
    *,
    train: str | None = None,
    test: str | None = None,
    labels: str | None = None,
    key: str = "data.dir",
    beside: Path | None = None,
    target: str | None = None,
) -> DatasetFolder:
    """Find a data set's tables: by the names given (relative to the folder), else by what the files are called; where
    that does not tell, the training table by its `target`.

    Args:
        folder: a folder, or a single table. None: `train` is a path of its own.
        beside: a further folder of the user's, into which links may lead.

    Raises:
        ConfigError: one line that names the key, the value and what is missing.
    """
    path = user_path(folder) if folder is not None else None
    named = {"train": train, "test": test, "labels": labels}
    if path is None or path.is_file():
        given = [path.resolve()] if path is not None else _named(Path(), "train", named)
        for part in given:
            check_is_data(part, "data.train" if path is None else key)
        found = {"train": given, **{name: _named(given[0].parent, name, named) for name in ("test", "labels")}}
        return _folder(given[0].parent, found, None, "", alone=True)
    if not path.is_dir():
        several = f"; several files: --data.train='{folder}'" if "*" in path.name else ""
        raise ConfigError(f"{key}={folder}: no such folder{several}")
    theirs, answers = _named(path, "test", named), _named(path, "labels", named)
    sample = find_sample(path)
    theirs = theirs or _known(find_test(path)) or find_parts(path, "test", (sample,))
    others = (*theirs, sample, *answers)
    rows = _named(path, "train", named)
    if len(rows) > 1:
        rows = _without(rows, others) or rows
    rows = rows or _known(find_train(path, others)) or find_parts(path, "train", others)
    if not rows and (rows := parts_inside(path, "train")):
        theirs = theirs or parts_inside(path, "test")
        sample = sample or next(filter(None, map(find_sample, folders_called(path, "test"))), None)
    targets = target.split(",") if target else ()
    if not rows and (holder := find_holder(path, others, targets)):
        rows = [holder]
        theirs = theirs or _known(find_test(path, holder) or find_unlabelled(path, holder, others, targets))
    rows = rows or _known(find_paired(path, others) or find_lone(path, others))
    if not rows:
        raise ConfigError(f"{key}={folder}: needs a {TRAIN}{_instead(path)}")
    inside = rows[0].parent
    if inside.is_relative_to(path.resolve()):  # the others lie beside it, where it was named below the folder
        sample = sample or find_sample(inside)
        theirs = theirs or _known(
            find_test(inside, rows[0]) or find_test_by_head(inside, rows[0], (*rows, *answers), targets, sample)
        )
    if not theirs and (below := find_test_below(path, rows[0], targets)):
        theirs, sample = [below], sample or find_sample(below.parent)
    for table in (*rows, *theirs, *answers, *_known(sample)):
        check_is_data(table, key)
    description = path / DESCRIPTION
    ours = any(description.resolve().is_relative_to(place.resolve()) for place in (path, beside or path))
    text = description.read_text(encoding="utf-8", errors="replace") if ours and description.is_file() else ""
    return _folder(path.resolve(), {"train": rows, "test": theirs, "labels": answers}, sample, text)


def _known(path: Path | None) -> list[Path]:
    return [] if path is None else [path]


def _without(paths: Sequence[Path], others: Sequence[Path | None]) -> list[Path]:
    barred = {other.resolve() for other in others if other is not None}
    return [path for path in paths if path.resolve() not in barred]


def _folder(
    path: Path, tables: Mapping[str, Sequence[Path]], sample: Path | None, text: str, *, alone: bool = False
) -> DatasetFolder:
    found = {name: tuple(part.resolve() for part in parts) for name, parts in tables.items()}
    first = {name: parts[0] if parts else None for name, parts in found.items()}
    assert first["train"] is not None
    return DatasetFolder(
        path, first["train"], first["test"], sample and sample.resolve(), first["labels"], text, alone,
        {name: parts for name, parts in found.items() if len(parts) > 1 or _is_partition(parts, path)},
    )  # fmt: skip


def _is_partition(parts: Sequence[Path], folder: Path) -> bool:
    """True where the name of a folder in the user's is the value of a column."""
    inside = [part.relative_to(folder) for part in parts if part.is_relative_to(folder)]
    return any(PARTITION.fullmatch(place.name) for part in inside for place in part.parents)


def _instead(folder: Path) -> str:
    """What to do about a folder without a training table: what lies below it, or what it holds."""
    if below := folder_of_train(folder):
        return f"; one lies below: --data.dir={below}"
    if pattern := pattern_below(folder):
        return f"; tables of one name in several folders are joined by --data.train='{pattern}'"
    return _remedy(sorted(path.name for path in folder.iterdir()))


def _remedy(names: list[str]) -> str:
    """What to do about a folder of these files, in which no training table can be told."""
    low = [(name, name.lower()) for name in names]
    if packed := next((name for name, small in low if small.endswith(ARCHIVES)), None):
        return f"; '{packed}' is an archive: unpack it first{_how(packed)}"
    found = ", ".join(name[:60] for name in names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
    holds = f", or say --data.train=FILE; the folder holds {found or 'nothing'}"
    if base := next((name for name, small in low if small.endswith(DATABASES)), None):
        return f"{holds}; '{base}' is a database: write its table as a CSV"
    packed_too = ("", *PACKED)
    if pickled := next((name for name, small in low if small.endswith(_ends(PICKLES, packed_too))), None):
        return f"{holds}; '{pickled}' is a pickle, which may run anything when it is opened: save it as CSV or Parquet"
    if other := next((name for name, small in low if small.endswith(_ends(UNREAD, packed_too))), None):
        return f"{holds}; '{other}' cannot be read: save it as CSV or Parquet"
    if sum(small.endswith(tuple(TABLES)) for _, small in low) > 1:
        return (
            f"{holds}; a table of rows to predict is --data.test=FILE; tables that have all columns in common are "
            "joined: --data.train='*.csv'"
        )
    return holds


def _how(name: str) -> str:
    """The command that unpacks what is not known to everybody."""
    return " (zstd -d FILE)" if name.lower().endswith(".zst") else ""


def _ends(kinds: Sequence[str], packed: Sequence[str]) -> tuple[str, ...]:
    return tuple(kind + end for kind in kinds for end in packed)


def _named(folder: Path, table: str, names: Mapping[str, str | None]) -> list[Path]:
    """The files that the user named as a table, inside of the folder or as they are; [] where he named none."""
    name = names[table]
    found = files_named(folder, name) if name is not None else []
    if name is not None and not found:
        raise ConfigError(f"data.{table}={name}: no such file in '{folder}'")
    return found


def check_is_data(path: Path, key: str) -> None:
    """Refuse a Git-LFS pointer and an empty file where data is expected. An absent file is fine."""
    if is_lfs_pointer(path):
        raise ConfigError(
            f"{key}: '{path}' is a Git-LFS pointer of {size_text(path.stat().st_size)}, not the data; "
            f"fetch it with: git lfs pull"
        )
    if path.name.lower().endswith(ARCHIVES):
        raise ConfigError(f"{key}: '{path}' is an archive: unpack it first{_how(path.name)}")
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
