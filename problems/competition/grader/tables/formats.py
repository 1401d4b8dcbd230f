"""Formats of the tables that people bring: packed, in any usual encoding, separated by anything, columnar, sheets.

A look at a file's first bytes decides, whatever it is called, and what was seen is told in a few words, so that a user
notices a wrong guess.
"""

from __future__ import annotations

import bz2
import codecs
import gzip
import json
import lzma
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

from .counts import counted
from .databases import BEGIN
from .exact import Unusable, first_line
from .text_look import (
    BLANKS,
    LINES,
    NOTHING,
    STRAY,
    beyond_head,
    decimal_mark,
    encoding_of,
    field_rows,
    is_utf_8,
    lines_above,
    quoting,
    separator,
    told_above,
)

LOOK = 1 << 18
"""Bytes of a text table that are looked at."""
HEAD = 16
"""Bytes that tell what a file is."""
STREAM = ".arrows"
"""Record batches of Arrow one after the other, as Hugging Face's data sets lie on a disk; mostly called `.arrow`."""
PARQUET = (".parquet", ".pq")
FEATHER = (".feather", ".arrow")
COLUMNAR = (*PARQUET, *FEATHER, STREAM)
SHEETS = (".xlsx", ".xlsm")
JSON, LINED_JSON = ".json", (".jsonl", ".ndjson")
DATABASES = (".db", ".sqlite", ".sqlite3")
TEXT = (".csv", ".tsv", ".tab", ".txt", ".dat", ".data", JSON, *LINED_JSON)
_BY_CONTENT = (
    (b"PAR1", ".parquet"), (b"ARROW1", ".feather"), (b"FEA1", ".feather"), (b"\xff\xff\xff\xff", STREAM),
    (BEGIN, DATABASES[0]),
)  # fmt: skip
_NO_TABLE = (
    (b"\xd0\xcf\x11\xe0", "a spreadsheet of before 2007, or with a password: save it as .xlsx without one, or as CSV"),
    (b"PK\x05\x06", "a zip file that holds nothing"), (b"7z\xbc\xaf\x27\x1c", "an archive of 7-Zip: unpack it first"),
    (b"Rar!\x1a\x07", "a RAR archive: unpack it first"),
    (b"\x28\xb5\x2f\xfd", "packed by zstd: unpack it first (zstd -d FILE)"),
    (b"\x04\x22\x4d\x18", "packed by LZ4: unpack it first"), (b"\x1f\x9d", "packed by compress: unpack it first"),
    (b"\x89HDF\r\n", "a file of HDF5: save its table as CSV or Parquet"), (b"%PDF-", "a PDF: save its table as CSV"),
    (b"\x93NUMPY", "an array of NumPy: save it with names of columns as CSV or Parquet"),
    *((b"\x80" + bytes([version]), "a pickle, which may run anything when it is opened: save it as CSV or Parquet")
      for version in range(2, 6)),
)  # fmt: skip
"""How files begin that are not read, and what to do."""
_JSON = re.compile(r'\s*(?:\[\s*)?\{\s*"(?:[^"\\]|\\.)*"\s*:|\s*\[\s*\[')
"""How objects and lists of lists begin, which no head of a text table does."""
ZIP = b"PK\x03\x04"
_PACKED = ((b"\x1f\x8b", "gzip"), (ZIP, "zip"), (b"BZh", "bz2"), (b"\xfd7zXZ", "xz"))


@dataclass(frozen=True, slots=True)
class Look:
    """What the first bytes of a table tell."""

    packed: str
    """`gzip`, `zip`, `bz2`, `xz`, or '' for none."""
    suffix: str
    """Of the table itself, without the packing."""
    encoding: str = ""
    errors: str = "strict"
    """What a decoder does with bytes that are none of that encoding."""
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
        parts += [f"UTF-8 but for stray bytes, which are read as {STRAY}"] if self.errors != "strict" else []
        parts += [f"{names[self.mark]} between columns"] if self.mark != "," else []
        parts += ["decimal commas"] if self.decimal == "," else []
        parts += [self.quoted] if self.quoted else []
        parts += [told_above(self.above)] if self.above else []
        parts += [self.beyond] if self.beyond else []
        return ", ".join(parts)


def kind_of(path: Path) -> Look:
    """How a file is packed, and what it holds: told from how it begins, of text from its name.

    Raises:
        Unusable: it is nothing that is read here.
    """
    with path.open("rb") as file:
        head = file.read(HEAD)
    packed = next((name for mark, name in _PACKED if head.startswith(mark)), "")
    if packed == "zip" and _is_workbook(path, path):
        return Look("", SHEETS[0])
    name = path.name
    if packed:
        name = _member(path) if packed == "zip" else path.name.rpartition(".")[0]
        with opened(path, packed) as file:
            head = file.read(HEAD)
    suffix = Path(name).suffix.lower()
    found = next((kind for mark, kind in _BY_CONTENT if head.startswith(mark)), "")
    if found in DATABASES and packed:
        raise Unusable(f"data: '{path}' is a database that is packed: unpack it first")
    if found:
        return Look(packed, found)
    if told := next((told for mark, told in _NO_TABLE if head.startswith(mark)), ""):
        raise Unusable(f"data: '{path}' is {told}")
    if head.startswith(ZIP):
        with opened(path, packed) as file:
            if _is_workbook(path, file):
                return Look(packed, SHEETS[0])
    if suffix in DATABASES:
        raise Unusable(f"data: '{path}' is no database of SQLite: write its table as a CSV")
    return Look(packed, TEXT[0] if suffix in (*SHEETS, *COLUMNAR) else suffix)


def look_at(path: Path, decimal: str = ".") -> Look:
    """What kind of table a file is, from how it begins; which kind of JSON, from its name too.

    Args:
        decimal: the mark of fractions, where it tells none.
    """
    kind = kind_of(path)
    if not (is_text(kind) or is_json(kind)):
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
    if encoding is None and path.suffix.lower() in (*SHEETS, *COLUMNAR):
        raise Unusable(f"data: '{path}' does not begin like a {path.suffix} file: it is broken, or something else")
    if encoding is None:
        raise Unusable(f"data: '{path}' holds NUL characters: it is no text; save it as CSV in UTF-8")
    text = sample.decode(encoding, errors="replace")
    if form := _json_form(text, kind):
        return Look(packed, form, encoding)
    suffix = TEXT[0] if is_json(kind) else suffix
    lines = text.splitlines()
    above = lines_above(lines[:LINES])
    lines = [line for line in lines[above:] if line.strip()]
    lines = lines[:LINES] if len(sample) < LOOK else lines[: min(LINES, max(1, len(lines) - 1))]
    mark = separator(lines)
    quoted = quoting(lines, mark)
    fields = field_rows(lines, mark, quoted)
    beyond = beyond_head(fields)
    if beyond is None:
        head = counted(len(fields[0]), "column")
        told = f"its first row has {counted(len(fields[1]), 'field')}, but its head names {head}"
        raise Unusable(f"data: '{path}': {told}: name each of them")
    width = len(fields[0]) if fields else 0
    blank = max(map(len, fields)) - width if beyond == NOTHING else 0
    return Look(
        packed, suffix, encoding, mark=mark, decimal=decimal_mark(lines, mark, decimal), above=above, quoted=quoted,
        beyond=beyond, width=width, blank=blank,
    )  # fmt: skip


def is_text(look: Look) -> bool:
    """True for a table that is read in pieces."""
    return look.suffix not in (*SHEETS, *COLUMNAR, *DATABASES) and not is_json(look)


def is_json(look: Look) -> bool:
    return look.suffix in (*LINED_JSON, JSON)


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
            if encoding in ("utf-8", "utf-8-sig") and is_utf_8(_marked(path, look.packed)):
                return replace(look, encoding=encoding, errors="replace")
            line = error.object.rfind(b"\n", 0, error.start) + 1
            found = encoding_of(error.object[line:])  # all that was looked at may be ASCII
            encodings += [name for name in (found, "cp1252", "latin-1") if name and name not in encodings]
    raise Unusable(f"data: '{path}' is text in no encoding that is known; save it as UTF-8")


def _marked(path: Path, packed: str) -> Iterator[str]:
    """A file as UTF-8, some at a time, with marks for what is none."""
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
    with opened(path, packed) as file:
        while part := file.read(LOOK):
            yield decoder.decode(part)


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
        raise Unusable(f"data: '{path}' holds {counted(len(names), 'file')} ({', '.join(names[:5])}); unpack it first")
    return same[0]


def _is_workbook(path: Path, file: Path | IO[bytes]) -> bool:
    """True for a spreadsheet of Excel. Unusable for those of other programs.

    Args:
        path: what is told of it.
        file: what is looked into.
    """
    try:
        with zipfile.ZipFile(file) as archive:
            names = archive.namelist()
            kind = archive.open("mimetype").read(60) if "mimetype" in names[:1] else b""
    except zipfile.BadZipFile:
        return False
    if kind.startswith(b"application/vnd.oasis.opendocument") or "xl/workbook.bin" in names:
        raise Unusable(f"data: '{path}' is a spreadsheet of a kind that is not read: save it as .xlsx or CSV")
    return "xl/workbook.xml" in names


def _json_form(text: str, kind: Look) -> str:
    """Whether a text is JSON, or JSON in lines; '' for other texts, whatever they are called."""
    if not _JSON.match(text) and not (is_json(kind) and text.lstrip().startswith(("[", "{"))):
        return ""
    first, ended, second = text.lstrip().partition("\n")
    is_said = kind.suffix in LINED_JSON
    try:
        value = json.loads(first)
    except ValueError:  # a line may be longer than what is looked at
        return LINED_JSON[0] if is_said and not ended and first.startswith("{") else JSON
    if isinstance(value, list) and isinstance(next(iter(value), None), (dict, list)):
        return JSON
    return LINED_JSON[0] if is_said or second.lstrip().startswith(first[0]) else JSON


def _is_litter(name: str) -> bool:
    return name.startswith("__MACOSX/") or Path(name).name.startswith(".")
