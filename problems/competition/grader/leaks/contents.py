"""What a further file holds, told from its bytes and never from its name: as text, in pieces of whole lines.

Pictures, sounds and films say nothing. Packed files, arrays and tables are opened, so that what is in them is text
too. What nothing here can open is opaque.
"""

from __future__ import annotations

import bz2
import codecs
import gzip
import importlib
import lzma
import re
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from typing import IO, Any

import numpy as np
import pandas as pd

from ..tables.columnar_files import ROWS
from ..tables.text_look import encoding_of
from .path_words import words_of

HEAD = 4096
PIECE = 1 << 23
LETTERS = 10
"""Of a cell that is written out, about."""
DEPTH = 3
"""Packed files within each other."""
MOST_CELLS = 5_000_000
"""Of an array that is written out."""
MOST_BYTES = 1 << 30
"""Of an array that is read."""
_MEDIA = re.compile(
    rb"\x89PNG\r\n|\xff\xd8\xff|GIF8[79]a|BM|II\*\0|MM\0\*|II\x2b\0|RIFF|ID3|\xff[\xe2-\xe7\xf2-\xfb]|fLaC|OggS|FORM|.{128}DICM"
    rb"|.{4}ftyp|\x1aE\xdf\xa3|P[4-6]\s|\0\0\0\x0cjP|\0\0\x01[\xb3\xba]|\0\0\x01\0[\x01-\x40]\0|\.snd|qoif",
    re.DOTALL,
)
"""How the usual pictures, sounds and films begin."""
_CONTROLS = re.compile(rb"[\x01-\x06\x0e-\x1a]")
"""What stands in no text."""


class Opaque(Exception):
    """A file that cannot be looked into."""


def texts(file: IO[bytes], depth: int = 0) -> Iterator[str]:
    """What the file says. Opaque where it may say more than can be read.

    Args:
        file: can be read from its beginning again.
        depth: how many packed files it lies in.
    """
    head = file.read(HEAD)
    file.seek(0)
    try:
        yield from _texts(file, head, depth)
    except Opaque:
        raise
    except Exception as error:  # the user's file, in any format, broken in any way
        raise Opaque from error


def _texts(file: IO[bytes], head: bytes, depth: int) -> Iterator[str]:
    unpack = next((way for mark, way in _PACKED if head.startswith(mark)), None)
    opened = next((way for mark, way in _OPENED if head.startswith(mark)), None)
    if (unpack or opened) and depth >= DEPTH:
        raise Opaque
    if unpack:
        yield from texts(unpack(file), depth + 1)
    elif opened:
        yield from opened(file, depth + 1)
    elif head[257:262] == b"ustar":
        yield from _tar(file, depth + 1)
    elif b"\0" in head and _MEDIA.match(head):
        return
    else:
        yield from _plain_text(file, head)


def _plain_text(file: IO[bytes], head: bytes) -> Iterator[str]:
    encoding = encoding_of(head)
    wide = encoding is not None and encoding.startswith(("utf-16", "utf-32"))
    if encoding is None or (_CONTROLS.search(head) and not wide):
        raise Opaque
    decoder = codecs.getincrementaldecoder("utf-8" if encoding == "utf-8-sig" else encoding)(errors="replace")
    rest = ""
    while piece := file.read(PIECE):
        if b"\0" in piece and not wide:
            raise Opaque
        text = rest + decoder.decode(piece).replace("\r\n", "\n").replace("\r", "\n")
        whole, mark, rest = text.rpartition("\n") if len(piece) == PIECE else (text, "", "")
        if len(rest) > 8 * PIECE:
            whole, rest = rest, ""
        if whole:
            yield whole + mark
    if rest:
        yield rest


def _zip(file: IO[bytes], depth: int) -> Iterator[str]:
    """The members of a zip; the sheets, where it is a spreadsheet."""
    with zipfile.ZipFile(file) as archive:
        names = archive.namelist()
        if "xl/workbook.xml" in names or "xl/workbook.bin" in names:
            for table in pd.read_excel(file, sheet_name=None, header=None).values():
                yield table.to_csv(index=False, header=False)
            return
        yield _listing(names)
        for info in archive.infolist():
            if not info.is_dir():
                with archive.open(info) as member:
                    yield from texts(member, depth)


def _tar(file: IO[bytes], depth: int) -> Iterator[str]:
    with tarfile.open(fileobj=file) as archive:
        names = []
        for info in archive:
            names.append(info.name)
            member = archive.extractfile(info) if info.isfile() else None
            if member is not None:
                yield from texts(member, depth)
        yield _listing(names)


def _listing(names: list[str]) -> str:
    """The names of packed files, with the words of each."""
    return "".join("\t".join((*words_of(name), name)) + "\n" for name in names)


def _array(file: IO[bytes], depth: int) -> Iterator[str]:
    """Rows of an array as lines. Of one that is large, like a stack of pictures, its different values."""
    version = np.lib.format.read_magic(file)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, kind = read(file)
    if kind.hasobject or np.prod(shape, dtype=float) * kind.itemsize > MOST_BYTES:
        raise Opaque
    file.seek(0)
    array: Any = np.load(file, allow_pickle=False)
    if array.dtype.names:
        yield ",".join(array.dtype.names) + "\n" + "\n".join(",".join(map(str, row)) for row in array.ravel()) + "\n"
    elif array.size <= MOST_CELLS:
        rows = array.reshape(len(array), -1) if array.ndim > 1 and len(array) else array.reshape(-1, 1)
        yield "\n".join(",".join(row) for row in rows.astype(str)) + "\n"
    elif array.ndim > 2:
        yield "\n".join(np.unique(array).astype(str)) + "\n"
    else:
        raise Opaque


def _columns(file: IO[bytes], depth: int) -> Iterator[str]:
    head = file.read(4)
    file.seek(0)
    if head != b"PAR1":
        yield from _written(pd.read_feather(file))
        return
    for batch in importlib.import_module("pyarrow.parquet").ParquetFile(file).iter_batches(ROWS):
        yield from _written(batch.to_pandas())


def _written(table: Any) -> Iterator[str]:
    """Its rows as lines, some `PIECE` characters at a time: as text a table takes many times its memory."""
    rows = max(1, PIECE // (LETTERS * max(1, table.shape[1])))
    for start in range(0, max(1, len(table)), rows):
        yield table.iloc[start : start + rows].to_csv(index=table.index.name is not None, header=start == 0)


_PACKED: tuple[tuple[bytes, Callable[[IO[bytes]], Any]], ...] = (
    (b"\x1f\x8b", lambda file: gzip.GzipFile(fileobj=file)),
    (b"BZh", bz2.BZ2File),
    (b"\xfd7zXZ", lzma.LZMAFile),
)
_OPENED = (
    (b"PK\x03\x04", _zip),
    (b"PK\x05\x06", _zip),
    (b"\x93NUMPY", _array),
    (b"PAR1", _columns),
    (b"ARROW1", _columns),
    (b"FEA1", _columns),
)
