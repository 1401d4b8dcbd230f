"""Which files of a tree a file leads to: by the names on its lines that import, include or require something."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from problems.command.tree.tree import Tree

_LINE = re.compile(
    r"^[ \t]*(?:#[ \t]*include|pub mod|pub use"
    r"|(?:from|import|include|use|using|mod|require|require_relative|export|const|let|var)\b).*",
    re.M,
)
"""Of most languages (`const a = require('./a')`). What a line means is not asked: a file too many costs little."""
_WORD = re.compile(r"\w+")
_OF_FOLDER = frozenset({"__init__", "__main__", "index", "mod", "lib", "main"})
"""Files that are meant by the name of their folder."""


def led_to(tree: Tree, roots: Sequence[str], paths: Iterable[str], room: int) -> Iterator[str]:
    """Those of `paths` that `roots` lead to, the nearest first, and of these the smallest; then the ones that were
    reached through them.

    Args:
        roots: paths of the tree. They are given only where a file leads to them.
        room: bytes of text after which no further file is looked into.
    """
    named = _by_name(paths)
    seen, now = set(roots), list(roots)
    while now and room > 0:
        found = {path for one in now for word in _words(tree.text(one) or "") for path in named.get(word, ())} - seen
        seen |= found
        now = sorted(found, key=lambda path: (len(tree.text(path) or ""), path))
        room -= sum(len(tree.text(path) or "") for path in now)
        yield from now


def _by_name(paths: Iterable[str]) -> dict[str, list[str]]:
    """Word → the files that it may mean: a file's name without its ending, or its folder's."""
    named: dict[str, list[str]] = defaultdict(list)
    for path in paths:
        folder, _, name = path.rpartition("/")
        stem = name.partition(".")[0]
        named[folder.rpartition("/")[2] if stem in _OF_FOLDER and folder else stem].append(path)
    return named


def _words(text: str) -> set[str]:
    return {word for line in _LINE.findall(text) for word in _WORD.findall(line)}
