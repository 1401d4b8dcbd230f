"""What a data set looks like, as text for prompts and as plain JSON for rules.

Three kinds, by how much they give away: `schema` (files, columns, types), `stats` (plus ranges, counts, missing values
and frequent categories), `rows` (plus the first rows). Runs where pandas may be imported: a child process, once a
data set.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

KINDS = ("schema", "stats", "rows")
MAX_CHARS = 6000
"""Size of a preview; what is left out is said."""
MAX_VALUES = 30
"""Categories listed in a profile."""
ALIKE = 6
"""Constant columns with nothing to tell them apart but their names from which they share a line."""
LEAST_APART, LEAST_KNOWN = 3, 5
"""So often a value comes that stands for a missing one, in a column of so many values at least."""
LEAST_LISTED, LISTED_LOOKED_AT = 8, 50
"""Numbers of a cell that is a list of them, and cells that tell it."""
SAMPLE_ROWS, SAMPLE_CELLS = 200_000, 20_000_000
"""Rows of a file that are read, and cells of them."""
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")
_ODD = re.compile(
    "[^\\S ]|[\x00-\x1f\x7f-\x9f\ud800-\udfff"  # white space but blanks, controls, half characters
    "\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]"  # what turns text, or has no width
)
"""What ends a line, or is seen by no reader."""


def profile(frame: Any) -> list[dict[str, Any]]:
    """One dict a column: `name`, `kind` and what is known of its values.

    `kind` is number, category, text, date or constant. Numbers carry min, max, mean, std, skew and `whole`, and `apart`
    where the least or the greatest stands for something else; categories their most frequent `values`, dates the first
    and the last; text its mean number of `words`, and how many numbers are `listed` in each cell where these are all;
    all of them `missing` (a fraction), `unique` and `fewest`, how often the rarest value occurs.
    """
    return [_profile_column(str(name), frame[name]) for name in frame.columns]


def previews_of(folder: Path, *, first: Sequence[str] = (), limit: int = MAX_CHARS) -> dict[str, str]:
    """Kind → every file below a folder; tables (`.csv`) by their columns, those named in `first` before others."""
    listed = sorted(_files(str(folder)), key=lambda file: (_rank(file.name, first), file.place, file.name))
    tables = [file for file in listed if file.suffix == ".csv"][:8]
    described: dict[str, list[str]] = {}
    files = _list_files(listed)
    told = [_describe_table(folder / file.shown, file.shown, described) for file in tables]
    return {kind: cut("\n\n".join([files, *(table[kind] for table in told)]), limit) for kind in KINDS}


def cut(text: str, limit: int) -> str:
    """At most `limit` characters, whole lines, with a last line that says how many were left out."""
    if len(text) <= limit:
        return text
    lines, kept, size = text.splitlines(), 0, 0
    while kept < len(lines) and size + len(lines[kept]) + 1 <= limit - 40:
        size += len(lines[kept]) + 1
        kept += 1
    return "\n".join([*lines[:kept], f"… {_counted(len(lines) - kept, 'more line')} left out"])


def in_line(text: str) -> str:
    """What a file or a table says, in one line: whoever named a column could forge lines of a prompt otherwise.

    What ends a line or is not seen is written as Python writes it (`price\\n(EUR)`), so that a program can name it.
    """
    return _ODD.sub(lambda found: ascii(found[0])[1:-1], text)


def _begins(name: str) -> str:
    """A name where a line begins: in quotes, if it would be a heading or a fence there."""
    name = in_line(name)
    return f"'{name}'" if name.lstrip().startswith(("#", "`", "~")) else name


def _rank(name: str, first: Sequence[str]) -> int:
    return first.index(name) if name in first else len(first)


class _File(NamedTuple):
    """A file below a folder. There may be a million: no Path is made of each."""

    place: str
    """Its folder below that one, '' for that one itself."""
    name: str
    size: int

    @property
    def suffix(self) -> str:
        return os.path.splitext(self.name)[1]

    @property
    def shown(self) -> str:
        return f"{self.place}/{self.name}" if self.place else self.name


def _files(folder: str, place: str = "") -> Iterator[_File]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                yield from _files(entry.path, f"{place}/{entry.name}" if place else entry.name)
            elif entry.is_file():
                yield _File(place, entry.name, entry.stat().st_size)


def _list_files(files: Sequence[_File]) -> str:
    groups: dict[tuple[str, str], list[int]] = {}
    for file in files:
        groups.setdefault((file.place, file.suffix), []).append(file.size)
    lines = ["Files in input/:"]
    for file in [file for file in files if not file.place][:20]:
        lines.append(f"  {_begins(file.name)} ({_size(file.size)})")
    for (place, suffix), sizes in sorted(groups.items())[:20]:
        if place:
            told = f"{_counted(len(sizes), 'file')} '{in_line(suffix)}' ({_size(sum(sizes))})"
            lines.append(f"  {_begins(place)}/: {told}")
    return "\n".join(lines)


def _describe_table(path: Path, name: str, described: dict[str, list[str]]) -> dict[str, str]:
    """A table by its columns, in each kind; one whose columns were nearly all described before is said to be like that
    one."""
    import pandas as pd

    name = _begins(name)
    try:
        most = min(SAMPLE_ROWS, max(1, SAMPLE_CELLS // max(1, len(pd.read_csv(path, nrows=0).columns))))
        frame = pd.read_csv(path, nrows=most, low_memory=False)
    except (ValueError, OSError) as error:
        return dict.fromkeys(KINDS, f"{name}: not readable as a table ({in_line(str(error))})")
    names = [str(column) for column in frame.columns]
    rows = f"{most}+ rows" if len(frame) == most else _counted(len(frame), "row")
    head = f"{name}: {rows}, {_counted(len(names), 'column')}"
    like = next((other for other, theirs in described.items() if _is_like(names, theirs)), None)
    described[name] = names
    if like:
        return dict.fromkeys(KINDS, f"{head}: {in_line(_difference(names, described[like], like))}")
    columns = profile(frame)
    lines = {kind: [head, *_column_lines(columns, kind)] for kind in KINDS}
    shown = frame.head(3).map(lambda value: value if not isinstance(value, str) else in_line(value[:60]))
    shown.columns = [_begins(names[0]), *map(in_line, names[1:])]
    lines["rows"] += ["first rows:", shown.to_csv(index=False).rstrip()]
    return {kind: "\n".join(of_kind) for kind, of_kind in lines.items()}


def _is_like(names: Sequence[str], others: Sequence[str]) -> bool:
    return len(set(names) & set(others)) > 0.8 * max(len(names), len(others))


def _difference(names: Sequence[str], others: Sequence[str], like: str) -> str:
    without = [name for name in others if name not in names]
    more = [name for name in names if name not in others]
    words = [f"without {', '.join(without)}"] if without else []
    words += [f"with {', '.join(more)}"] if more else []
    return f"those of {like}{' ' + ' and '.join(words) if words else ''}"


def _column_lines(columns: Sequence[dict[str, Any]], kind: str) -> list[str]:
    """A line each; constant columns that are next to each other and alike, such as the classes of a sample submission,
    share one."""
    lines = []
    for told, alike in groupby(columns, lambda column: _column_line(column, kind)):
        names = [str(column["name"]) for column in alike]
        many = told.startswith("constant") and len(names) >= ALIKE
        shared = [f"{', '.join(names[:3])} and {_counted(len(names) - 3, 'more column')}"] if many else names
        lines += [f"  {_begins(name)}: {in_line(told)}" for name in shared]
    return lines


def _column_line(column: dict[str, Any], kind: str) -> str:
    line = str(column["kind"])
    if kind == "schema":
        return line
    if column["kind"] == "number":
        line += f", {column['min']:.6g} to {column['max']:.6g}, mean {column['mean']:.6g}"
        if apart := column.get("apart"):
            line += f", {apart['share']:.1%} are {apart['value']:.6g} and all others far from it"
    elif column["kind"] == "text":
        numbers = f", {column['listed']} numbers in each cell" if column.get("listed") else ""
        line += numbers or f", about {column['words']:.0f} words"
    elif column["kind"] == "date":
        line += f", {_counted(column['unique'], 'value')}, {' to '.join(str(value)[:30] for value in column['values'])}"
    else:
        values = column.get("values", [])
        more = ", …" if column["unique"] > 6 else ""
        line += f", {_counted(column['unique'], 'value')}: {', '.join(map(_named, values[:6]))}{more}"
    return line + (f", {column['missing']:.1%} missing" if column["missing"] else "")


def _named(value: Any) -> str:
    """One value of a list of them: in quotes where nobody could tell where it ends."""
    text = str(value)[:30]
    return f'"{text}"' if "," in text or text != text.strip() or not text else text


def _profile_column(name: str, values: Any) -> dict[str, Any]:
    import pandas as pd

    there = values.dropna()
    counts = there.value_counts(sort=False)
    known: dict[str, Any] = {
        "name": name,
        "missing": round(float(values.isna().mean()), 4) if len(values) else 0.0,
        "unique": len(counts),
        "fewest": int(counts.min()) if len(counts) else 0,
    }
    if known["unique"] <= 1:
        return {**known, "kind": "constant", "values": [_plain(v) for v in there.unique()[:1]]}
    if pd.api.types.is_bool_dtype(values):
        return {**known, "kind": "category", "values": [_plain(v) for v in there.unique()[:2]]}
    if pd.api.types.is_numeric_dtype(values):
        return {**known, "kind": "number", **_numbers(there)}
    text = there.astype(str)
    if _is_date(text):
        return {**known, "kind": "date", "values": _first_and_last(text)}
    words = text.head(2000).str.split().str.len().mean()
    if listed := _listed(text.head(LISTED_LOOKED_AT)):
        return {**known, "kind": "text", "words": round(float(words), 1), "listed": listed}
    if words >= 4 and known["unique"] > 0.3 * len(text):
        return {**known, "kind": "text", "words": round(float(words), 1)}
    named = text.value_counts().sort_index().sort_values(ascending=False, kind="stable")
    return {**known, "kind": "category", "values": [value[:60] for value in named.index[:MAX_VALUES]]}


def _listed(cells: Any) -> int:
    """How many numbers each cell is a list of, such as the pixels of a picture; 0 for other texts."""
    parts = cells.str.strip("[] ").str.split(r"[\s,;]+", regex=True)
    count = len(parts.iloc[0])
    if count < LEAST_LISTED or not (parts.str.len() == count).all():
        return 0
    return count if all(_NUMBER.fullmatch(part) for cell in parts for part in cell) else 0


def _numbers(values: Any) -> dict[str, Any]:
    import numpy as np

    with np.errstate(all="ignore"):  # infinite values have neither mean nor spread
        spread = float(values.std())
        return {
            "min": float(values.min()), "max": float(values.max()), "mean": round(float(values.mean()), 6),
            "std": round(spread, 6), "skew": round(float(values.skew()), 3) if spread > 0 else 0.0,
            "whole": bool((values % 1 == 0).all()), "zeros": round(float((values == 0).mean()), 6), **_apart(values),
        }  # fmt: skip


def _apart(values: Any) -> dict[str, Any]:
    """The least or the greatest value where it stands for something else, as -999 for a missing age: it comes again and
    again, and is as far from all others as these are from each other. {} where there is none."""
    known = sorted(values.unique())
    if len(known) < LEAST_KNOWN:
        return {}
    for value, nearest, farthest in ((known[0], known[1], known[-1]), (known[-1], known[-2], known[0])):
        times = int((values == value).sum())
        if times >= LEAST_APART and abs(value - nearest) >= abs(nearest - farthest):
            return {"apart": {"value": float(value), "share": round(times / len(values), 4)}}
    return {}


_MONTH = "(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*[.,]?"
_DATE = re.compile(
    r"^\s*(?:\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}"  # 2024-12-31, and what may follow
    r"|\d{4}[-/]\d{1,2}\s*$|\d{1,2}/\d{4}\s*$"  # a month
    rf"|(?:\d{{1,2}}\.?[ -])?{_MONTH}(?:[ -]\d{{1,2}},?)?(?:[ -]\d{{4}}|-\d{{2}})\s*$)",  # 31 Dec 2024, Dec-24
    re.IGNORECASE,
)


def _is_date(text: Any) -> bool:

    sample = text.head(50)
    return bool(sample.str.contains(_DATE).all() and _times(sample).notna().mean() > 0.9)


def _first_and_last(text: Any) -> list[Any]:
    """Of dates, as they are written: `01.01.2025` comes before `31.12.2024` as text and not in time."""
    text = text.drop_duplicates().reset_index(drop=True)
    times = _times(text)
    readable = times.notna().mean() > 0.9
    return [text[times.idxmin()], text[times.idxmax()]] if readable else [text.min(), text.max()]


def _times(text: Any) -> Any:
    """Month first or day first, whichever more of them are; of dates with dots the day is first where both will do."""
    import pandas as pd

    orders = (True, False) if text.iloc[0].count(".") > 1 else (False, True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        read = [pd.to_datetime(text, errors="coerce", dayfirst=day_first, utc=True) for day_first in orders]
    return max(read, key=lambda times: times.notna().sum())


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value


def _size(count: int) -> str:
    return f"{count / 1e6:.1f} MB" if count >= 1e6 else f"{count / 1e3:.0f} KB"


def _counted(number: int, one: str) -> str:
    """As `counted` of `utils.counts`: the child loads this file alone, and finds nothing else of ours."""
    return f"{number} {one if number == 1 else f'{one}s'}"
