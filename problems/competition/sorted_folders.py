"""A data set whose labels are the names of folders (`train/cat/1.png`): made into a table and files that tell nothing.

Programs must not read a hidden label off a path, so the files lie in one folder, each under the digest of its content.
Texts stand in the table itself.
"""

from __future__ import annotations

import csv
import os
import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from problems.competition.grader.tables.file_kinds import KINDS
from utils.counts import counted
from utils.dataset_files import find_sample
from utils.errors import ConfigError
from utils.file_utils import folder_for, move_into_place, used_now

LABEL = "label"
LONGEST = 1_000_000
"""Bytes of a text that go into the table."""
FEW = 8
"""Files that are no data set."""
SHOWN = 6
_LEARN = re.compile(r"^(train|training|val|valid|validation|dev)$", re.IGNORECASE)
_PREDICT = re.compile(r"^(test|testing|unlabell?ed)$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class SortedFiles:
    """Files in folders named by their class.

    Args:
        root: the user's folder.
        kind: `image`, `sound` or `text`.
        rows: (file, class) of the files to learn from, in order of their paths.
        test: files to predict, with the folder that they lie in; () without any.
    """

    root: Path
    kind: str
    rows: tuple[tuple[Path, str], ...]
    test: tuple[Path, ...]
    test_at: Path | None

    def told(self) -> str:
        """What was found, in a line."""
        names = sorted({label for _, label in self.rows})
        more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
        tested = f"; {len(self.test)} in {self.test_at.name}/ to predict" if self.test_at else ""
        return (
            f"no table: {counted(len(self.rows), self.kind)} in folders named by "
            f"{counted(len(names), 'class', 'classes')} ({', '.join(names[:SHOWN])}{more}) make train.csv{tested}"
        )


def find_sorted(root: Path, ours: tuple[Path, ...] = ()) -> SortedFiles | None:
    """The files below `root` that folders sort, in `train/` or at its top; None where fewer than two folders do.

    Args:
        ours: folders that are not the user's data.

    Raises:
        ConfigError: many such files are there, and nothing tells their labels.
    """
    folders = [path for path in _folders(root) if path.resolve() not in ours]
    learn = [path for path in folders if _LEARN.match(path.name)]
    tested = next((path for path in folders if _PREDICT.match(path.name)), None)
    classes = [found for path in learn for found in _folders(path)] or [p for p in folders if p not in (*learn, tested)]
    counts = {kind: sum(1 for path in classes for _ in _files(path, kind)) for kind in KINDS}
    kind = max(counts, key=lambda name: counts[name])
    rows = tuple((path, folder.name) for folder in classes for path in _files(folder, kind))
    if len({label for _, label in rows}) < 2:
        count = max(sum(1 for path in folders for _ in _files(path, name)) for name in KINDS)
        if count < FEW:
            return None
        raise ConfigError(
            f"data.dir={root}: nothing tells the labels of its {counted(count, 'file')}: give a train.csv with a "
            f"column that names them, or a folder a class (train/cat/1.png, train/dog/2.png)"
        )
    test = tuple(_files(tested, kind)) if tested else ()
    return SortedFiles(root, kind, rows, test, tested if test else None)


def as_tables(found: SortedFiles, target: str | None, place: Path) -> Path:
    """A folder below `place` with `train.csv`, `test.csv` and the files, made unless it is there.

    Args:
        target: what `data.target` calls the labels.

    Raises:
        ConfigError: the target cannot be the name of one column beside the files'.
    """
    label = target or LABEL
    if "," in label or label == found.kind:
        raise ConfigError(f"data.target={label}: the folders' names are one column; call it {LABEL}, for example")
    digest = sha256(os.fsencode(f"{found.root}:{label}"))
    for path in (*(path for path, _ in found.rows), *found.test, *_others(found.root)):
        status = path.stat()
        digest.update(os.fsencode(f"{path}:{status.st_size}:{status.st_mtime_ns}"))
    target_folder = place / digest.hexdigest()[:12]
    if not target_folder.is_dir():
        with folder_for(target_folder) as made:
            _write(found, label, made)
            move_into_place(made, target_folder)
    used_now(target_folder)
    return target_folder


def _write(found: SortedFiles, label: str, made: Path) -> None:
    for path in _others(found.root):
        _link(path, made / path.name)
    with (made / "train.csv").open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow([found.kind, label])
        table.writerows([_cell(path, found.kind, made), name] for path, name in found.rows)
    if found.test_at is None:
        return
    key, ids = _ids(found.test, found.test_at, find_sample(found.root))
    with (made / "test.csv").open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow([key, found.kind])
        table.writerows([name, _cell(path, found.kind, made)] for name, path in zip(ids, found.test, strict=True))


def _cell(path: Path, kind: str, made: Path) -> str:
    """What the table holds for a file: its text, or where it lies from now on."""
    if kind == "text":
        with path.open(encoding="utf-8", errors="replace") as file:
            return file.read(LONGEST).replace("\0", "")
    with path.open("rb") as file:
        content = sha256()
        while block := file.read(1 << 20):
            content.update(block)
    name = f"{kind}s/{content.hexdigest()[:20]}{path.suffix.lower()}"
    (made / f"{kind}s").mkdir(exist_ok=True)
    if not (made / name).exists():  # equal files are one file, whatever folders they lie in
        _link(path, made / name)
    return name


def _ids(paths: Sequence[Path], folder: Path, sample: Path | None) -> tuple[str, list[str]]:
    """The name of the ids' column and what names each file: as the sample submission writes it, where there is one."""
    forms = [[path.relative_to(folder).as_posix() for path in paths], [p.name for p in paths], [p.stem for p in paths]]
    if sample is None or not sample.name.lower().endswith(".csv"):
        return "id", forms[0]
    with sample.open(newline="", encoding="utf-8-sig", errors="replace") as file:
        head, *rows = list(csv.reader(file)) or [["id"]]
    wanted = {row[0] for row in rows if row}
    return head[0] if head else "id", max(forms, key=lambda names: len(wanted & set(names)))


def _link(path: Path, to: Path) -> None:
    try:
        os.link(os.path.realpath(path), to)
    except OSError:  # another disk, or one without links
        shutil.copyfile(path, to)


def _folders(root: Path) -> list[Path]:
    return sorted(path for path in root.iterdir() if path.is_dir() and not path.name.startswith("."))


def _others(root: Path) -> list[Path]:
    return sorted(path for path in root.iterdir() if path.is_file() and not path.name.startswith("."))


def _files(folder: Path, kind: str) -> Iterator[Path]:
    for path in sorted(folder.rglob("*")):
        if path.suffix.lower() in KINDS[kind] and path.is_file() and not path.name.startswith("."):
            yield path
