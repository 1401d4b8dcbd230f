"""Checks a data set's folder and lays out a workspace: `input/` (read-only data), `working/`, `submission/`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from utils.errors import ConfigError
from utils.file_utils import is_lfs_pointer, link_or_copy, size_text

TRAIN, TEST, SAMPLE, DESCRIPTION = "train.csv", "test.csv", "sample_submission.csv", "description.md"
SUBMISSION = "submission/submission.csv"
"""Where a program leaves its predictions, relative to its workspace."""


@dataclass(frozen=True, slots=True)
class DatasetFolder:
    """What a user's data folder holds."""

    path: Path
    train: Path
    test: Path | None
    sample: Path | None
    description: str
    """Text of `description.md`, or ''."""


def validate_dataset(folder: str | Path, *, key: str = "data.dir") -> DatasetFolder:
    """Check a folder with `train.csv` (and perhaps `test.csv`, `sample_submission.csv`, `description.md`).

    Raises:
        ConfigError: one line that names the key, the folder and what is missing.
    """
    path = Path(folder).expanduser()
    if not path.is_dir():
        raise ConfigError(f"{key}={folder}: no such folder")
    train = path / TRAIN
    if not train.is_file():
        found = ", ".join(sorted(p.name for p in path.iterdir())[:8]) or "nothing"
        raise ConfigError(f"{key}={folder}: needs a {TRAIN}; the folder holds {found}")
    for name in (TRAIN, TEST, SAMPLE):
        check_is_data(path / name, key)
    description = path / DESCRIPTION
    return DatasetFolder(
        path.resolve(),
        train.resolve(),
        _existing(path / TEST),
        _existing(path / SAMPLE),
        description.read_text(encoding="utf-8", errors="replace") if description.is_file() else "",
    )


def check_is_data(path: Path, key: str) -> None:
    """Refuse a Git-LFS pointer and an empty file where data is expected. An absent file is fine."""
    if is_lfs_pointer(path):
        raise ConfigError(
            f"{key}: '{path}' is a Git-LFS pointer of {size_text(path.stat().st_size)}, not the data; "
            f"fetch it with: git lfs pull"
        )
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


def _existing(path: Path) -> Path | None:
    return path.resolve() if path.is_file() else None
