"""Which files of a user's folder are its tables: told from their names; where these do not tell, from a table's head
and from what a zip lists."""

from __future__ import annotations

import re
import zipfile
from collections import Counter
from collections.abc import Sequence
from functools import cache
from glob import glob
from pathlib import Path, PurePosixPath

from utils.errors import ConfigError
from utils.table_head import head_names
from utils.user_path import user_path

PACKED = (".gz", ".zip", ".bz2", ".xz")
TABLES = (".csv", ".tsv", ".tab", ".jsonl", ".ndjson", ".parquet", ".pq", ".feather", ".arrow", ".xlsx", ".xlsm")
"""What a file whose name says nothing else is a table by."""
LONE = (".json", ".dat", ".data", ".db", ".sqlite", ".sqlite3", ".xls")
"""What a file may be a table by where nothing else is there: others are mostly something else (`Thumbs.db`); what is
called `.xls` is often text or a newer spreadsheet."""
READABLE = (*TABLES, *LONE, ".txt")
"""What a table that the user names, or that is called `train` or `test`, may be."""
ARCHIVES = (".tar", ".tgz", ".tar.gz", ".tar.bz2", ".tar.xz", ".tbz2", ".txz", ".zst", ".7z", ".rar")
"""What is not unpacked here."""
DATABASES = (".mdb", ".accdb", ".duckdb")
"""What is not read of them."""
PICKLES = (".pkl", ".pickle")
UNREAD = (
    *PICKLES, ".xlsb", ".ods", ".dta", ".sav", ".por", ".sas7bdat", ".xpt", ".rds", ".rdata", ".rda", ".npy",
    ".npz", ".mat", ".h5", ".hdf5", ".arff", ".orc", ".avro", ".xml", ".html", ".pdf",
)  # fmt: skip
"""Tables of formats that are not read here."""
_SAMPLE = re.compile(
    "(sample|example|dummy)(sub|solution|entry|prediction)|(sub(mission)?|solution)(sample|example|format|template)"
    "|.*samplesubmission"
)
"""What a sample submission is called, of its letters alone: `stage_2_sample_submission` too."""
_TRAIN = re.compile(r"(?<![a-z])train(ing)?(?![a-z])")
_TEST = re.compile(r"(?<![a-z])test(ing)?(?![a-z])")
_LABELS = re.compile(r"label|(?<![a-z])(y|targets?|answers?)(?![a-z])")
"""What a table of labels beside the training table is called: `train_labels`, `y_train`."""
_CAMEL = re.compile(r"(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
"""Where a word begins in `TrainingData`."""
PARTITION = re.compile(r"([^=]+)=([^=]*)")
"""A folder that is called after a column and the value that all rows in it have (Hive)."""
FEWEST_ALIKE = 3
"""Columns of two tables that are alike."""
MOST_BELOW = 20
"""Folders in which a test is sought."""
_NUMBER = re.compile(r"[\da-f]{8}-[\da-f-]{27}|\d+")
"""What tells one part of a table from another in its name."""


def table_stem(path: Path) -> str | None:
    """The name without what tells the format (`Train.csv.gz` is `train`), lower case, words apart (`TrainData` is
    `train_data`); None for what is no table."""
    name = _CAMEL.sub("_", path.name).lower()
    bare = next((name.removesuffix(end) for end in PACKED if name.endswith(end)), name)
    stem = next((bare.removesuffix(end) for end in READABLE if bare.endswith(end)), None)
    return bare if stem is None and bare != name and "." not in bare else stem


def find_table(folder: Path, name: str) -> Path | None:
    """The table called `name` in whatever format; the plain CSV first. None if there is none.

    Raises:
        ConfigError: several may be meant.
    """
    found = tables_called(folder, name)
    if len(found) > 1:
        key = "data.test" if name == "test" else "data.train"
        several = " and ".join(path.name for path in found[:3])
        raise ConfigError(f"data.dir={folder}: {several} are there; say which: --{key}={found[0].name}")
    return found[0] if found else None


def tables_called(folder: Path, name: str) -> list[Path]:
    """The tables that are called so: the one named `NAME.csv` exactly, else those that differ by case, else others. A
    zip of several files may hold what is learned from, but no rows to predict: it is pictures, mostly."""
    every = [path for path in _files(folder) if table_stem(path) == name]
    found = [path for path in every if not packs_files(path)] or ([] if name.startswith("test") else every)
    alike = [path for path in found if path.name.lower() == f"{name}.csv"]
    return [path for path in alike if path.name == f"{name}.csv"] or alike or found


def find_sample(folder: Path) -> Path | None:
    """The sample submission, whatever a competition calls it: `sampleSubmission.csv`, `submission_format.csv`."""
    found = [path for path in _files(folder) if _SAMPLE.match(re.sub(r"[^a-z]", "", table_stem(path) or ""))]
    return min(found, key=lambda path: (path.name != "sample_submission.csv", path.name), default=None)


def find_train(folder: Path, others: tuple[Path | None, ...]) -> Path | None:
    """The table called `train`, the only one with that word in its name, or the only one that is there."""
    exact = find_table(folder, "train") or find_table(folder, "training")
    if exact and not packs_files(exact):
        return exact
    rest = [path for path in _files(folder) if path not in others and _is_table(path)]
    rows = [path for path in rest if not _LABELS.search(table_stem(path) or "")]
    named = [path for path in rows if _TRAIN.search(table_stem(path) or "")]
    told = [path for path in rows if not _TEST.search(table_stem(path) or "")]
    boxes = [path for path in _files(folder) if packs_files(path) and _TRAIN.search(table_stem(path) or "")]
    choices = (named, rest, told, [exact] if exact else boxes)
    return next((found[0] for found in choices if len(found) == 1), None)


def find_holder(folder: Path, others: Sequence[Path | None], targets: Sequence[str]) -> Path | None:
    """The only table whose head names all targets, where names of files do not tell: `train_transaction.csv` beside
    `train_identity.csv`. A table called like labels is none: it has to be joined to another."""
    rest = [path for path in _files(folder) if path not in others and _is_table(path)]
    rows = [path for path in rest if not _LABELS.search(table_stem(path) or "")]
    found = [path for path in rows if targets and head_names(path).issuperset(targets)]
    return found[0] if len(found) == 1 else None


def find_paired(folder: Path, others: Sequence[Path | None]) -> Path | None:
    """Of several tables with the word `train` in their names the only one that has a test of its name, if it is the
    widest: `train_features.csv` beside `train_drug.csv` and `test_features.csv`."""
    rest = [path for path in _files(folder) if path not in others and _is_table(path)]
    named = [path for path in rest if _TRAIN.search(stem := table_stem(path) or "") and not _LABELS.search(stem)]
    found = [path for path in named if _called_like(folder, path)]
    if len(found) != 1:
        return None
    widths = {path: len(head_names(path)) for path in named}
    return found[0] if all(widths[found[0]] > widths[path] for path in named if path != found[0]) else None


def find_unlabelled(folder: Path, train: Path, others: Sequence[Path | None], targets: Sequence[str]) -> Path | None:
    """The only further table whose head names whatever that of the training table does, but no target."""
    wanted, aims = head_names(train) - {*targets}, {*targets}
    rest = [path for path in _files(folder) if path not in (*others, train) and _is_table(path)]
    found = [path for path in rest if wanted <= (names := head_names(path)) and not aims & names]
    return found[0] if len(found) == 1 else None


def find_lone(folder: Path, others: tuple[Path | None, ...]) -> Path | None:
    """The only file that may be a table though its name does not say so, where `find_train` knows none and nothing else
    is there to learn from."""
    found = [path for path in _files(folder) if path not in others and path.name.lower().endswith(LONE)]
    return found[0] if len(found) == 1 else None


def find_test(folder: Path, train: Path | None = None) -> Path | None:
    """The table called `test`, else the one that is called like the training table, with that word in place of `train`:
    `X_test.csv` beside `X_train.csv`, `test_set_features.csv` beside `training_set_features.csv`; or with it in front.
    """
    exact = find_table(folder, "test") or find_table(folder, "testing")
    if exact or train is None:
        return exact
    found = _called_like(folder, train)
    if not found:  # another year
        years = {_NUMBER.sub("0", one) for one in _counterparts(train)}
        tables = _tables_called_test(folder, train)
        found = [path for path in tables if _NUMBER.sub("0", table_stem(path) or "") in years]
    return found[0] if len(found) == 1 else None


def find_test_by_head(
    folder: Path, train: Path, others: Sequence[Path | None], targets: Sequence[str], sample: Path | None
) -> Path | None:
    """The only table with the word `test` in its name that has most of the training table's columns and no target:
    `example_test.csv`, `test_users.csv` beside `train_users_2.csv`. Else the only one of any name that has all columns
    but the targets and no others, with one that the sample submission has, too: `unlabeled.csv`.
    """
    tables = [path for path in _files(folder) if path not in (*others, train, sample) and _is_table(path)]
    wanted, aims = head_names(train) - {*targets} if tables else set(), {*targets}
    heads = {path: names for path in tables if not aims & (names := head_names(path))}
    called = [path for path, names in heads.items()
              if _TEST.search(table_stem(path) or "") and len(wanted & names) > len(wanted) / 2]  # fmt: skip
    is_asked = sample is not None and len(wanted) >= FEWEST_ALIKE and bool(wanted & head_names(sample))
    alike = [path for path, names in heads.items() if names == wanted] if is_asked and aims else []
    return next((found[0] for found in (called, alike) if len(found) == 1), None)


def _called_like(folder: Path, train: Path) -> list[Path]:
    """Tables that are called like the training table, with the word `test`."""
    wanted = _counterparts(train)
    return [path for path in _tables_called_test(folder, train) if _TEST.sub("test", table_stem(path) or "") in wanted]


def _counterparts(train: Path) -> set[str]:
    stem = table_stem(train) or ""
    return {_TRAIN.sub("test", stem), f"test_{stem}", f"{stem}_test"} - {stem}


def _tables_called_test(folder: Path, train: Path) -> list[Path]:
    tables = [path for path in _files(folder) if path != train and _is_table(path)]
    return [path for path in tables if _TEST.search(table_stem(path) or "")]


def find_test_below(folder: Path, train: Path, targets: Sequence[str]) -> Path | None:
    """The only table `test` of the folders below that has most of the training table's columns, where the folder has
    none: `example_test_files/test.csv`, as competitions whose test is handed out by a program have it."""
    below = [path for path in sorted(folder.iterdir()) if path.is_dir() and not path.name.startswith(".")]
    tables = [table for path in below[:MOST_BELOW] for table in tables_called(path, "test") if table != train]
    wanted = head_names(train) - {*targets} if tables else set()
    found = [table for table in tables if wanted and len(wanted & head_names(table)) > len(wanted) / 2]
    return found[0] if len(found) == 1 else None


def files_named(folder: Path, name: str) -> list[Path]:
    """The files that a user means by a name: the one that is called so, inside of the folder or as it is; else the
    tables of a folder, and what patterns (`2023-*.csv`) with commas between them match, in the order of their names.
    """
    places = (folder, Path())
    for path in [place / user_path(name) for place in places]:
        if path.is_file():
            return [path.resolve()]
        if path.is_dir():
            return [part.resolve() for part in _tables_in(path)]
    for place in places:
        said = [str(user_path(one.strip())) for one in name.split(",") if one.strip()]
        found = {place / one: None for pattern in said for one in sorted(glob(pattern, root_dir=place, recursive=True))}
        if files := [path.resolve() for path in found if path.is_file()]:
            return files
    return []


def find_parts(folder: Path, name: str, others: Sequence[Path | None] = ()) -> list[Path]:
    """The tables that are parts of one: their names differ by their numbers alone (`train_2022.csv`, `train_2023.csv`),
    or tests have the same columns (`test_public.csv`, `test_private.csv`).

    Args:
        name: `train` or `test`; parts of a training table need not have the word in their names.
        others: tables that are known to be something else.
    """
    rest = [path for path in _files(folder) if path not in others and _is_table(path)]
    rows = [path for path in rest if not _LABELS.search(table_stem(path) or "")]
    word = _TRAIN if name == "train" else _TEST
    named = [path for path in rows if word.search(table_stem(path) or "")]
    if name == "train" and not named:
        named = [path for path in rows if not _TEST.search(table_stem(path) or "")]
    are_tests = name == "test" and len(named) > 1 and _have_same_head(named)
    return named if len(named) > 1 and (_are_parts(named) or are_tests) else []


def parts_inside(folder: Path, name: str) -> list[Path]:
    """The parts of a table that is a folder, as Spark and others write it: `train/part-0.csv`, `train.parquet/…`,
    `train/year=2022/part-0.csv`; or the table called like its folder, whatever lies beside it: `test/test.csv`."""
    inside = [part for path in folders_called(folder, name) for part in _tables_in(path)]
    named = [part for part in inside if table_stem(part) == name]
    return named[:1] or (inside if _are_parts(inside) else [])


def folders_called(folder: Path, name: str) -> list[Path]:
    """The folder that is called like a table, if there is one."""
    found = [path for path in sorted(folder.iterdir()) if path.is_dir() and name in (path.name, table_stem(path))]
    return found[:1]


def _tables_in(folder: Path) -> list[Path]:
    """The tables of a folder; where it has none, those of folders below that name a column and its value."""
    found = [path for path in _files(folder) if _is_table(path)]
    below = [path for path in sorted(folder.iterdir()) if path.is_dir() and PARTITION.fullmatch(path.name)]
    return found or [table for path in below for table in _tables_in(path)]


def _are_parts(paths: Sequence[Path]) -> bool:
    return len({_NUMBER.sub("0", path.name.lower()) for path in paths}) == 1


def _have_same_head(paths: Sequence[Path]) -> bool:
    heads = [head_names(path) for path in paths]
    return len(heads[0]) > 1 and all(head == heads[0] for head in heads)


def folder_of_train(folder: Path, depth: int = 3) -> Path | None:
    """The only folder below, so deep, in which a table is called `train`."""
    found: list[Path] = []
    level = [folder]
    for _ in range(depth):
        level = [path for one in level for path in sorted(one.iterdir())[:MOST_BELOW]
                 if path.is_dir() and not path.is_symlink() and not path.name.startswith(".")]  # fmt: skip
        found += [path for path in level if tables_called(path, "train")]
    return found[0] if len(found) == 1 else None


def pattern_below(folder: Path) -> str | None:
    """What matches the tables of one name that lie in several folders below: `*/data.csv` of `2021/`, `2022/`."""
    below = [path for path in sorted(folder.iterdir())[:MOST_BELOW] if path.is_dir() and not path.name.startswith(".")]
    names = Counter(path.name for one in below for path in _files(one) if _is_table(path))
    found = [name for name, count in names.items() if count > 1]
    return f"*/{found[0]}" if len(found) == 1 else None


def packs_files(path: Path) -> bool:
    """True for a zip of several files none of which is a table or called as it is: pictures, mostly."""
    if path.suffix.lower() != ".zip":
        return False
    status = path.stat()
    return _packs_files(path, status.st_size, status.st_mtime_ns)


@cache
def _packs_files(path: Path, size: int, changed: int) -> bool:
    """The list of a zip of many pictures takes its time, and is asked for again and again."""
    try:
        names = files_in_zip(path)
        return are_several(names, path) and not any(name.name.lower().endswith(TABLES) for name in names)
    except (OSError, ValueError, zipfile.BadZipFile):  # told where it is read
        return False


def files_in_zip(path: Path) -> list[PurePosixPath]:
    """What a zip holds, but for folders and for hidden files, such as what macOS adds."""
    with zipfile.ZipFile(path) as archive:
        names = [name.replace("\\", "/") for name in archive.namelist()]  # as Windows writes them
    return [PurePosixPath(name) for name in names if not name.endswith("/") and not is_hidden(PurePosixPath(name))]


def is_hidden(name: PurePosixPath) -> bool:
    return any(part.startswith((".", "__MACOSX")) for part in name.parts if part != "..")


def are_several(names: Sequence[PurePosixPath], path: Path) -> bool:
    """True for several files of a zip, none of them called as it is: `train.csv` in `train.zip` is a packed table."""
    return len(names) > 1 and not any(table_stem(Path(name.name)) == table_stem(path) for name in names)


def _is_table(path: Path) -> bool:
    name = path.name.lower()
    if packs_files(path):
        return False
    return name.endswith(tuple(end + packed for end in TABLES for packed in ("", *PACKED))) or (
        name.endswith(".zip") and table_stem(path) is not None
    )


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.is_file() and not path.name.startswith("."))
