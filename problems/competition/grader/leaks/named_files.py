"""Many files beside the tables, each of which belongs to a row: what their folders, names and contents say together.

One such file says nothing: `good/17.txt` is a file like others. All of them are a table of rows.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from ..tables.table_forms import MARKS
from .hidden_labels import HiddenLabels
from .path_words import bare_name, words_of

MOST_FILES = 200_000
SMALL = 2048
"""Bytes of a file whose content is read as the words of a row."""
MOST_CONTENT = 1 << 26
"""Bytes of all such files together."""


@dataclass(slots=True)
class NamedFiles:
    """The files that went along, by their paths below the folder."""

    names: dict[str, str] = field(default_factory=dict)
    """Path → the file's text, where it is short."""
    held: int = 0

    def add(self, name: str, content: bytes) -> None:
        """Take in one file.

        Args:
            content: its first bytes at least.
        """
        if len(self.names) >= MOST_FILES:
            return
        small = len(content) <= SMALL and self.held < MOST_CONTENT and b"\0" not in content
        self.names[name] = content.decode("utf-8", errors="replace") if small else ""
        self.held += len(content) if small else 0

    def telling(self, labels: HiddenLabels) -> list[str]:
        """Files whose folders, names or contents tell hidden labels."""
        unknown = [name for name in self.names if name.casefold() not in labels.rows]  # else the table has the path
        found: set[str] = set()
        for group in self._groups(unknown):
            search = labels.search()
            text = "".join(f"{self._record(name, labels)}\n" for name in group)
            if search.tells(text) or search.ends():
                found.update(group)
        return [name for name in self.names if name in found]

    def _groups(self, names: Iterable[str]) -> Iterable[list[str]]:
        """Files of one folder, and files of one shape in sister folders."""
        folders, shapes = defaultdict(list), defaultdict(list)
        for name in names:
            path = PurePosixPath(name)
            folders[path.parent].append(name)
            shapes[path.parent.parent, len(path.parts), path.suffix, len(words_of(name))].append(name)
        return [*folders.values(), *shapes.values()]

    def _record(self, name: str, labels: HiddenLabels) -> str:
        """The file as a line. A name that a column holds says no more than the column: its words are left out."""
        words = words_of(name)
        known = PurePosixPath(name).name.casefold() in labels.rows or bare_name(name).casefold() in labels.rows
        if PurePosixPath(name).name.casefold() in labels.rows:
            words[1] = PurePosixPath(name).name.casefold()
        content = [word for word in MARKS.split(self.names[name]) if word]
        return "\t".join([*(words[:2] if known else words), *content])
