"""What of the user's folder goes along to a program: everything that cannot tell a hidden label, and nothing from
outside of the folder.

The tables that were read are written anew; every further file is looked into, whatever it is called. What is left out
is told.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from itertools import count
from pathlib import Path
from typing import IO

from ..tables.counts import counted
from ..tables.databases import BEGIN, write_tables
from ..tables.exact import Unusable
from ..tables.progress import EachSecond
from .contents import Opaque, texts
from .decoding import decoded
from .hidden_labels import HiddenLabels
from .named_files import NamedFiles
from .named_lines import Looked

MOST_TEXT = 1 << 32
"""Characters of one file that are looked through; a longer one stays behind."""
MOST_DECODED = 1 << 26
"""Characters of one file that are looked through for what is written in base64."""
PIECE, RANGE = 1 << 22, 1 << 28
"""Bytes that are read at once, and that are copied at once without being read."""
MOST_TOLD = 5
MOST_LETTERS = 60
"""Of a name that is told."""


@dataclass(slots=True)
class Left:
    """What stays behind, by paths below the folder."""

    telling: list[str] = field(default_factory=list)
    named: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    special: list[str] = field(default_factory=list)
    renamed: list[tuple[str, str]] = field(default_factory=list)
    """Not left behind: (what it was called, what it is called)."""
    databases: list[str] = field(default_factory=list)
    """Not left behind: what the tables of each are called."""
    looked: Looked | None = None
    """Lines of long files, and how many of them were compared with labels."""

    def notes(self) -> list[str]:
        why = {
            "left out, since labels may be in it": self.telling,
            "left out, since where they lie, what they are called or what each of them says tells labels": self.named,
            "left out, since these links lead out of the folder, in a circle or nowhere": self.links,
            "left out, since it is no plain file": self.special,
            "go along with other names, since those are our tables'": [
                f"{old} as {new}" for old, new in self.renamed if new not in self.named
            ],
        }
        notes = [*self.databases, *(f"{said}: {_listed(names)}" for said, names in why.items() if names)]
        if self.looked is not None and self.looked.compared < self.looked.named:
            notes.append(
                "hidden labels were looked for in every word of further files, and in long ones in "
                f"{self.looked.compared} of the {counted(self.looked.named, 'line')} that name hidden rows, spread "
                "over each 8 MB"
            )
        return notes


def copy_rest(
    folder: Path,
    public: Path,
    labels: Callable[[], HiddenLabels] | None,
    barred: set[Path],
    beside: Path | None = None,
    tell: Callable[[str], None] = lambda text: None,
) -> Left:
    """Copy the folder to `public`; hidden files and `barred` (by whatever link) stay behind.

    Args:
        labels: what must not be told, asked for once, by the first file; None where nothing is hidden.
        beside: a further folder of the user's, into which links may lead.
        tell: is told, now and then, which file is looked into.
    """
    root = os.path.realpath(folder)
    roots = (root, *([os.path.realpath(beside)] if beside else []))
    labels = labels and cache(labels)
    copy = _Copy(root, roots, labels, {os.path.realpath(path) for path in barred}, EachSecond(tell))
    try:
        copy.folder(root, str(public), linked=False)
        if labels is not None and copy.files.names:
            copy.left.named = copy.files.telling(labels())
        copy.left.looked = labels().looked if labels is not None and copy.looked_into else None
        for name in copy.left.named:
            os.remove(public / name)
    except OSError as error:
        raise Unusable(f"data.dir={folder}: cannot copy its files: {str(error)[:300]}") from error
    return copy.left


@dataclass(slots=True)
class _Copy:
    root: str
    roots: tuple[str, ...]
    labels: Callable[[], HiddenLabels] | None
    barred: set[str]
    now: EachSecond
    looked_into: bool = False
    left: Left = field(default_factory=Left)
    files: NamedFiles = field(default_factory=NamedFiles)

    def folder(self, place: str, target: str, *, linked: bool, shown: str = "") -> None:
        """Copy what is in a folder. One that a link leads to is copied without the folders that links in it lead to, so
        that no circle of links grows."""
        os.makedirs(target, exist_ok=True)
        with os.scandir(place) as entries:
            listed = sorted(entries, key=lambda entry: (entry.is_dir(follow_symlinks=False), entry.name))
        for entry in listed:
            name, path = f"{shown}{entry.name}", entry.path
            if entry.name.startswith("."):
                continue
            is_link = entry.is_symlink()
            if is_link:
                path = os.path.realpath(path)
                if self._is_barred(path):
                    continue
                if not self._may_follow(path, place, linked):
                    self.left.links.append(name)
                    continue
            elif path in self.barred:
                continue
            to = os.path.join(target, entry.name)
            if entry.is_dir():
                self.folder(path, to, linked=linked or is_link, shown=f"{name}/")
            elif not entry.is_file():
                self.left.special.append(name)
            else:
                free = next(one for one in _names(entry.name) if not os.path.lexists(os.path.join(target, one)))
                if self._file(path, os.path.join(target, free), f"{shown}{free}") and free != entry.name:
                    self.left.renamed.append((name, f"{shown}{free}"))

    def _file(self, path: str, to: str, name: str) -> bool:
        """Copy one file if it may be shown. It is opened once: of a small one that is most of the time."""
        with open(path, "rb", buffering=0) as source:
            if self.labels is not None and source.read(len(BEGIN)) == BEGIN:
                return self._database(path, to, name)
            source.seek(0)
            if self.labels is not None:
                self.looked_into = True
                if may_tell(source, self.labels(), lambda: self.now(lambda: _how_far(name, source))):
                    self.left.telling.append(name)
                    return False
            source.seek(0)
            first = source.read(PIECE)
            with open(to, "xb", buffering=0) as target:
                if len(first) < PIECE:
                    target.write(first)
                else:
                    copy_bytes(source, target)
        if self.labels is not None:
            self.files.add(name, first)
        return True

    def _database(self, path: str, to: str, name: str) -> bool:
        """Its tables go along as files of text, each looked into, and itself stays behind: what was deleted of it may
        still be there."""
        try:
            made = write_tables(Path(path), Path(to).parent, Path(to).stem)
        except (Unusable, sqlite3.Error, OSError, ValueError):  # the user's file
            self.left.telling.append(name)
            return False
        folder = name.rpartition("/")[0]
        tables = [f"{folder}/{table.name}" if folder else table.name for table in made]
        shown = [one for one, table in zip(tables, made, strict=True) if self._stays(table, one)]
        if shown:
            self.left.databases.append(f"{name} is read as {_listed(shown)}")
        return False

    def _stays(self, table: Path, name: str) -> bool:
        """False for a table that tells labels, which is removed."""
        assert self.labels is not None
        self.looked_into = True
        with table.open("rb", buffering=0) as source:
            tells = may_tell(source, self.labels(), lambda: self.now(lambda: _how_far(name, source)))
        if tells:
            table.unlink()
            self.left.telling.append(name)
        return not tells

    def _is_barred(self, path: str) -> bool:
        return any(path == other or path.startswith(f"{other}{os.sep}") for other in self.barred)

    def _may_follow(self, path: str, place: str, linked: bool) -> bool:
        root = next((root for root in self.roots if f"{path}{os.sep}".startswith(f"{root}{os.sep}")), None)
        if root is None or f"{os.sep}." in path[len(root) :]:
            return False
        if os.path.isdir(path):
            return not linked and not f"{place}{os.sep}".startswith(f"{path}{os.sep}")
        return os.path.exists(path)


def copy_bytes(source: IO[bytes], target: IO[bytes]) -> None:
    """Copy a file within the kernel: where the file system can (Btrfs, XFS), both share their blocks until one of them
    is written to, and the copy takes no room."""
    done = 0
    with suppress(OSError):  # file systems that cannot: what is left is copied below, or fails there
        while count := os.copy_file_range(source.fileno(), target.fileno(), RANGE, done):
            done += count
    source.seek(done)
    shutil.copyfileobj(source, target, PIECE)


def _names(name: str) -> Iterator[str]:
    """What a file may be called where a table of ours has its name: an event log `train.csv` beside labels, say."""
    yield name
    for number in count(1):
        yield f"further{number if number > 1 else ''}_{name}"


def _how_far(name: str, file: IO[bytes]) -> str:
    size, done = os.fstat(file.fileno()).st_size >> 20, file.tell() >> 20
    return f"hidden labels are looked for in {name[-MOST_LETTERS:]}: {done} of {size} MB"


def may_tell(file: IO[bytes], labels: HiddenLabels, now: Callable[[], None] = lambda: None) -> bool:
    """True if the file holds hidden labels, or might and cannot be looked into.

    Args:
        now: is called time and again.
    """
    as_it_is, in_plain, length = labels.search(), labels.search(), 0
    try:
        for text in texts(file):
            now()
            length += len(text)
            if length > MOST_TEXT or as_it_is.tells(text):
                return True
            if length <= MOST_DECODED and any(in_plain.tells(said) for said in decoded(text, texts)):
                return True
    except Opaque:
        return True
    return as_it_is.ends() or in_plain.ends()


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - MOST_TOLD} more" if len(names) > MOST_TOLD else ""
    return (
        ", ".join(name if len(name) <= MOST_LETTERS else f"…{name[-MOST_LETTERS:]}" for name in names[:MOST_TOLD])
        + more
    )
