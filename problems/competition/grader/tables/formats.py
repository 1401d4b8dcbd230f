"""Reads the tables that people bring: packed, in any usual encoding, separated by anything, columnar, spreadsheets.

A plain UTF-8 table with commas is read as ever. For everything else a look at the first bytes decides, and what was
seen is told in a few words, so that a user notices a wrong guess.
"""

from __future__ import annotations

import bz2
import codecs
import gzip
import importlib
import json
import lzma
import zipfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

import pandas as pd

from .blocks import together
from .databases import BEGIN, read_database
from .exact import EXACT, Unusable, first_line
from .json_records import read_records
from .keys import as_keys
from .nested_cells import flat
from .sheets import head_of_sheet, read_sheet
from .text_look import (
    BLANKS,
    CSV_WAYS,
    LINES,
    NOTHING,
    beyond_head,
    decimal_mark,
    encoding_of,
    field_rows,
    lines_above,
    quoting,
    separator,
    told_above,
)

LOOK = 1 << 18
"""Bytes of a text table that are looked at."""
FEATHER = (".feather", ".arrow")
COLUMNAR = (".parquet", ".pq", *FEATHER)
SHEETS = (".xlsx", ".xlsm")
LINED_JSON = (".jsonl", ".ndjson")
DATABASES = (".db", ".sqlite", ".sqlite3")
TEXT = (".csv", ".tsv", ".tab", ".txt", ".dat", ".data", ".json", *LINED_JSON)
_BY_CONTENT = ((b"PAR1", ".parquet"), (b"ARROW1", ".feather"))
"""Whatever the file is called."""
_PACKED = ((b"\x1f\x8b", "gzip"), (b"PK\x03\x04", "zip"), (b"BZh", "bz2"), (b"\xfd7zXZ", "xz"))


@dataclass(frozen=True, slots=True)
class Look:
    """What the first bytes of a table tell."""

    packed: str
    """`gzip`, `zip`, `bz2`, `xz`, or '' for none."""
    suffix: str
    """Of the table itself, without the packing."""
    encoding: str = ""
    mark: str = ","
    decimal: str = "."
    above: int = 0
    """Lines above the head of a text."""
    quoted: str = ""
    """How texts are quoted, of `text_look.quoting`; '' for as usual."""
    beyond: str = ""
    """What its rows have beside the columns that the head names; '' for nothing."""
    width: int = 0
    """Columns that the head names."""
    blank: int = 0
    """Fields without anything behind them, in the longest row."""

    @property
    def sep(self) -> str:
        """What pandas is told to separate columns by."""
        return r"\s+" if self.mark == BLANKS else self.mark

    @property
    def is_guessed(self) -> bool:
        """True for a text whose encoding nothing but its letters tells."""
        return bool(self.encoding) and not self.encoding.startswith("utf")

    def told(self) -> str:
        """What is unlike a plain table, in a few words; '' if nothing is."""
        names = {"\t": "a tab", "|": "'|'", ";": "';'", BLANKS: "blanks"}
        parts = [self.packed] if self.packed else []
        parts += [] if self.encoding in ("", "utf-8", "utf-8-sig") else [self.encoding.upper()]
        parts += [f"{names[self.mark]} between columns"] if self.mark != "," else []
        parts += ["decimal commas"] if self.decimal == "," else []
        parts += [self.quoted] if self.quoted else []
        parts += [told_above(self.above)] if self.above else []
        parts += [self.beyond] if self.beyond else []
        return ", ".join(parts)


def read_any(path: Path, rows: int | None = None) -> tuple[Any, str]:
    """The table and what was unusual about it.

    Args:
        path: a file in any of the formats above.
        rows: read only so many, to look at its columns.

    Raises:
        Unusable: one line that names the file and what to do.
    """
    with refusals(path):
        table, told = _read(path, look_at(path), rows)
    table.columns = [str(name) for name in table.columns]
    table.index = pd.RangeIndex(len(table))  # pandas makes one of names of rows
    return table, told


def read_texts(path: Path, column: str) -> Any:
    """One column of a table as its cells stand (`007`, `1e7`, `None`), '' where a cell is empty.

    Where a table holds numbers themselves, a whole one has no point.
    """
    with refusals(path):
        table = _read_texts(path, look_at(path), column)
    table.columns = [str(name) for name in table.columns]
    return as_keys(table[column]).fillna("")


@contextmanager
def refusals(path: Path) -> Iterator[None]:
    """Whatever goes wrong while a file of the user's is read is told in one line that names it."""
    try:
        yield
    except Unusable:
        raise
    except ImportError as error:
        raise Unusable(f"data: '{path}' needs a package that is not installed ({first_line(error)}); "
                       f"pip install pyarrow openpyxl (the extra [tables]), or save it as CSV") from error  # fmt: skip
    except Exception as error:  # the user's file
        why = (isinstance(error, OSError) and error.strerror) or first_line(error)
        raise Unusable(f"data: '{path}' is not a table that can be read: {why}") from error


def doubled(path: Path) -> dict[str, int]:
    """Names that several columns of a table have, and how many: pandas calls the later ones `price.1` in silence."""
    with refusals(path):
        return _doubled(path, look_at(path))


def _doubled(path: Path, look: Look) -> dict[str, int]:
    if look.suffix in (*COLUMNAR, *DATABASES, *LINED_JSON, ".json"):
        return {}
    if look.suffix in SHEETS:
        head = head_of_sheet(path)
    else:
        with opened(path, look.packed) as file:
            head = pd.read_csv(file, encoding=look.encoding, encoding_errors="replace", sep=look.sep, header=None,
                               nrows=1, dtype=str, skiprows=look.above, **CSV_WAYS[look.quoted])  # fmt: skip
    counts = Counter(head.iloc[0].dropna().astype(str))
    return {name: count for name, count in counts.items() if count > 1}


def line_of_head(path: Path, column: str) -> int:
    """The number of the first line that has the column's name among its fields, from 1; 0 where none has."""
    look = look_at(path)
    if not is_text(look):
        return 0
    with opened(path, look.packed) as file:
        lines = file.read(LOOK).decode(look.encoding, errors="replace").splitlines()[:LINES]
    rows = (field_rows([line], look.mark) for line in lines)
    return next((at for at, row in enumerate(rows, 1) if row and column in [name.strip() for name in row[0]]), 0)


def kind_of(path: Path) -> Look:
    """How a file is packed, and what table it holds by its name: nothing of its text."""
    with path.open("rb") as file:
        head = file.read(len(BEGIN))
    if head == BEGIN:
        return Look("", DATABASES[0])
    if suffix := next((suffix for mark, suffix in _BY_CONTENT if head.startswith(mark)), ""):
        return Look("", suffix)
    packed = next((name for mark, name in _PACKED if head.startswith(mark)), "")
    name = path.name
    if path.suffix.lower() in (*SHEETS, *COLUMNAR):
        return Look("", path.suffix.lower())
    if packed == "zip" and _is_workbook(path):
        return Look("", SHEETS[0])
    if packed == "zip":
        name = _member(path)
    elif packed:
        name = path.name.rpartition(".")[0]
    suffix = Path(name).suffix.lower()
    if suffix in DATABASES:
        raise Unusable(f"data: '{path}' is no database of SQLite: write its table as a CSV")
    return Look(packed, suffix)


def look_at(path: Path) -> Look:
    """What kind of table a file is, from its name and its first bytes."""
    kind = kind_of(path)
    if kind.suffix == ".json" and _is_lined(path, kind.packed):
        return replace(kind, suffix=LINED_JSON[0])
    if not is_text(kind):
        return kind
    packed, suffix = kind.packed, kind.suffix
    with opened(path, packed) as file:
        sample = file.read(LOOK)
    encoding = encoding_of(sample)
    if sample.lstrip(b"\xef\xbb\xbf \r\n\t")[:15].lower().startswith((b"<!doctype html", b"<html", b"<?xml")):
        raise Unusable(f"data: '{path}' is a page of HTML or XML, not a table: what was to be fetched may need a login")
    if packed and sample.startswith(tuple(mark for mark, _ in _PACKED)):
        inner = Path(_member(path) if packed == "zip" else path.stem).name
        raise Unusable(f"data: '{path}' is packed twice: it holds '{inner[:60]}', packed too; unpack it first")
    if encoding is None:
        raise Unusable(f"data: '{path}' holds NUL characters: it is no text; save it as CSV in UTF-8")
    lines = sample.decode(encoding, errors="replace").splitlines()
    above = lines_above(lines[:LINES])
    lines = [line for line in lines[above:] if line.strip()]
    lines = lines[:LINES] if len(sample) < LOOK else lines[: min(LINES, max(1, len(lines) - 1))]
    mark = separator(lines)
    quoted = quoting(lines, mark)
    fields = field_rows(lines, mark, quoted)
    beyond = beyond_head(fields)
    if beyond is None:
        told = f"its first row has {len(fields[1])} fields, but its head names {len(fields[0])} columns"
        raise Unusable(f"data: '{path}': {told}: name each of them")
    width = len(fields[0]) if fields else 0
    blank = max(map(len, fields)) - width if beyond == NOTHING else 0
    return Look(packed, suffix, encoding, mark, decimal_mark(lines, mark), above, quoted, beyond, width, blank)


def _read(path: Path, look: Look, rows: int | None) -> tuple[Any, str]:
    if look.suffix in SHEETS:
        return read_sheet(path, rows)
    if look.suffix in DATABASES:
        table, told = read_database(path, rows)
        return flat(table, told)
    with opened(path, look.packed) as file:
        if look.suffix in COLUMNAR:
            importlib.import_module("pyarrow")
            table = pd.read_feather(file) if look.suffix in FEATHER else pd.read_parquet(file)
            if any(name is not None for name in table.index.names):
                table = table.reset_index()
            return flat(table if rows is None else table.head(rows), look.told())
        if look.suffix == ".json" or look.suffix in LINED_JSON:
            if look.suffix in LINED_JSON:
                return flat(pd.read_json(file, lines=True, nrows=rows), look.told())
            table, key = read_records(file)
            return flat(table, ", ".join(filter(None, [look.told(), f"rows below the key '{key}'" if key else ""])))
    return _text(path, look, rows)


def _read_texts(path: Path, look: Look, column: str) -> Any:
    """A table with that column, and maybe others."""
    how: dict[str, Any] = {"dtype": str, "keep_default_na": False}
    if look.suffix in SHEETS:
        return read_sheet(path, None, how)[0]
    if look.suffix in (*COLUMNAR, *DATABASES):
        return _read(path, look, None)[0]
    if look.suffix == ".json" or look.suffix in LINED_JSON:
        with opened(path, look.packed) as file:
            how = {"dtype": False, "convert_dates": False}
            lined = look.suffix in LINED_JSON
            return flat(pd.read_json(file, lines=True, **how) if lined else read_records(file, **how)[0], "")[0]
    return _text(path, look, None, {**how, "usecols": [column]})[0]


def _text(path: Path, look: Look, rows: int | None, how: dict[str, Any] | None = None) -> tuple[Any, str]:
    """A text table."""
    look = sure_encoding(path, look)
    with opened(path, look.packed) as file:
        table = pd.read_csv(file, nrows=rows, **_ways(look, path), **(how or {}))
    return together(_named(table, look, path)), look.told()


def key_of_rows(path: Path) -> str:
    """The key of a JSON file below which its rows stand; '' where they stand at its top."""
    with refusals(path), opened(path, look_at(path).packed) as file:
        return read_records(file)[1]


def is_text(look: Look) -> bool:
    """True for a table that is read in pieces."""
    return look.suffix not in (*SHEETS, *COLUMNAR, *DATABASES, *LINED_JSON, ".json")


def text_pieces(path: Path, look: Look, rows: int, how: dict[str, Any]) -> Iterator[Any]:
    """A text table, so many rows at a time.

    Args:
        look: with an encoding that reads the whole file.
        how: what `pandas.read_csv` is told beside the look of the file.
    """
    ways = _ways(look, path)
    with opened(path, look.packed) as file, pd.read_csv(file, chunksize=rows, **ways, **how) as reader:
        for piece in reader:
            yield together(_named(piece, look, path))


def _ways(look: Look, path: Path) -> dict[str, Any]:
    exact = {} if look.decimal == "," else EXACT
    how = {"encoding": look.encoding, "sep": look.sep, "decimal": look.decimal, "skiprows": look.above}
    how |= CSV_WAYS[look.quoted]
    return {**how, "low_memory": False, **exact, **({"header": 0, "names": _names(path, look)} if look.blank else {})}


def _names(path: Path, look: Look) -> list[str]:
    """The head's columns as pandas calls them, and one for each field behind them: else it would take the first fields
    for names of rows, or pass over what stands behind the last column and warn of it in words of its own."""
    plain = replace(look, blank=0)
    with opened(path, look.packed) as file:
        head = pd.read_csv(file, nrows=0, index_col=False, usecols=range(look.width), **_ways(plain, path))
    return [*map(str, head.columns), *(f"{_BEHIND}{number}" for number in range(look.blank))]


_BEHIND = "\0behind "
"""No text of a table holds that character."""


def _named(table: Any, look: Look, path: Path) -> Any:
    """The table without the fields behind its last column. Unusable where a row has something there."""
    behind = [name for name in table if str(name).startswith(_BEHIND)] if look.blank else []
    for name in behind:
        cells = table[name].dropna().astype(str).str.strip()
        if len(there := cells[cells != ""]):
            said = f"its row {there.index[0] + 1} goes on behind the last column that its head names"
            raise Unusable(f"data: '{path}': {said}: name each of them")
    return table.drop(columns=behind)


def sure_encoding(path: Path, look: Look) -> Look:
    """The look, where its encoding reads the whole file: later rows may not be UTF-8 but what old programs write."""
    encodings = [look.encoding]
    for encoding in encodings:
        decoder = codecs.getincrementaldecoder(encoding)()
        try:
            with opened(path, look.packed) as file:
                while part := file.read(LOOK):
                    decoder.decode(part)
                decoder.decode(b"", final=True)
            return replace(look, encoding=encoding)
        except UnicodeDecodeError as error:
            line = error.object.rfind(b"\n", 0, error.start) + 1
            found = encoding_of(error.object[line:])  # all that was looked at may be ASCII
            encodings += [name for name in (found, "cp1252", "latin-1") if name and name not in encodings]
    raise Unusable(f"data: '{path}' is text in no encoding that is known; save it as UTF-8")


def opened(path: Path, packed: str) -> IO[bytes]:
    """The file's bytes, unpacked while they are read."""
    if packed == "gzip":
        return gzip.open(path, "rb")  # type: ignore[return-value]
    if packed == "bz2":
        return bz2.open(path, "rb")
    if packed == "xz":
        return lzma.open(path, "rb")
    if packed == "zip":
        return zipfile.ZipFile(path).open(_member(path))
    return path.open("rb")


def _member(path: Path) -> str:
    """The one table of a zip file."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = [name for name in archive.namelist() if not name.endswith("/") and not _is_litter(name)]
    except zipfile.BadZipFile as error:
        raise Unusable(f"data: '{path}' is a broken zip file: {first_line(error)}") from error
    if len(names) == 1:
        return names[0]
    same = [name for name in names if Path(name).name.lower() == path.name.lower().removesuffix(".zip")]
    if len(same) != 1:
        raise Unusable(f"data: '{path}' holds {len(names)} files ({', '.join(names[:5])}); unpack it first")
    return same[0]


def _is_workbook(path: Path) -> bool:
    try:
        with zipfile.ZipFile(path) as archive:
            return "xl/workbook.xml" in archive.namelist()
    except zipfile.BadZipFile:
        return False


def _is_lined(path: Path, packed: str) -> bool:
    """True for objects of JSON that stand in a line each, whatever the file is called."""
    with opened(path, packed) as file:
        first, second = file.readline(LOOK), file.readline(LOOK)
    try:
        return isinstance(json.loads(first), dict) and second.lstrip().startswith(b"{")
    except ValueError:
        return False


def _is_litter(name: str) -> bool:
    return name.startswith("__MACOSX/") or Path(name).name.startswith(".")
