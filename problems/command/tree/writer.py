"""`provider: rules` for trees: moves numbers in one file. It writes no new code, and says so."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

from problems.command.tree.agent import tree_of
from problems.command.tree.replies import as_reply
from problems.command.tree.tree import Ground, Tree
from problems.numbers import moved_numbers, numbers, with_numbers
from utils.patch import write_patch

_SOURCES = (".md", ".rst", ".txt", ".lock", ".svg", ".csv", ".html")
"""Endings of files whose numbers do nothing."""
_MOST_NUMBERS = 2000


class TreeWriter:
    """`provider: rules`: changes one or two numbers of one file that may change, the parent's own files first."""

    def __init__(self, ground: Ground) -> None:
        self._ground = ground

    def write(self, context: Mapping[str, Any], rng: random.Random) -> str:
        parents = [parent["code"] for parent in context.get("parents") or () if parent.get("code")]
        tree = tree_of(self._ground, parents[0] if parents else "")
        paths = self._paths(tree)
        if not paths:
            return "No file that may change holds a number."
        weights = [len(numbers(tree.text(path) or "")) for path in paths]
        path = rng.choices(paths, weights)[0]
        text = tree.text(path) or ""
        new = with_numbers(text, moved_numbers(text, rng))
        return f"Changed numbers in {path}.\n\n{write_patch({path: (text, new)}) or as_reply({path: new})}"

    def _paths(self, tree: Tree) -> list[str]:
        found = [path for path in sorted({*self._ground.searched(), *tree.changes}) if not path.endswith(_SOURCES)]
        return [path for path in found if 0 < len(numbers(tree.text(path) or "")) <= _MOST_NUMBERS]
