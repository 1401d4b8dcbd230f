"""The links of a chain as they lie in the table `chain`, and spelled out as their heads vouch for them.

Spelled out, the records of a link are JSON: a list of `[table, key, hash]`, the hash in hex, '' for a row that went. So
they lay in schema 3, in half of the file. Now a link holds bytes without what its rows still tell: of a row only two
bytes of its hash, so that a changed one can be named, and of a row that was there before, the hash that it had then. A
hash that a link leaves out is that of the row today, or what the next link that names the row says of it.

    the byte 1, then for each record:
        a byte    4 * number of the table in TABLES + what became of the row (NEW, CHANGED, GONE, NEVER)
        key       length and bytes of what begins it as pairs of hex digits, length and bytes of the rest of it
        2 bytes   the beginning of its hash, if it is NEW or CHANGED
        32 bytes  the hash that it had before, if it is CHANGED or GONE
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from io import BytesIO
from typing import NamedTuple

CHAIN = "chain"
"""The table of the links. Every other table of a store is chained."""
TABLES = ("facts", "texts", "tasks", "stages", "nodes", "calls", "games", "events", "tickets")
"""Numbers of the tables in links: only ever added to."""
NEW, CHANGED, GONE, NEVER = range(4)
"""What became of a row; NEVER was written and taken back by the same transaction."""
_FORM = b"\1"
_TAG, _HASH = 2, 32
_NUMBERS = {name: number for number, name in enumerate(TABLES)}
_KEY = re.compile(r"((?:[0-9a-f]{2})*)(.*)", re.S)
Row = tuple[str, str]
"""A table and a key."""
Overwritten = dict[Row, deque[tuple[int, bytes]]]
_LINKS = f"SELECT seq, records, head FROM {CHAIN} ORDER BY seq"


class Record(NamedTuple):
    """What a link says of a row."""

    table: str
    key: str
    tag: bytes
    """Beginning of the row's hash; b'' for one that went."""
    before: bytes
    """The hash that the row had before; b'' if it was not there."""


def spelled(records: Iterable[tuple[str, str, str]]) -> str:
    """Records as their head vouches for them."""
    return json.dumps([list(record) for record in records], separators=(",", ":"))


def packed_records(touched: Mapping[Row, bytes], before: Mapping[Row, bytes]) -> bytes:
    """The records of a link as they are stored.

    Args:
        touched: row → its hash; b'' if it went.
        before: row → the hash that it had before the transaction, of those that were there.
    """
    out = bytearray(_FORM)
    for row, now in touched.items():
        then = before.get(row, b"")
        became = (CHANGED if then else NEW) if now else GONE if then else NEVER
        out.append(4 * _NUMBERS[row[0]] + became)
        _put_key(out, row[1])
        out += now[:_TAG] + then
    return bytes(out)


def _put_key(out: bytearray, key: str) -> None:
    digits, rest = _KEY.fullmatch(key).groups()  # type: ignore[union-attr]
    for part in (bytes.fromhex(digits), rest.encode("utf-8", "surrogatepass")):
        length = len(part)
        while length > 127:
            out.append(128 | length & 127)
            length >>= 7
        out.append(length)
        out += part


def unpacked_records(stored: bytes) -> Iterator[Record]:
    """The records of a link.

    Raises:
        ValueError: this is no link.
    """
    file = BytesIO(stored)
    if file.read(1) != _FORM:
        raise ValueError("links in an unknown form")
    while head := file.read(1):
        number, became = divmod(head[0], 4)
        if number >= len(TABLES):
            raise ValueError(f"table {number} in a link")
        key = _part(file).hex() + _part(file).decode("utf-8", "surrogatepass")
        tag = _read(file, _TAG) if became in (NEW, CHANGED) else b""
        yield Record(TABLES[number], key, tag, _read(file, _HASH) if became in (CHANGED, GONE) else b"")


def _part(file: BytesIO) -> bytes:
    length, shift = 0, 0
    while True:
        (byte,) = _read(file, 1)
        length |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return _read(file, length)
        if shift > 28:
            raise ValueError("a key of more than 256 MB in a link")


def _read(file: BytesIO, count: int) -> bytes:
    found = file.read(count)
    if len(found) != count:
        raise ValueError("a link that is cut off")
    return found


def links_of(connection: sqlite3.Connection, hashes: Mapping[Row, bytes]) -> Iterator[tuple[int, str, str]]:
    """The links of a store as `(seq, records, head)`, spelled out.

    Where a row is no more as a link left it, the link's head does not follow, and the link has of that row's hash only
    the beginning: so the row is named.

    Args:
        hashes: row → SHA-256 of the row as it lies.
    """
    later = _overwritten(connection)
    for seq, stored, head in connection.execute(_LINKS):
        yield seq, _spelled(seq, stored, hashes, later), head_of(head)


def head_of(stored: bytes | str) -> str:
    """A head in hex, as a link holds it."""
    return stored.hex() if isinstance(stored, bytes) else stored


def _overwritten(connection: sqlite3.Connection) -> Overwritten:
    """Row → (link, hash before it) of each link that found the row there, oldest first."""
    found: Overwritten = {}
    for seq, stored, _ in connection.execute(_LINKS):
        with suppress(ValueError):
            for record in () if isinstance(stored, str) else unpacked_records(stored):
                if record.before:
                    found.setdefault((record.table, record.key), deque()).append((seq, record.before))
    return found


def _spelled(seq: int, stored: bytes | str, hashes: Mapping[Row, bytes], later: Overwritten) -> str:
    if isinstance(stored, str):
        return stored
    try:
        records = list(unpacked_records(stored))
    except ValueError as error:
        return str(error)  # no JSON: whoever reads the chain finds that it cannot be read
    return spelled((one.table, one.key, _hash(seq, one, hashes, later)) for one in records)


def _hash(seq: int, record: Record, hashes: Mapping[Row, bytes], later: Overwritten) -> str:
    """The hash that the row had at this link; links are asked in their order."""
    if not record.tag:
        return ""
    row = record.table, record.key
    known = later.get(row, deque())
    while known and known[0][0] <= seq:
        known.popleft()
    found = known[0][1] if known else hashes.get(row, b"")
    return (found if found[:_TAG] == record.tag else record.tag).hex()
