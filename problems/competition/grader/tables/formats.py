"""Formats of the tables that people bring: packed, in any usual encoding, separated by anything, columnar, sheets.

A look at a file's first bytes decides, and what was seen is told in a few words, so that a user notices a wrong guess.
"""

from __future__ import annotations

import bz2
import codecs
import gzip
import json
import lzma
import zipfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

from .databases import BEGIN
from .exact import Unusable, first_line
from .text_look import (
    BLANKS,
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


def is_text(look: Look) -> bool:
    """True for a table that is read in pieces."""
    return look.suffix not in (*SHEETS, *COLUMNAR, *DATABASES, *LINED_JSON, ".json")


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
