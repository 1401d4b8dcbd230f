"""The base in the run's own folder, so that a run that is copied elsewhere goes on there."""

from __future__ import annotations

import shutil
import tarfile
import tempfile
from pathlib import Path

from problems.command.tree.base import Base, kept, snapshot
from utils.archives import BROKEN
from utils.errors import ConfigError
from utils.file_utils import staged
from utils.tar_archive import untar

ARCHIVE = "base.tar.gz"
"""In the run's `files/`: all files of the base, in the order of their paths."""


def keep(base: Base, run_dir: Path) -> None:
    """Pack the base into a run's folder; once."""
    path = run_dir / "files" / ARCHIVE
    if path.exists():
        return
    with staged(path) as fresh, tarfile.open(fresh, "w:gz", compresslevel=1) as archive:
        for name in base.files:
            archive.add(base.folder / name, name, recursive=False)


def unpack(run_dir: Path, store: Path, name: str) -> None:
    """Make the snapshot `name` out of a run's archive where it is not there; what is in the archive is not trusted.

    Raises:
        ConfigError: the archive cannot be read, or holds another base than the run began with.
    """
    path = run_dir / "files" / ARCHIVE
    if kept(store, name) is not None or not path.is_file():
        return
    store.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix=".unpacked-", dir=store))
    try:
        with tarfile.open(path, "r:gz") as archive:
            untar(archive, folder)
        found = snapshot(folder, store)
    except BROKEN as error:
        raise ConfigError(f"{path}: cannot be unpacked: {error}") from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if found.id != name:
        raise ConfigError(f"{path}: it holds another tree than the run began with ({found.id}, not {name})")
