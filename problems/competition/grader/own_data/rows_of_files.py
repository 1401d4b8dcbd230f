"""Rows to predict that nothing names but files: pictures in `test/`, beside a table that names those in `train/`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from ..tables.columns import targets_of
from ..tables.contents import read_any, read_texts
from ..tables.counts import counted
from ..tables.csv_text import write_csv
from ..tables.exact import Unusable
from ..tables.file_kinds import KINDS

ENDINGS = frozenset(end for ends in KINDS.values() for end in ends)
HEAD = 1000
"""Rows of which most must name files."""
MOST = 0.9
FEWEST = 2
"""Files that are rows to predict."""
_TEST = re.compile(r"(?<![a-z])test(ing)?(?![a-z])", re.IGNORECASE)


def with_rows_of_files(request: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The request with a test that holds the names of the files in a folder `test`, where neither a table nor a sample
    says which rows are to be predicted, and a training table of names and labels alone names files, too.

    Args:
        folder: the test is written there.
    """
    place = Path(request["folder"])
    if not request.get("target") or request.get("test") or request.get("sample") or request.get("alone"):
        return request
    try:
        table, _ = read_any(Path(request["train"]), rows=HEAD)
    except Unusable:  # what is wrong with it is told where it is read
        return request
    targets = targets_of(request["target"], [*table])
    others = [name for name in table if name not in targets]
    if len(others) != 1 or len(others) == len([*table]):
        return request
    cells = read_texts(Path(request["train"]), others[0])  # `007` is no 7 where it names a file
    known = cells[cells != ""].head(HEAD)
    found = [(below, names) for below in _test_folders(place) if (names := _named_like(known, below, place))]
    if len(found) != 1:
        return request
    ((below, names),) = found
    folder.mkdir(parents=True, exist_ok=True)
    write_csv(pd.DataFrame({others[0]: names}), folder / "test.csv")
    told = (
        f"{counted(len(names), 'file')} of {below.relative_to(place).as_posix()}/ are the rows to predict: "
        f"test.csv is made of their names"
    )
    unpacked = "; ".join(filter(None, (request.get("unpacked"), told)))
    return {**request, "test": str(folder / "test.csv"), "unpacked": unpacked}


def _test_folders(place: Path) -> Iterator[Path]:
    """Folders called so, at the top or one below."""
    for path in sorted(place.iterdir()):
        if path.is_dir() and not path.name.startswith(".") and not path.is_symlink():
            if _TEST.search(path.name):
                yield path
            else:
                yield from (one for one in sorted(path.iterdir()) if one.is_dir() and _TEST.search(one.name))


def _named_like(known: Any, below: Path, place: Path) -> list[str]:
    """What the training table would call the files of a folder; [] where it names no files of this kind."""
    files = sorted(path for path in below.iterdir() if path.suffix.lower() in ENDINGS and path.is_file())
    kinds = Counter(path.suffix for path in files)
    if len(files) < FEWEST or len(kinds) != 1 or known.empty:
        return []
    (ending,) = kinds
    is_whole = bool(known.str.endswith(ending).mean() > MOST)
    names = [path.name if is_whole else path.stem for path in files]
    elsewhere = {
        path.name if is_whole else path.stem
        for other in (*place.iterdir(), *below.parent.iterdir())
        if other.is_dir() and other != below and not other.name.startswith(".")
        for path in other.iterdir()
        if path.suffix == ending
    }
    learns = known.isin(elsewhere).mean() > MOST
    return names if learns and not known.isin({*names}).any() else []
