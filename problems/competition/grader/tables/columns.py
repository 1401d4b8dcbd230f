"""Columns by their names: targets, what may be meant by one that is not there, doubled ones, lists for notes."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import pandas as pd

from .contents import doubled, line_of_head, read_any
from .counts import counted
from .exact import Unusable

ID_NAMES = ("id", "index", "row_id", "uid", "uuid", "key")
MOST_NAMES = 5
"""Columns that a note lists."""
HEAD_ROWS = 1000
"""Rows that tell whether a table has no head."""
MOST_LETTERS = 60
"""Of a column's name in a list."""
_BETWEEN = re.compile(r"(?<=[^\W_])[ _.\-]+(?=[^\W_])")


def called_like_id(name: str) -> bool:
    """True for a column whose name says that it names rows."""
    return name.lower() in ID_NAMES or name.lower().endswith("_id")


def targets_of(given: str, columns: list[str]) -> list[str]:
    """One target, or several with commas between them."""
    if given in columns or "," not in given:
        return [given]
    return list(dict.fromkeys(name.strip() for name in given.split(",") if name.strip()))


def told_doubled(path: Path, table: list[str], given: str, name: str = "labels") -> Iterator[str]:
    """What columns of one name are called here. Unusable where it is the target's: either may be meant."""
    for column, count in doubled(path).items():
        named = [other for other in table if other == column or re.fullmatch(rf"{re.escape(column)}\.\d+", other)]
        if name in ("train", "labels") and column in targets_of(given, table):
            raise Unusable(
                f"data.target={given}: {path.name} has {counted(count, 'column')} called '{column}'; rename one"
            )
        yield f"{path.name} has {counted(count, 'column')} called '{column}': they are {listed(named)}"


def instead(target: str, columns: list[str], path: Path) -> str:
    """What may be meant by a target that no column is called: one that differs by case or blanks, a later head."""
    if alike := next((name for name in columns if bare(name) == bare(target)), None):
        blanks = alike != " ".join(alike.split())
        return f"; did you mean {repr(alike) if blanks else alike}?{' (blanks count)' if blanks else ''}"
    if _is_headless(path):
        return "; its first line holds values, not names of columns: put a line with a name for each on top"
    at = line_of_head(path, target)
    if at > 1:
        return f"; line {at} seems to be the head of the table: delete what stands above it"
    close = difflib.get_close_matches(target, columns, n=1, cutoff=0.6)
    head = f"did you mean {close[0]}? Columns" if close else "columns"
    return f"; {head} are {listed(columns, 10)}" if columns else "; it holds no rows"


def _is_headless(path: Path) -> bool:
    """True if names of columns are values of theirs: a word that stands in its own column, a fraction above
    fractions."""
    table, _ = read_any(path, rows=HEAD_ROWS)
    names = [name for name in table if not name.startswith("Unnamed: ")]
    words = [name for name in names if not pd.api.types.is_numeric_dtype(table[name])]
    numbers = [name.strip() for name in names if name not in words]
    fractions = [name for name in numbers if re.fullmatch(r"-?\d*\.\d+", name) and name.partition(".")[0] not in names]
    return bool(fractions) or any(name.strip() in set(table[name].astype(str).str.strip()) for name in words)


def same_names(theirs: Iterable[str], ours: Iterable[str]) -> dict[str, str]:
    """Columns of another table that differ from one of ours by case, blanks or what stands for these → ours; where one
    name may mean two, it means none."""
    known, foreign = list(ours), [name for name in theirs if name not in set(ours)]
    lacking = set(known) - set(theirs)
    mine = _by_bare(name for name in known if name in lacking)
    return {names[0]: mine[bare][0] for bare, names in _by_bare(foreign).items()
            if len(names) == 1 and len(mine.get(bare, ())) == 1}  # fmt: skip


def told_same(path: Path, same: dict[str, str]) -> list[str]:
    """A line on columns that a table writes otherwise."""
    pairs = [
        f"{ours} as {theirs if theirs == ' '.join(theirs.split()) else repr(theirs)}" for theirs, ours in same.items()
    ]
    return [f"{path.name} writes {listed(pairs)}: taken for the same"] if pairs else []


def _by_bare(names: Iterable[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name in names:
        found.setdefault(bare(name), []).append(name)
    return found


def bare(name: str) -> str:
    """What names are compared by where case, blanks and what stands for these do not count: `id-01`, `id_01`."""
    return _BETWEEN.sub(" ", " ".join(name.split())).casefold()


def listed(names: list[str], most: int = MOST_NAMES, letters: int = MOST_LETTERS) -> str:
    """The first names with commas between them.

    Args:
        letters: of each, at most.
    """
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(_shortened(name, letters) for name in names[:most]) + more


def _shortened(name: object, letters: int) -> str:
    """A long name with its beginning and its end, which tells files of one folder apart and closes its brackets."""
    text = str(name)
    return text if len(text) <= letters else f"{text[: letters // 2]}…{text[1 - letters // 2 :]}"
