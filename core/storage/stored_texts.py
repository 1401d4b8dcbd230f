"""StoredTexts: the long texts of a run's store, each once, packed; messages by their parts."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from sqlite3 import Connection

from core.storage.forms import insert
from core.storage.message_parts import PROGRAM, kinds_of, message_parts
from core.storage.packing import (
    DIFFERENCES,
    WINDOW,
    Stored,
    inlined,
    name_of,
    part_of,
    parts_of,
    parts_text,
    unpacked,
    whole_text,
)
from core.storage.text_packer import TextPacker
from utils.errors import BrokenStoreError

_KNOWN_TEXTS = 4096
_BASES = 32
"""Of so many texts that others are differences to the ends are kept in memory when texts are read."""
_LISTS = 64
"""So many messages are known with the lists of their parts: a run asks with few system messages."""
_PARTS = 1024
_LONGEST_PART = 4000
"""So many parts of messages, of at most so many characters, are known: most of a prompt stood in the one before it."""


class StoredTexts:
    """Puts texts inside of a transaction, and reads them at any time.

    Args:
        path: of the store, for messages.
        read: name of a text → its row, or None where there is none.
        reading: guards what is kept of texts that were read.
    """

    def __init__(self, path: Path, read: Callable[[str], Stored | None], reading: threading.Lock) -> None:
        self._path, self._read, self._reading = path, read, reading
        self._known: OrderedDict[str, None] = OrderedDict()
        """Names of stored texts."""
        self._lists: dict[tuple[str, str], bytes] = {}
        """Kind and text of a message → the packed list of its parts, all of which are stored."""
        self._parts: dict[str, list[str]] = {}
        """A part of a message → its lines of such a list."""
        self._waiting: dict[str, bytes] = {}
        """Texts of this transaction by their names."""
        self._whole: set[str] = set()
        """Those of them that the next texts may be differences to."""
        self._packer = TextPacker(self.end_of)
        self._bases: OrderedDict[str, bytes] = OrderedDict()

    def forget(self) -> None:
        """After a failed transaction: what it stored is not there, so trust nothing."""
        self._waiting, self._whole = {}, set()
        self._known.clear()
        self._lists.clear()
        self._parts.clear()
        self._packer.forget()

    def put(self, body: str, kind: str = "") -> str:
        """Store `body` once and return its name; '' for ''. Call inside a transaction.

        Args:
            kind: texts of a kind are like each other: what they share lies once.
        """
        return self._put(body.encode("utf-8", "surrogatepass"), kind) if body else ""

    def _put(self, raw: bytes, kind: str) -> str:
        name = name_of(raw)
        if name not in self._known:
            self._waiting[name] = self._pack(name, raw, kind)
            self._known[name] = None
            if len(self._known) > _KNOWN_TEXTS:
                self._known.popitem(last=False)
        return name

    def _pack(self, name: str, raw: bytes, kind: str) -> bytes:
        stored = self._packer.pack(name, raw, kind)
        if stored[:1] not in DIFFERENCES and self._packer.is_base(kind, name):
            self._whole.add(name)
        return stored

    def write(self, connection: Connection) -> None:
        """All texts of a transaction, just before its commit.

        What others are differences to replaces what may lie there by its name: an earlier life of the run may have
        stored the text as a difference itself.
        """
        for conflict, chosen in (
            ("NOTHING", self._waiting.keys() - self._whole),
            ("UPDATE SET body = excluded.body", self._waiting.keys() & self._whole),
        ):
            rows = [{"hash": name, "body": stored} for name, stored in self._waiting.items() if name in chosen]
            if rows:
                insert(connection, "texts", rows, f"ON CONFLICT (hash) DO {conflict}")
        self._waiting, self._whole = {}, set()

    def put_parts(self, body: str, kind: str = "") -> bytes:
        """Store a long message by its sections and fenced blocks, so that what many texts share lies once.

        Returns the list of these parts, packed like a text of that kind.
        """
        known = self._lists.get((kind, body))
        if known is not None:
            return known
        parts = message_parts(body)
        lines = [
            line
            for part, of in zip(parts, kinds_of(parts), strict=True)
            for line in self._parts.get(part) or self._put_part(part, of)
        ]
        if len(self._lists) >= _LISTS:
            self._lists.clear()
        self._lists[kind, body] = stored = self._packed(parts_text(lines), kind)
        return stored

    def _put_part(self, part: str, kind: str) -> list[str]:
        """Store a part of a message; its lines of the list. A program stays whole: it is the node's own text."""
        pieces = [part] if kind == PROGRAM else self._packer.pieces(part, kind)
        lines = [inlined(piece, is_program=kind == PROGRAM) or self.put(piece, kind) for piece in pieces]
        if len(part) <= _LONGEST_PART:
            if len(self._parts) >= _PARTS:
                self._parts.clear()
            self._parts[part] = lines
        return lines

    def put_beside(self, body: str, kind: str) -> bytes:
        """`body` packed like a text of its kind, for a column of its own. Call inside a transaction."""
        return self._packed(body.encode("utf-8", "surrogatepass"), kind)

    def _packed(self, raw: bytes, kind: str) -> bytes:
        name = name_of(raw)
        stored = self._pack(name, raw, kind)
        if name in self._whole:  # the next ones are differences to it: it must lie there by its name
            self._waiting.setdefault(name, stored)
        return stored

    def get(self, name: str) -> str:
        """The text of that name; '' for ''. Raises BrokenStoreError if it is missing."""
        return self.text_of(self._stored(name)) if name else ""

    def text_of(self, stored: Stored) -> str:
        """The text of a row of `texts`."""
        return unpacked(stored, self.end_of)

    def get_parts(self, stored: Stored) -> str:
        """The message that `put_parts` cut."""
        return "".join(part_of(line, self.get) for line in parts_of(stored, self.end_of))

    def _stored(self, name: str, *, whole: bool = False) -> Stored:
        """A text as it lies, or will after this transaction.

        Args:
            whole: others are differences to it, so that it lies whole, whatever it was packed to when it came again.
        """
        stored: Stored | None = self._waiting.get(name)
        if stored is None or (whole and stored[:1] in DIFFERENCES):
            stored = self._read(name)
        if stored is None:
            raise BrokenStoreError(f"store '{self._path}': text {name} is missing")
        return stored

    def end_of(self, name: str) -> bytes:
        """The end of a text that differences refer to: all of it that they reach."""
        raw = self._bases.get(name)
        if raw is None:
            raw = whole_text(self._stored(name, whole=True))[-WINDOW:]
            with self._reading:
                self._bases[name] = raw
                if len(self._bases) > _BASES:
                    self._bases.popitem(last=False)
        return raw
